# SPDX-License-Identifier: Apache-2.0
"""CNTK: a Trainer with one momentum_sgd learner per pair of multipliers, as its users wrote it.

Images are CHW with a dynamic batch axis, sequences have a dynamic axis of their own. The loss is
per sample: CNTK sums over the batch, and its learners divide by the batch.
"""
import math

import numpy as np

from tench_worker import Adapter, BuildFacts, Unsupported
from tench_worker.binding import Binding, bind, gate_order
from tench_worker.lowering import Lowering
from tench_worker.network import average_share, exact_pads, product


class Worker(Adapter):
    name = "cntk"
    package = "cntk"
    gpu = "the CPU package of CNTK has no GPU kernels"
    ops = ("input", "conv", "pool", "lrn", "relu", "relu.negative_slope", "sigmoid", "tanh", "fc",
           "dropout", "concat", "slice", "add", "add.coefficients", "multiply", "maximum",
           "flatten", "reshape", "batch_norm", "batch_norm.affine", "scale", "softmax",
           "embedding", "lstm", "mean_over_time", "softmax_cross_entropy",
           "sigmoid_cross_entropy", "mean_squared_error")

    def load(self, job):
        global C
        import warnings
        warnings.simplefilter("ignore")  # about the distribution and missing GPU packages
        import cntk as C
        C.logging.set_trace_level(C.logging.TraceLevel.Error)
        C.device.try_set_default_device(C.device.cpu())
        C.cntk_py.set_max_num_cputhreads(job.threads)
        C.cntk_py.set_fixed_random_seed(job.seed % (1 << 31) + 1)

    def build(self, graph, job):
        self.graph, self.job, self.rate = graph, job, job.solver.lr
        self.bindings = bind(graph, fc="io", special=_lstm_bindings)
        self.variables = {}
        for binding in self.bindings:
            zeros = binding.zeros()
            self.variables[binding.name] = C.parameter(zeros.shape, init=zeros, name=binding.name)
        for p in graph.statistics:
            self.variables[p.name] = C.constant(np.zeros(p.shape, np.float32), name=p.name)
        self.inputs = {layer.name: _input(layer, graph) for layer in graph.inputs}
        lowering = _Lowering(graph, job)
        lowering.variables = self.variables
        self.loss = lowering.run(self.inputs)
        self.values, self.root = lowering.values, self.loss.output
        observed = [self.values[layer.name].output for layer in graph.computed]
        self.observed = C.combine([self.root] + [v for v in observed if v != self.root]) \
            if job.observe else None
        self.trained = [self.variables[binding.name] for binding in self.bindings]
        self.by_uid = {v.uid: b for v, b in zip(self.trained, self.bindings)}
        self.learners, self.trainer = [], None
        if job.phase == "train":
            self._make_trainer()
        return BuildFacts(0, {}, gradients_materialized=True)

    def _schedule(self, value):
        # Per minibatch: of the mean gradient.
        return C.learning_parameter_schedule(value, minibatch_size=C.learners.IGNORE)

    def _make_trainer(self):
        solver, groups = self.job.solver, {}
        for binding in self.bindings:
            groups.setdefault((binding.lr_mult, binding.decay_mult), []).append(binding)
        momentum = C.momentum_schedule(solver.momentum, minibatch_size=C.learners.IGNORE)
        for (lr_mult, decay_mult), bindings in groups.items():
            learner = C.momentum_sgd(
                [self.variables[b.name] for b in bindings], self._schedule(self.rate * lr_mult),
                momentum, unit_gain=False,
                l2_regularization_weight=solver.weight_decay * decay_mult)
            self.learners.append((learner, lr_mult))
        self.trainer = C.Trainer(self.loss, (self.loss, None), [each for each, _ in self.learners])

    # --- the contract ---

    def set_parameters(self, source):
        for binding in self.bindings:
            self.variables[binding.name].value = binding.read(source)
        for learner, _ in self.learners:
            learner.reset_smoothed_gradients()

    def parameters(self, sink):
        for binding in self.bindings:
            binding.write(self.variables[binding.name].value, sink)

    def set_state(self, source):
        for p in self.graph.statistics:
            self.variables[p.name].value = source(p.name)
        for learner, _ in self.learners:
            state = learner.create_checkpoint()
            # CNTK's momentum includes the rate, as tench's does.
            state["smoothed_gradients"] = [self.by_uid[parameter.uid].read(source, ".momentum")
                                           for parameter in learner.parameters]
            learner.restore_from_checkpoint(state)

    def state(self, sink):
        for p in self.graph.statistics:
            sink(p.name, np.asarray(self.variables[p.name].value))
        for learner, _ in self.learners:
            momenta = learner.create_checkpoint()["smoothed_gradients"]
            for parameter, momentum in zip(learner.parameters, momenta):
                self.by_uid[parameter.uid].write(momentum, sink, ".momentum")

    def set_batch(self, inputs):
        self.batch = {}
        for layer in self.graph.inputs:
            variable = self.inputs[layer.name]
            if variable in self.loss.arguments:
                self.batch[variable] = _value(layer, variable, inputs[layer.name])

    def set_learning_rate(self, rate):
        self.rate = rate
        for learner, lr_mult in self.learners:
            learner.reset_learning_rate(self._schedule(rate * lr_mult))

    def step(self, phase):
        if phase == "forward":
            if self.observed is None:
                return float(np.mean(self.loss.eval(self.batch)))
            self.seen = self.observed.eval(self.batch)
            return float(np.mean(self.seen[self.root]))
        if phase == "train" and self.observed is None:
            self.trainer.train_minibatch(self.batch)
            return self.trainer.previous_minibatch_loss_average
        function = self.observed or self.loss
        made, self.seen = function.grad(
            self.batch, wrt=self.trained, outputs=list(function.outputs), as_numpy=False,
            grad_root=self.root)
        self.kept = made
        if phase == "train":
            # The update adds the decay to the gradient itself.
            self.kept = {p: np.array(made[p].asarray()) for p in self.trained}
            for learner, _ in self.learners:
                learner.update({p: made[p].data for p in learner.parameters}, self.graph.batch,
                               False)
        return float(np.mean(self.seen[self.root].asarray()))

    def gradients(self, sink):
        for binding in self.bindings:
            value = self.kept[self.variables[binding.name]]
            value = value if isinstance(value, np.ndarray) else value.asarray()
            binding.write(value, sink, "", 1.0 / self.graph.batch)

    def outputs(self, layers, sink):
        for name in layers:
            value = self.seen[self.values[name].output]
            array = value if isinstance(value, (np.ndarray, list)) else value.asarray()
            array = np.asarray(array)
            sink(name, np.mean(array) if self.graph.by_name[name].is_loss else array)


