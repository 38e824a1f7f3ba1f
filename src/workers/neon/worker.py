# SPDX-License-Identifier: Apache-2.0
"""Intel Nervana neon on its CPU backend: neon's layers in a chain, its costs and its optimizer.

No package of neon exists, so TENCH_NEON names a folder of its source. neon's layouts are (C, H, W,
batch) for images and (C * height * width, K) for filters. Layers work in place where neon's do, so
outputs are copied as they appear. The optimizer divides the gradients by the batch.
"""
import os
import re
import sys

import numpy as np

from tench_worker import HUGE_PAGES, Adapter, BuildFacts, Unsupported
from tench_worker.binding import Binding, bind
from tench_worker.profile import IntervalClock, ProfileRows

SOURCE = "TENCH_NEON"
MISSING = ("neon has no package: git clone https://github.com/NervanaSystems/neon, run "
           "`python3 setup.py --version` in it, and set %s to its folder" % SOURCE)


def _version_file():
    """Written by neon's setup.py; neon cannot be imported without it."""
    return os.path.join(os.environ.get(SOURCE, ""), "neon", "version.py")


def _find_version():
    try:
        with open(_version_file()) as file:
            return re.search(r"VERSION = '([0-9.]+)", file.read()).group(1)
    except (IOError, OSError, AttributeError):
        return None


