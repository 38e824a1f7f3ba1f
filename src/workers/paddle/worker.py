# SPDX-License-Identifier: Apache-2.0
"""PaddlePaddle: the dynamic graph, or the forward pass as a static program by jit.to_static.

Ops are those of paddle.nn.functional, the update is paddle.optimizer.Momentum with one parameter
group per pair of multipliers.
"""
import os

import numpy as np

from tench_worker import (HUGE_PAGES, SHORT_SPIN, Adapter, BuildFacts, Option, candidate)
from tench_worker.lowering import Lowering
from tench_worker.network import ABILITIES, average_share

MODE = Option("mode", "`dynamic`, or `static`: paddle.jit.to_static", "dynamic",
              ("dynamic", "static"))


class Worker(Adapter):
    name = "paddle"
    package = "paddlepaddle"
    ops = ABILITIES
    updates = ("sgd", "nesterov", "clip_gradients")
    options = (MODE,)
    tuning = (candidate({"mode": "static"}), SHORT_SPIN, HUGE_PAGES)

    def facts(self):
        return {"gpu": "the package paddlepaddle has no GPU support"}

    def load(self, job):
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
        # The log of its C++ library goes to descriptor 2, which is the run's log.
        os.environ["GLOG_minloglevel"] = "2"
        global paddle, F
        import paddle
        import paddle.nn.functional as F
        paddle.set_device("cpu")

    def build(self, graph, job):
        self.graph, self.job, self.rate = graph, job, job.solver.lr
        self.trained, self.statistics, self.lstms = {}, {}, {}
        learns = job.phase != "forward"
        for p in graph.trained:
            self.trained[p.name] = paddle.create_parameter(list(p.shape), "float32")
            self.trained[p.name].stop_gradient = not learns
        for p in graph.statistics:
            self.statistics[p.name] = paddle.zeros(list(p.shape))
        self.variances = []  # name, share that is kept, factor of the new share
        for layer in graph.layers:
            if layer.op == "batch_norm":
                count = int(np.prod(layer.shape)) // layer.shape[1]
                self.variances.append((layer.name + ".running_var", 1 - layer["momentum"],
                                       count / max(count - 1.0, 1.0)))
            if layer.op == "lstm":
                self.lstms[layer.name] = self._make_lstm(layer)
        self.optimizer = self._make_optimizer() if job.phase == "train" else None
        self.network = _Network(self)
        self.order = [layer.name for layer in graph.inputs]
        mode = job.option(MODE)
        self.call = self._eager
        # An observing build reads every layer, so it stays dynamic.
        if mode == "static" and not job.observe:
            self._compile()
        return BuildFacts(0, {"mode": mode}, gradients_materialized=True)

    def _eager(self, *inputs):
        return self.network.run(dict(zip(self.order, inputs)))

    def _compile(self):
        worker = self

        class Model(paddle.nn.Layer):
            def __init__(self):
                super(Model, self).__init__()
                for index, tensor in enumerate(worker.trained.values()):
                    self.add_parameter("p%d" % index, tensor)
                for index, tensor in enumerate(worker.statistics.values()):
                    self.register_buffer("s%d" % index, tensor)

            def forward(self, batch):
                return worker._eager(*batch)

        model = paddle.jit.to_static(Model(), full_graph=True)
        self.call = lambda *inputs: model(list(inputs))
        self.set_batch({layer.name: np.ones(layer.shape, np.float32 if layer["role"] == "data"
                                            else np.int32) for layer in self.graph.inputs})
        self.step(self.job.phase)  # the first step compiles

    def _make_lstm(self, layer):
        """nn.LSTM with our weights; its second bias stays zero and is not trained. Its gradient is
        computed, since Paddle's kernel crashes without it.
        """
        module = paddle.nn.LSTM(layer.inputs[0].shape[2], layer["hidden"])
        for theirs, suffix in (("weight_ih_l0", "weight_input"), ("weight_hh_l0", "weight_hidden"),
                               ("bias_ih_l0", "bias")):
            parameter = getattr(module, theirs)
            parameter.stop_gradient = self.job.phase == "forward"
            self.trained["%s.%s" % (layer.name, suffix)] = parameter
        module.bias_hh_l0.set_value(np.zeros(module.bias_hh_l0.shape, np.float32))
        module.bias_hh_l0.stop_gradient = self.job.phase == "forward"
        return module

    def _make_optimizer(self):
        solver, groups = self.job.solver, {}
        for p in self.graph.trained:
            # A parameter that does not learn keeps a zero momentum.
            groups.setdefault((p.lr_mult, p.decay_mult), []).append(self.trained[p.name])
        settings = [{"params": tensors, "learning_rate": lr_mult,
                     "weight_decay": solver.weight_decay * decay_mult}
                    for (lr_mult, decay_mult), tensors in groups.items()]
        return paddle.optimizer.Momentum(self.rate, solver.momentum, settings,
                                         use_nesterov=solver.type == "nesterov")

    # --- the contract ---

    def set_parameters(self, source):
        paddle.seed(self.job.seed % (1 << 31))
        for p in self.graph.trained:
            self.trained[p.name].set_value(np.array(source(p.name)))

    def parameters(self, sink):
        for p in self.graph.trained:
            sink(p.name, self.trained[p.name].numpy())

    def _factor(self, parameter):
        """tench's momentum includes the rate, Paddle's does not."""
        return self.rate * parameter.lr_mult

    def _velocity(self, parameter):
        return self.trained[parameter.name].name + "_velocity_0"

    def set_state(self, source):
        for p in self.graph.statistics:
            self.statistics[p.name].set_value(np.array(source(p.name)))
        if self.optimizer is None:
            return
        state = self.optimizer.state_dict()
        for p in self.graph.trained:
            factor, values = self._factor(p), np.array(source(p.name + ".momentum"))
            values = values / np.float32(factor) if factor else np.zeros_like(values)
            state[self._velocity(p)] = paddle.to_tensor(values, stop_gradient=True)
        self.optimizer.set_state_dict(state)

    def state(self, sink):
        for p in self.graph.statistics:
            sink(p.name, self.statistics[p.name].numpy())
        if self.optimizer is None:
            return
        state = self.optimizer.state_dict()
        for p in self.graph.trained:
            sink(p.name + ".momentum",
                 state[self._velocity(p)].numpy() * np.float32(self._factor(p)))

    def set_batch(self, inputs):
        self.batch = []
        for name in self.order:
            values = np.array(inputs[name])
            self.batch.append(paddle.to_tensor(values if values.dtype == np.float32
                                               else values.astype(np.int64)))

    def set_learning_rate(self, rate):
        old, self.rate = self.rate, rate
        if self.optimizer is None or rate == old:
            return
        self.optimizer.set_lr(rate)
        if rate == 0:
            return
        # Past updates keep their size.
        state = self.optimizer.state_dict()
        for p in self.graph.trained:
            name = self._velocity(p)
            if name in state:
                state[name] = state[name] * (old / rate)
        self.optimizer.set_state_dict(state)

    def _clip(self):
        limit = self.job.solver.clip_gradients
        gradients = [self.trained[p.name].grad for p in self.graph.trained if p.lr_mult != 0]
        norm = float(paddle.sqrt(sum((g * g).sum() for g in gradients)))
        if norm > limit:
            with paddle.no_grad():  # Paddle refuses to write to a leaf that autograd watches
                for gradient in gradients:
                    gradient.scale_(limit / norm)

    def step(self, phase):
        if phase == "forward":
            with paddle.no_grad():
                return float(self.call(*self.batch))
        unused = [module.bias_hh_l0 for module in self.lstms.values()]
        for tensor in list(self.trained.values()) + unused:
            tensor.clear_gradient(set_to_zero=False)
        before = [self.statistics[name] * keep for name, keep, _ in self.variances]
        loss = self.call(*self.batch)
        loss.backward()
        self._correct(before)
        if phase == "train":
            if self.job.observe:
                self.kept = {p.name: self._gradient(p) for p in self.graph.trained}
            if self.job.solver.clip_gradients > 0:
                self._clip()
            self.optimizer.step()
        return float(loss)

    def _correct(self, before):
        """Paddle's running variance is that of the population; tench's is the sample's. Autograd
        needs the variance until the backward pass is over.
        """
        with paddle.no_grad():
            for old, (name, _, factor) in zip(before, self.variances):
                variance = self.statistics[name]
                paddle.assign(old + (variance - old) * factor, variance)

    def _gradient(self, parameter):
        return self.trained[parameter.name].grad.numpy().copy()

    def gradients(self, sink):
        for p in self.graph.trained:
            sink(p.name, self.kept[p.name] if self.job.phase == "train" else self._gradient(p))

    def outputs(self, layers, sink):
        for name in layers:
            sink(name, self.network.values[name].numpy())