def _lstm_bindings(layer):
    """CNTK's matrices are (F, 4H) and (H, 4H), their gates in the order i, g, f, o."""
    if layer.op != "lstm":
        return None
    rows, inverse = gate_order("igfo", layer["hidden"])
    p = layer.parameters
    return [Binding(p[suffix].name, [p[suffix]], lambda a: a[0][rows].T, lambda a: [a.T[inverse]])
            for suffix in ("weight_input", "weight_hidden")] + \
        [Binding(p["bias"].name, [p["bias"]], lambda a: a[0][rows], lambda a: [a[inverse]])]


def _classes(layer, graph):
    for reader in graph.readers(layer.name):
        if reader.op == "softmax_cross_entropy":
            return reader.inputs[0].shape[1]
    return 1


def _input(layer, graph):
    if layer["role"] == "tokens":
        return C.sequence.input_variable((1,), name=layer.name)
    if layer["role"] == "label":
        return C.input_variable((_classes(layer, graph),), name=layer.name)
    return C.input_variable(layer.shape[1:] or (1,), name=layer.name)


def _value(layer, variable, values):
    """Copied once, so that a fixed batch is resident."""
    values = np.asarray(values, np.float32)
    if layer["role"] == "label":
        values = np.eye(variable.shape[0], dtype=np.float32)[values.astype(int)]
    if layer["role"] == "tokens":
        return C.Value.create(variable, [np.ascontiguousarray(row[:, None]) for row in values])
    return C.Value.create(variable, np.ascontiguousarray(values.reshape((-1,) + variable.shape)))