class Worker(Adapter):
    name = "neon"
    version = _find_version() or "unknown"
    gpu = "neon's GPU backend needs its kernels built for CUDA 8"
    ops = ("input", "conv", "pool", "lrn", "relu", "relu.negative_slope", "sigmoid", "tanh", "fc",
           "dropout", "flatten", "softmax_cross_entropy", "sigmoid_cross_entropy",
           "mean_squared_error")
    updates = ("sgd",)
    tuning = (HUGE_PAGES,)

    def facts(self):
        facts = super(Worker, self).facts()
        if _find_version() is None:
            facts["missing"] = MISSING
        return facts

    def load(self, job):
        if _find_version() is None:
            raise Unsupported(MISSING)
        sys.path.insert(0, os.environ[SOURCE])
        global neon_layers, transforms, optimizers, be
        from neon import layers as neon_layers
        from neon import optimizers, transforms
        from neon.backends import gen_backend
        # Caffe's mode: dropout scales in training. A Python number seeds dropout.
        be = gen_backend("cpu", batch_size=job.batch, rng_seed=job.seed % (1 << 31),
                         compat_mode="caffe")

    def build(self, graph, job):
        self.graph, self.job = graph, job
        self.profiled = ProfileRows() if job.profile else None
        self.clock = IntervalClock(self.profiled) if job.profile else None
        self.parts, self.buffers, self.ends, self.holders = {}, {}, {}, {}
        for layer in graph.computed:
            if layer.is_loss:
                self.ends[layer.name] = _End(layer)
                continue
            parts = self.parts[layer.name] = getattr(self, "_" + layer.op)(layer)
            self._join(layer, parts)
            for suffix, parameter in layer.parameters.items():
                self.holders[parameter.name] = parts[0 if suffix == "weight" else 1]
        self.bindings = bind(graph, special=self._bindings)
        self.optimizers = self._make_optimizers() if job.phase == "train" else []
        return BuildFacts(0, {"backend": "cpu"}, gradients_materialized=True)

    def _join(self, layer, parts):
        """Sizes and allocates a layer's parts, of which each reads the one before."""
        source, from_input = layer.inputs[0], layer.inputs[0].op == "input"
        for i, part in enumerate(parts):
            part.configure(parts[i - 1].out_shape if i else _shape_of(source))
            part.allocate()
            if isinstance(part, neon_layers.Pooling):
                part.argmax = be.empty(part.outputs.shape, dtype=np.uint8)
            # The first layer needs no gradient of its input.
            if part.owns_delta and not (i == 0 and from_input and part.has_params):
                part.deltas = be.iobuf(part.in_shape)
        if parts and not parts[0].owns_output:
            self._protect(layer, source)
        if parts and np.prod(parts[-1].out_shape) != np.prod(layer.shape[1:]):
            raise Unsupported("layer '%s': neon gives it the shape %s" %
                              (layer.name, parts[-1].out_shape))

    def _protect(self, layer, source):
        """A layer that works in place gets a copy of what others read as well."""
        if source.op == "input" or len(self.graph.readers(source.name)) > 1:
            self.buffers[layer.name] = be.iobuf(_shape_of(source))

    # --- layers ---

    def _with_bias(self, layer, part):
        return [part, neon_layers.Bias(init=_Zeros())] if layer.has_bias else [part]

    def _conv(self, layer):
        kernel, stride, pad, dilation = (layer[key] for key in ("kernel", "stride", "pad",
                                                                "dilation"))
        groups = layer["groups"]
        made = [neon_layers.Convolution(
            tuple(kernel) + (layer["out_channels"] // groups,), init=_Zeros(),
            strides={"str_h": stride[0], "str_w": stride[1]},
            padding={"pad_h": pad[0], "pad_w": pad[1]},
            dilation={"dil_h": dilation[0], "dil_w": dilation[1]}) for _ in range(groups)]
        return self._with_bias(layer, made[0] if groups == 1 else _Groups(made))

    def _pool(self, layer):
        kernel, stride, pad = layer["kernel"], layer["stride"], layer["pad"]
        if layer["mode"] == "avg" and any(pad):
            raise Unsupported("layer '%s': neon's average leaves padding out" % layer.name)
        return [neon_layers.Pooling(tuple(kernel), op=layer["mode"],
                                    strides={"str_h": stride[0], "str_w": stride[1]},
                                    padding={"pad_h": pad[0], "pad_w": pad[1]})]

    def _lrn(self, layer):
        if layer["k"] != 1 or layer["size"] % 2 == 0:
            raise Unsupported("layer '%s': neon's LRN has k = 1 and an odd size" % layer.name)
        return [neon_layers.LRN(layer["size"], ascale=layer["alpha"], bpower=layer["beta"])]

    def _relu(self, layer):
        return [neon_layers.Activation(transforms.Rectlin(slope=layer["negative_slope"]))]

    def _sigmoid(self, layer):
        return [neon_layers.Activation(transforms.Logistic())]

    def _tanh(self, layer):
        return [neon_layers.Activation(transforms.Tanh())]

    def _fc(self, layer):
        return self._with_bias(layer, neon_layers.Linear(layer["out_features"], init=_Zeros()))

    def _dropout(self, layer):
        drops = self.job.dropout and self.job.phase != "forward" and layer["ratio"] > 0
        return [neon_layers.Dropout(keep=1 - layer["ratio"])] if drops else []

    def _flatten(self, layer):
        return []  # the order is that of neon's tensors

    @staticmethod
    def _bindings(layer):
        if layer.op != "conv":
            return None
        weight, bias = (layer.parameters.get(key) for key in ("weight", "bias"))
        groups, rows = layer["groups"], np.prod(weight.shape[1:])

        def join(arrays):
            parts = arrays[0].reshape(groups, -1, rows)
            return parts.transpose(0, 2, 1).reshape(groups * rows, -1)

        def split(array):
            return [array.reshape(groups, rows, -1).transpose(0, 2, 1).reshape(weight.shape)]

        found = [Binding(weight.name, [weight], join, split)]
        return found + [Binding(bias.name, [bias])] if bias is not None else found

    def _make_optimizers(self):
        solver, groups = self.job.solver, {}
        for binding in self.bindings:
            key = (binding.lr_mult, binding.decay_mult)
            groups.setdefault(key, []).append(self.holders[binding.name])
        made = []
        for (lr_mult, decay_mult), holders in groups.items():
            optimizer = optimizers.GradientDescentMomentum(
                solver.lr * lr_mult, solver.momentum, wdecay=solver.weight_decay * decay_mult)
            made.append((lr_mult, optimizer, holders))
        return made

    # --- the contract ---

    @staticmethod
    def _set(tensor, values):
        tensor.set(np.ascontiguousarray(values, np.float32).reshape(tensor.shape))

    def set_parameters(self, source):
        for binding in self.bindings:
            self._set(self.holders[binding.name].W, binding.read(source))

    def parameters(self, sink):
        for binding in self.bindings:
            binding.write(self.holders[binding.name].W.get(), sink)

    def set_state(self, source):
        if self.job.phase != "train":
            return
        for binding in self.bindings:
            holder = self.holders[binding.name]
            holder.states = [be.zeros_like(holder.W)]
            # neon's velocity is added, and it includes the rate.
            self._set(holder.states[0], -binding.read(source, ".momentum"))

    def state(self, sink):
        if self.job.phase != "train":
            return
        for binding in self.bindings:
            binding.write(self.holders[binding.name].states[0].get(), sink, ".momentum", -1.0)

    def set_batch(self, inputs):
        self.batch = {}
        for layer in self.graph.inputs:
            values = np.asarray(inputs[layer.name])
            if layer["role"] == "label":
                self.batch[layer.name] = values
            else:
                columns = values.astype(np.float32).reshape(len(values), -1).T
                self.batch[layer.name] = be.array(np.ascontiguousarray(columns))
        for end in self.ends.values():
            if end.softmax:
                end.set_labels(self.batch[end.layer.input_names[1]])

    def set_learning_rate(self, rate):
        for lr_mult, optimizer, _ in self.optimizers:
            optimizer.learning_rate = rate * lr_mult

    def step(self, phase):
        values, self.kept, total = dict(self.batch), {}, 0.0
        for layer in self.graph.computed:
            x = self._own(layer, values[layer.input_names[0]])
            if layer.is_loss:
                end = self.ends[layer.name]
                self._begin(layer, "forward", end.cost)
                values[layer.name] = loss = end.loss(x, values[layer.input_names[1]])
                total += loss
            else:
                for part in self.parts[layer.name]:
                    self._begin(layer, "forward", part)
                    x = part.fprop(x, inference=phase == "forward")
                values[layer.name] = x
            if self.job.observe:
                # Before a later layer works in place.
                self.kept[layer.name] = np.float32(loss) if layer.is_loss else x.get().T.copy()
        if phase != "forward":
            self._backward()
        if phase == "train":
            self._update()
        if self.clock is not None:
            self.clock.end()
        return total

    def _own(self, layer, x):
        buffer = self.buffers.get(layer.name)
        if buffer is None:
            return x
        buffer[:] = x
        return buffer

    def _backward(self):
        errors = {}
        for layer in reversed(self.graph.computed):
            if layer.is_loss:
                end = self.ends[layer.name]
                self._begin(layer, "backward", end.cost)
                error = end.error()
            else:
                error = errors.get(layer.name)
                for part in reversed(self.parts[layer.name]) if error is not None else ():
                    self._begin(layer, "backward", part)
                    error = part.bprop(error)
            source = layer.input_names[0]
            if error is None or self.graph.by_name[source].op == "input":
                continue
            if source in errors:
                errors[source][:] = errors[source] + error
            else:
                errors[source] = error

    def _update(self):
        for _, optimizer, holders in self.optimizers:
            if self.clock is not None:
                self.clock.begin("", "update", type(optimizer).__name__)
            optimizer.optimize(holders, epoch=0)

    def _begin(self, layer, direction, part):
        if self.clock is not None:
            self.clock.begin(layer.name, direction, type(part).__name__)

    def restart_profile(self):
        if self.profiled is not None:
            self.profiled.clear()

    def profile(self):
        return self.profiled.rows()

    def gradients(self, sink):
        for binding in self.bindings:
            # neon's optimizer divides by the batch.
            binding.write(self.holders[binding.name].dW.get() / np.float32(self.job.batch), sink)

    def outputs(self, layers, sink):
        for name in layers:
            sink(name, self.kept[name])


def _shape_of(layer):
    """Of one sample, as neon writes it."""
    shape = tuple(int(size) for size in layer.shape[1:])
    return shape if len(shape) > 1 else (shape[0], 1)


class _End(object):
    """A loss: neon's costs expect the matching activation before them, which works in place."""

    def __init__(self, layer):
        self.layer, self.weight = layer, float(layer["loss_weight"])
        self.softmax = layer.op == "softmax_cross_entropy"
        if self.softmax:
            activation, cost = transforms.Softmax(), transforms.CrossEntropyMulti()
        elif layer.op == "sigmoid_cross_entropy":
            activation, cost = transforms.Logistic(shortcut=True), transforms.CrossEntropyBinary()
        else:
            activation, cost = transforms.Identity(), transforms.MeanSquared()
            self.weight *= 2  # neon's is half of the mean
        self.activation, self.cost = neon_layers.Activation(activation), None
        self.activation.configure(_shape_of(layer.inputs[0]))
        self.activation.deltas = be.iobuf(self.activation.in_shape)
        self.cost = neon_layers.GeneralizedCost(cost)
        self.cost.initialize(self.activation)
        self.scores = be.iobuf(self.activation.in_shape)
        self.target = be.iobuf(self.activation.in_shape)

    def set_labels(self, labels):
        hot = np.zeros(self.target.shape, np.float32)
        hot[labels, np.arange(len(labels))] = 1
        self.target.set(hot)

    def loss(self, scores, target):
        self.scores[:] = scores
        if not self.softmax:
            self.target[:] = target
        self.activation.fprop(self.scores)
        return self.weight * float(self.cost.get_cost(self.scores, self.target)[0, 0])

    def error(self):
        error = self.cost.get_errors(self.scores, self.target)
        if self.weight != 1:
            error[:] = error * self.weight
        return self.activation.bprop(error)


class _Groups(object):
    """A convolution in groups: neon's Convolution on each block of channels, which are rows."""

    has_params = owns_output = owns_delta = True

    def __init__(self, convolutions):
        self.convolutions, self.states, self.deltas = convolutions, [], None

    def configure(self, shape):
        count = len(self.convolutions)
        for convolution in self.convolutions:
            convolution.configure((shape[0] // count,) + shape[1:])
        made = convolution.out_shape
        self.in_shape, self.out_shape = shape, (made[0] * count,) + made[1:]

    def _block(self, tensor, i):
        rows = tensor.shape[0] // len(self.convolutions)
        return tensor[i * rows:(i + 1) * rows]

    def allocate(self):
        rows, columns = self.convolutions[0].weight_shape
        self.W = be.zeros((rows * len(self.convolutions), columns))
        self.dW = be.zeros_like(self.W)
        self.outputs = be.iobuf(self.out_shape)
        for i, convolution in enumerate(self.convolutions):
            convolution.W, convolution.dW = self._block(self.W, i), self._block(self.dW, i)
            convolution.outputs = self._block(self.outputs, i)

    def fprop(self, inputs, inference=False):
        for i, convolution in enumerate(self.convolutions):
            convolution.fprop(self._block(inputs, i), inference)
        return self.outputs

    def bprop(self, error):
        for i, convolution in enumerate(self.convolutions):
            convolution.deltas = None if self.deltas is None else self._block(self.deltas, i)
            convolution.bprop(self._block(error, i))
        return self.deltas

    def get_params(self):
        return (self.W, self.dW), self.states


class _Zeros(object):
    """An initializer: the contract sets the parameters."""

    @staticmethod
    def fill(tensor):
        tensor[:] = 0