class _Network(Lowering):
    """The model: run(batch) returns the loss."""

    def __init__(self, worker):
        super(_Network, self).__init__(worker.graph, worker.job)
        self.lstms, self.trained, self.statistics = worker.lstms, worker.trained, worker.statistics
        self.keeps_values = worker.job.observe

    def weight(self, layer, suffix="weight"):
        return self.trained["%s.%s" % (layer.name, suffix)]

    def bias(self, layer):
        return self.weight(layer, "bias") if layer.has_bias else None

    def conv(self, layer, x):
        return F.conv2d(x, self.weight(layer), self.bias(layer), layer["stride"], layer["pad"],
                        layer["dilation"], layer["groups"])

    def pool(self, layer, x):
        kernel, stride, pad = layer["kernel"], layer["stride"], layer["pad"]
        if layer["global"]:
            one = F.adaptive_max_pool2d if layer["mode"] == "max" else F.adaptive_avg_pool2d
            return one(x, 1)
        if layer["mode"] == "max":
            y = F.max_pool2d(x, kernel, stride, pad, ceil_mode=layer["ceil_mode"])
        else:
            y = F.avg_pool2d(x, kernel, stride, pad, layer["ceil_mode"], exclusive=False)
        # Paddle keeps a last window that begins in the padding.
        if tuple(y.shape) != tuple(layer.shape):
            y = y[:, :, :layer.shape[2], :layer.shape[3]]
        share = average_share(layer) if layer["mode"] != "max" else None
        return y if share is None else y * paddle.to_tensor(share.astype(np.float32))

    def lrn(self, layer, x):
        if layer["region"] == "across_channels":
            return F.local_response_norm(x, layer["size"], layer["alpha"], layer["beta"],
                                         layer["k"])
        size = layer["size"]
        mean = F.avg_pool2d(x * x, size, 1, size // 2, exclusive=False)
        return x / (layer["k"] + layer["alpha"] * mean) ** layer["beta"]

    def relu(self, layer, x):
        slope = layer["negative_slope"]
        return F.relu(x) if slope == 0 else F.leaky_relu(x, slope)

    def sigmoid(self, layer, x):
        return F.sigmoid(x)

    def tanh(self, layer, x):
        return paddle.tanh(x)

    def power(self, layer, x):
        power, scale, shift = (float(layer[key]) for key in ("power", "scale", "shift"))
        if power == 0 or scale == 0:
            return paddle.full_like(x, shift ** power)
        base = paddle.scale(x, scale, shift)
        return base if power == 1 else paddle.pow(base, power)

    def fc(self, layer, x):
        y = paddle.matmul(x, self.weight(layer), transpose_y=True)
        return y + self.bias(layer) if layer.has_bias else y

    def dropout(self, layer, x):
        return F.dropout(x, layer["ratio"], training=self.drops(layer))

    def concat(self, layer, *inputs):
        return paddle.concat(list(inputs), 1)

    def slice(self, layer, x):
        return x[:, layer["begin"]:layer["end"]]

    def larger(self, x, y):
        return paddle.maximum(x, y)

    def flatten(self, layer, x):
        return paddle.reshape(x, layer.shape)

    reshape = flatten

    def batch_norm(self, layer, x):
        mean = self.statistics[layer.name + ".running_mean"]
        var = self.statistics[layer.name + ".running_var"]
        weight = self.weight(layer) if layer.has_weight else None
        keep = 1 - layer["momentum"]
        return F.batch_norm(x, mean, var, weight, self.bias(layer), self.training, keep,
                            layer["eps"])

    def scale(self, layer, x):
        view = (1, -1, 1, 1) if len(layer.shape) == 4 else (1, -1)
        y = x * paddle.reshape(self.weight(layer), view)
        return y + paddle.reshape(self.bias(layer), view) if layer.has_bias else y

    def softmax(self, layer, x):
        return F.softmax(x, 1)

    def embedding(self, layer, tokens):
        return F.embedding(tokens, self.weight(layer))

    def lstm(self, layer, x):
        return self.lstms[layer.name](x)[0]

    def mean_over_time(self, layer, x, lengths):
        steps = paddle.arange(layer.inputs[0].shape[1]).unsqueeze(0)
        mask = (steps < lengths.unsqueeze(1)).astype("float32").unsqueeze(2)
        return (x * mask).sum(1) / lengths.astype("float32").unsqueeze(1)

    def softmax_cross_entropy(self, layer, scores, labels):
        ignored = layer["ignore_label"]
        if ignored is None:
            return self.weighted(layer, F.cross_entropy(scores, labels))
        # 0 if every sample is ignored, where the mean is NaN.
        total = F.cross_entropy(scores, labels, ignore_index=ignored, reduction="sum")
        counts = paddle.clip((labels != ignored).astype("float32").sum(), min=1)
        return self.weighted(layer, total / counts)

    def sigmoid_cross_entropy(self, layer, scores, targets):
        total = F.binary_cross_entropy_with_logits(scores, targets, reduction="sum")
        return total * (layer["loss_weight"] / float(scores.shape[0]))

    def mean_squared_error(self, layer, values, targets):
        return self.weighted(layer, F.mse_loss(values, targets))