class _Lowering(Lowering):
    def parameter(self, layer, suffix):
        return self.variables["%s.%s" % (layer.name, suffix)]

    @staticmethod
    def padded(x, pads, fill=0.0):
        if all(before <= 0 and after <= 0 for before, after in pads):
            return x
        return C.pad(x, [(0, 0)] + [(max(0, b), max(0, a)) for b, a in pads], C.ops.CONSTANT_PAD,
                     fill)

    @staticmethod
    def wide(x, values):
        """Per-channel values beside an image or a vector."""
        return C.reshape(values, (-1, 1, 1)) if len(x.shape) == 3 else values

    def conv(self, layer, x):
        kernel, stride = layer["kernel"], layer["stride"]
        if layer["dilation"] != (1, 1):
            raise Unsupported("layer '%s': CNTK has no conv with dilation on a CPU" % layer.name)
        # CNTK pads by itself to the size of the input only.
        same = stride == (1, 1) and \
            all(2 * layer["pad"][i] == kernel[i] - 1 for i in (0, 1))
        if not same:
            x = self.padded(x, exact_pads(layer))
        y = C.convolution(self.parameter(layer, "weight"), x, strides=stride,
                          auto_padding=[False, same, same], groups=layer["groups"])
        return y + self.wide(y, self.parameter(layer, "bias")) if layer.has_bias else y

    def pool(self, layer, x):
        is_max = layer["mode"] == "max"
        lowest = -float(np.finfo(np.float32).max) if is_max else 0.0
        x = self.padded(x, exact_pads(layer), lowest)
        y = C.pooling(x, C.MAX_POOLING if is_max else C.AVG_POOLING, layer["kernel"],
                      layer["stride"])
        share = None if is_max else average_share(layer)
        return y if share is None else y * C.constant(share[None].astype(np.float32))

    def lrn(self, layer, x):
        size = layer["size"]
        # CNTK divides alpha by the size, as tench does.
        return C.local_response_normalization(x, size // 2, layer["k"], layer["alpha"],
                                              layer["beta"])

    def relu(self, layer, x):
        slope = layer["negative_slope"]
        return C.relu(x) if slope == 0 else C.leaky_relu(x, slope)

    def sigmoid(self, layer, x):
        return C.sigmoid(x)

    def tanh(self, layer, x):
        return C.tanh(x)

    def fc(self, layer, x):
        y = C.times(x, self.parameter(layer, "weight"))
        return y + self.parameter(layer, "bias") if layer.has_bias else y

    def dropout(self, layer, x):
        return C.dropout(x, layer["ratio"]) if self.drops(layer) else x

    def concat(self, layer, *inputs):
        return C.splice(*inputs, axis=0)

    def slice(self, layer, x):
        return C.slice(x, 0, layer["begin"], layer["end"])

    def larger(self, x, y):
        return C.element_max(x, y)

    def flatten(self, layer, x):
        return C.reshape(x, layer.shape[1:])

    reshape = flatten

    def batch_norm(self, layer, x):
        channels = layer.shape[1]
        weight = self.parameter(layer, "weight") if layer.has_weight else \
            C.constant(np.ones(channels, np.float32))
        bias = self.parameter(layer, "bias") if layer.has_bias else \
            C.constant(np.zeros(channels, np.float32))
        if layer["momentum"] >= 1:
            raise Unsupported("layer '%s': CNTK has no batch_norm with momentum 1" % layer.name)
        # The running average decays by exp(-samples / constant) per batch.
        constant = -self.graph.batch / math.log(1 - layer["momentum"]) if layer["momentum"] else \
            float("inf")
        return C.batch_normalization(
            x, weight, bias, self.parameter(layer, "running_mean"),
            self.parameter(layer, "running_var"), spatial=len(layer.shape) == 4,
            normalization_time_constant=constant, epsilon=layer["eps"],
            running_count=C.constant(np.ones((1,), np.float32)))

    def scale(self, layer, x):
        y = x * self.wide(x, self.parameter(layer, "weight"))
        return y + self.wide(y, self.parameter(layer, "bias")) if layer.has_bias else y

    def softmax(self, layer, x):
        return C.softmax(x, axis=0)

    def embedding(self, layer, tokens):
        rows = C.gather(self.parameter(layer, "weight"), tokens)
        return C.reshape(rows, (layer["dimension"],))

    def lstm(self, layer, x):
        output = C.layers.Recurrence(C.layers.LSTM(layer["hidden"]))(x)
        own = {"W": "weight_input", "H": "weight_hidden", "b": "bias"}
        for p in output.parameters:
            if p.name in own:
                self.variables["%s.%s" % (layer.name, own[p.name])] = p
        return output

    def mean_over_time(self, layer, x, lengths):
        place = C.layers.Recurrence(C.plus)(C.sequence.broadcast_as(C.constant(1.0), x))
        mask = C.less_equal(place, C.sequence.broadcast_as(lengths, x))
        return C.sequence.reduce_sum(x * mask) / lengths

    def softmax_cross_entropy(self, layer, scores, labels):
        return self.weighted(layer, C.cross_entropy_with_softmax(scores, labels))

    def sigmoid_cross_entropy(self, layer, scores, targets):
        # The stable form; CNTK has none of this loss that takes scores.
        losses = C.relu(scores) - scores * targets + C.softplus(-C.abs(scores))
        return self.weighted(layer, C.reduce_sum(losses))

    def mean_squared_error(self, layer, values, targets):
        size = product(layer.inputs[0].shape[1:])
        return self.weighted(layer, C.squared_error(values, targets) * (1.0 / size))
