# SPDX-License-Identifier: Apache-2.0
"""Chainer: define-by-run on NumPy arrays, with the optimizers and hooks of Chainer itself.

Chainer builds the graph anew in every step. Convolutions are im2col and a matrix product by
NumPy's BLAS.
"""
import numpy as np

from tench_worker import HUGE_PAGES, Adapter, BuildFacts
from tench_worker.lowering import Lowering
from tench_worker.network import ABILITIES, average_share, exact_pads


class Worker(Adapter):
    name = "chainer"
    package = "chainer"
    ops = tuple(word for word in ABILITIES if word != "lrn.region")
    # Not nesterov: NesterovAG multiplies the new velocity, not the old one, by momentum squared.
    updates = ("sgd", "clip_gradients")
    tuning = (HUGE_PAGES,)

    def facts(self):
        return {"gpu": "CuPy is not part of the environment"}

    def load(self, job):
        global chainer, F
        import chainer
        import chainer.functions as F
        chainer.config.use_ideep = "never"
        chainer.config.type_check = False  # as Chainer's performance guide recommends

    def build(self, graph, job):
        self.graph, self.job, self.rate = graph, job, job.solver.lr
        self.statistics = {p.name: np.zeros(p.shape, np.float32) for p in graph.statistics}
        self.trained = {}
        self.link = chainer.Link()
        with self.link.init_scope():
            for index, p in enumerate(graph.trained):
                parameter = chainer.Parameter(np.zeros(p.shape, np.float32))
                setattr(self.link, "p%d" % index, parameter)
                self.trained[p.name] = parameter
        self.optimizer = self._make_optimizer() if job.phase == "train" else None
        self.network = _Network(self)
        self.inputs = {}
        return BuildFacts(0, {}, gradients_materialized=True)

    def _make_optimizer(self):
        solver = self.job.solver
        optimizer = chainer.optimizers.MomentumSGD(lr=self.rate, momentum=solver.momentum)
        optimizer.setup(self.link)
        for p in self.graph.trained:
            rule = self.trained[p.name].update_rule
            rule.hyperparam.lr = self.rate * p.lr_mult
            decay = solver.weight_decay * p.decay_mult
            if decay != 0:
                rule.add_hook(chainer.optimizer_hooks.WeightDecay(decay))
        return optimizer

    # --- the contract ---

    def set_parameters(self, source):
        np.random.seed(self.job.seed % (1 << 32))  # chainer draws dropout from numpy
        for p in self.graph.trained:
            self.trained[p.name].array[...] = source(p.name)

    def parameters(self, sink):
        for p in self.graph.trained:
            sink(p.name, self.trained[p.name].array)

    def _momentum(self, parameter):
        """Chainer's momentum is the step that is added: tench's with the other sign."""
        variable = self.trained[parameter.name]
        rule = variable.update_rule
        if rule.state is None:
            rule._init_states(variable)
        return rule.state["v"]

    def set_state(self, source):
        for p in self.graph.statistics:
            self.statistics[p.name][...] = source(p.name)
        if self.optimizer is not None:
            for p in self.graph.trained:
                self._momentum(p)[...] = -np.asarray(source(p.name + ".momentum"))

    def state(self, sink):
        for p in self.graph.statistics:
            sink(p.name, self.statistics[p.name])
        if self.optimizer is not None:
            for p in self.graph.trained:
                sink(p.name + ".momentum", -self._momentum(p))

    def set_batch(self, inputs):
        self.inputs = {name: np.array(values) for name, values in inputs.items()}

    def set_learning_rate(self, rate):
        self.rate = rate
        if self.optimizer is not None:
            for p in self.graph.trained:
                self.trained[p.name].update_rule.hyperparam.lr = rate * p.lr_mult

    def _clip(self):
        limit = self.job.solver.clip_gradients
        gradients = [self.trained[p.name].grad for p in self.graph.trained if p.lr_mult != 0]
        norm = float(np.sqrt(sum(np.vdot(g, g) for g in gradients)))
        if norm > limit:
            for gradient in gradients:
                gradient *= np.float32(limit / norm)

    def step(self, phase):
        # Global; a second network may evaluate between two steps.
        chainer.config.train = chainer.config.enable_backprop = phase != "forward"
        loss = self.network.run(self.inputs)
        if phase == "forward":
            return float(loss.array)
        self.link.cleargrads()
        loss.backward()
        if phase == "train":
            if self.job.observe:
                self.kept = {p.name: self.trained[p.name].grad.copy() for p in self.graph.trained}
            if self.job.solver.clip_gradients > 0:
                self._clip()
            self.optimizer.update()
        return float(loss.array)

    def gradients(self, sink):
        for p in self.graph.trained:
            sink(p.name, self.kept[p.name] if self.job.phase == "train"
                 else self.trained[p.name].grad)

    def outputs(self, layers, sink):
        for name in layers:
            sink(name, self.network.values[name].array)


class _Network(Lowering):
    """The model: run(batch) returns the loss."""

    def __init__(self, worker):
        super(_Network, self).__init__(worker.graph, worker.job)
        self.trained, self.statistics = worker.trained, worker.statistics
        self.keeps_values = worker.job.observe

    def weight(self, layer, suffix="weight"):
        return self.trained["%s.%s" % (layer.name, suffix)]

    def bias(self, layer):
        return self.weight(layer, "bias") if layer.has_bias else None

    def conv(self, layer, x):
        return F.convolution_2d(x, self.weight(layer), self.bias(layer), layer["stride"],
                                layer["pad"], dilate=layer["dilation"], groups=layer["groups"])

    def pool(self, layer, x):
        kernel, stride, pad = layer["kernel"], layer["stride"], layer["pad"]
        if layer["mode"] == "max":
            # cover_all keeps a last window that begins in the padding.
            y = F.max_pooling_2d(x, kernel, stride, pad, cover_all=layer["ceil_mode"])
            return y if y.shape == layer.shape else y[:, :, :layer.shape[2], :layer.shape[3]]
        if not layer["ceil_mode"]:
            return F.average_pooling_2d(x, kernel, stride, pad)
        # The average has no cover_all: the border is padded, and partial windows are corrected.
        (top, bottom), (left, right) = exact_pads(layer)
        x = F.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)), "constant")
        y = F.average_pooling_2d(x, kernel, stride)
        share = average_share(layer)
        return y if share is None else y * share.astype(np.float32)

    def lrn(self, layer, x):
        return F.local_response_normalization(x, layer["size"], layer["k"],
                                              layer["alpha"] / layer["size"], layer["beta"])

    def relu(self, layer, x):
        slope = layer["negative_slope"]
        return F.relu(x) if slope == 0 else F.leaky_relu(x, slope)

    def sigmoid(self, layer, x):
        return F.sigmoid(x)

    def tanh(self, layer, x):
        return F.tanh(x)

    def power(self, layer, x):
        power, scale, shift = (float(layer[key]) for key in ("power", "scale", "shift"))
        if power == 0 or scale == 0:
            return chainer.Variable(np.full(layer.shape, shift ** power, np.float32))
        base = x * scale + shift
        return base if power == 1 else base ** power

    def fc(self, layer, x):
        return F.linear(x, self.weight(layer), self.bias(layer))

    def dropout(self, layer, x):
        return F.dropout(x, layer["ratio"]) if self.drops(layer) else chainer.as_variable(x)

    def concat(self, layer, *inputs):
        return F.concat(inputs, 1)

    def slice(self, layer, x):
        return x[:, layer["begin"]:layer["end"]]

    def larger(self, x, y):
        return F.maximum(x, y)

    def flatten(self, layer, x):
        return F.reshape(x, layer.shape)

    reshape = flatten

    def batch_norm(self, layer, x):
        channels = layer.shape[1]
        weight = self.weight(layer) if layer.has_weight else np.ones(channels, np.float32)
        bias = self.bias(layer) if layer.has_bias else np.zeros(channels, np.float32)
        mean = self.statistics[layer.name + ".running_mean"]
        var = self.statistics[layer.name + ".running_var"]
        if not self.training:
            return F.fixed_batch_normalization(x, weight, bias, mean, var, layer["eps"])
        return F.batch_normalization(x, weight, bias, eps=layer["eps"], running_mean=mean,
                                     running_var=var, decay=1 - layer["momentum"])

    def scale(self, layer, x):
        return F.scale(x, self.weight(layer)) if not layer.has_bias else \
            F.bias(F.scale(x, self.weight(layer)), self.bias(layer))

    def softmax(self, layer, x):
        return F.softmax(x, 1)

    def embedding(self, layer, tokens):
        return F.embed_id(tokens, self.weight(layer))

    def lstm(self, layer, x):
        """n_step_lstm takes a batch per time step; each gate has two matrices and two biases."""
        batch, steps, hidden = layer.shape
        matrices = list(F.split_axis(self.weight(layer, "weight_input"), 4, 0)) + \
            list(F.split_axis(self.weight(layer, "weight_hidden"), 4, 0))
        zeros = np.zeros(hidden, np.float32)
        biases = list(F.split_axis(self.bias(layer), 4, 0)) + [zeros] * 4
        start = np.zeros((1, batch, hidden), np.float32)
        sequences = list(F.separate(chainer.as_variable(x), 1))
        _, _, outputs = F.n_step_lstm(1, 0.0, start, start, [matrices], [biases], sequences)
        return F.stack(outputs, 1)

    def mean_over_time(self, layer, x, lengths):
        steps = np.arange(layer.inputs[0].shape[1])[None, :]
        mask = (steps < lengths[:, None]).astype(np.float32)[:, :, None]
        total = F.sum(x * np.broadcast_to(mask, layer.inputs[0].shape), 1)
        return total / np.broadcast_to(lengths.astype(np.float32)[:, None], layer.shape)

    def softmax_cross_entropy(self, layer, scores, labels):
        ignored = layer["ignore_label"]
        if ignored is None:
            return self.weighted(layer, F.softmax_cross_entropy(scores, labels))
        losses = F.softmax_cross_entropy(scores, labels, ignore_label=ignored, reduce="no")
        return self.weighted(layer, F.sum(losses) / max(int((labels != ignored).sum()), 1))

    def sigmoid_cross_entropy(self, layer, scores, targets):
        # F.sigmoid_cross_entropy takes integer targets only.
        losses = F.softplus(scores) - scores * targets
        return self.weighted(layer, F.sum(losses) / float(layer.inputs[0].shape[0]))

    def mean_squared_error(self, layer, values, targets):
        return self.weighted(layer, F.mean_squared_error(values, targets))
