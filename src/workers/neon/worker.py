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
        self.graph, self.job, self.copied = graph, job, {}
        self._check_chain()
        self.profiled = ProfileRows() if job.profile else None
        self.clock = IntervalClock(self.profiled) if job.profile else None
        self.parts, self.cost, top, known = [], None, None, {}
        for layer in graph.computed:
            if layer.is_loss:
                self._end_with(layer, top)
                continue
            made = getattr(self, "_" + layer.op)(layer)
            for part in made:
                part.configure(top if top is not None else layer.inputs[0].shape[1:])
                part.prev_layer = top
                part.allocate()
                if isinstance(part, neon_layers.Pooling):
                    part.argmax = be.empty(part.outputs.shape, dtype=np.uint8)
                if part.owns_delta and self.parts:
                    part.deltas = be.iobuf(part.in_shape)
                self.parts.append(part)
                known[(layer.name, type(part).__name__)] = part
                top = part
            self._check_shape(layer, top)
            self.copied[layer.name] = made
        self.bindings = bind(graph, special=self._bindings)
        self.holders = {}
        for layer in graph.computed:
            kind = {"conv": "Convolution", "fc": "Linear"}.get(layer.op)
            for suffix, parameter in layer.parameters.items():
                self.holders[parameter.name] = known[
                    (layer.name, kind if suffix == "weight" else "Bias")]
        self.optimizers = self._make_optimizers() if job.phase == "train" else []
        return BuildFacts(0, {"backend": "cpu"}, gradients_materialized=True)

    def _check_chain(self):
        for layer in self.graph.computed:
            if len(self.graph.readers(layer.name)) > 1:
                raise Unsupported("layer '%s': this worker builds chains, and it has several readers"
                                  % layer.name)
        if sum(layer.is_loss for layer in self.graph.computed) != 1:
            raise Unsupported("layer '%s': this worker has one loss" % self.graph.computed[-1].name)

    def _check_shape(self, layer, part):
        made = part.out_shape if isinstance(part.out_shape, tuple) else (part.out_shape,)
        if np.prod(made) != np.prod(layer.shape[1:]):
            raise Unsupported("layer '%s': neon gives it the shape %s" % (layer.name, made))

    # --- layers ---

    def _with_bias(self, layer, part):
        return [part, neon_layers.Bias(init=_Zeros())] if layer.has_bias else [part]

    def _conv(self, layer):
        if layer["groups"] != 1:
            raise Unsupported("layer '%s': neon has no convolution in groups" % layer.name)
        kernel, stride, pad, dilation = (layer[key] for key in ("kernel", "stride", "pad",
                                                                "dilation"))
        return self._with_bias(layer, neon_layers.Convolution(
            tuple(kernel) + (layer["out_channels"],), init=_Zeros(),
            strides={"str_h": stride[0], "str_w": stride[1]},
            padding={"pad_h": pad[0], "pad_w": pad[1]},
            dilation={"dil_h": dilation[0], "dil_w": dilation[1]}))

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

    def _end_with(self, layer, top):
        """The loss: neon's costs expect the matching activation before them."""
        self.loss, self.weight = layer, float(layer["loss_weight"])
        if layer.op == "mean_squared_error":
            # neon's MeanSquared is half of the mean.
            self.weight *= 2
            self.cost = neon_layers.GeneralizedCost(transforms.MeanSquared())
        else:
            softmax = layer.op == "softmax_cross_entropy"
            end = neon_layers.Activation(transforms.Softmax() if softmax else
                                         transforms.Logistic(shortcut=True))
            end.configure(top)
            end.prev_layer = top
            end.allocate()
            end.deltas = be.iobuf(end.in_shape)
            self.parts.append(end)
            top = end
            self.cost = neon_layers.GeneralizedCost(
                transforms.CrossEntropyMulti() if softmax else transforms.CrossEntropyBinary())
        self.cost.initialize(top)
        self.target = be.iobuf(top.out_shape)

    @staticmethod
    def _bindings(layer):
        if layer.op != "conv":
            return None
        found, (weight, bias) = [], (layer.parameters.get(key) for key in ("weight", "bias"))
        found.append(Binding(weight.name, [weight],
                             lambda a: a[0].reshape(weight.shape[0], -1).T,
                             lambda a: [a.T.reshape(weight.shape)]))
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
        first = self.graph.computed[0].input_names[0]
        data = np.asarray(inputs[first], np.float32)
        self.data = be.array(np.ascontiguousarray(data.reshape(len(data), -1).T))
        target = inputs[self.loss.input_names[1]]
        if self.loss.op == "softmax_cross_entropy":
            hot = np.zeros(self.target.shape, np.float32)
            hot[target, np.arange(len(target))] = 1
        else:
            hot = np.asarray(target).reshape(len(target), -1).T
        self._set(self.target, hot)

    def set_learning_rate(self, rate):
        for lr_mult, optimizer, _ in self.optimizers:
            optimizer.learning_rate = rate * lr_mult

    def step(self, phase):
        # Layers change their input in place, the first one the batch.
        x, self.kept, at = be.array(self.data.get()), {}, 0
        inference = phase == "forward"
        for layer in self.graph.computed:
            for part in self.copied.get(layer.name, []):
                self._begin(layer, "forward", part)
                x = part.fprop(x, inference=inference)
                at += 1
            if self.job.observe and not layer.is_loss:
                self.kept[layer.name] = x.get().T.copy()
        self._begin(self.loss, "forward", self.cost)
        for part in self.parts[at:]:
            x = part.fprop(x)
        loss = self.weight * float(self.cost.get_cost(x, self.target)[0, 0])
        if self.job.observe:
            self.kept[self.loss.name] = np.float32(loss)
        if not inference:
            self._backward(x)
        if phase == "train":
            self._update()
        if self.clock is not None:
            self.clock.end()
        return loss

    def _backward(self, x):
        self._begin(self.loss, "backward", self.cost)
        error = self.cost.get_errors(x, self.target)
        if self.weight != 1:
            error[:] = error * self.weight
        names = {id(part): layer for layer in self.graph.computed
                 for part in self.copied.get(layer.name, [])}
        for part in reversed(self.parts):
            self._begin(names.get(id(part), self.loss), "backward", part)
            if error is not None:
                error = part.bprop(error)

    def _update(self):
        for _, optimizer, holders in self.optimizers:
            if self.clock is not None:
                self.clock.begin("", "update", type(optimizer).__name__)
            optimizer.optimize(holders, epoch=0)

    def _begin(self, layer, direction, part):
        if self.clock is not None:
            self.clock.begin(layer.name, direction, type(part).__name__)

    def profile(self):
        return self.profiled.rows()

    def gradients(self, sink):
        for binding in self.bindings:
            # neon's optimizer divides by the batch.
            binding.write(self.holders[binding.name].dW.get() / np.float32(self.job.batch), sink)

    def outputs(self, layers, sink):
        for name in layers:
            sink(name, self.kept[name])


class _Zeros(object):
    """An initializer: the contract sets the parameters."""

    @staticmethod
    def fill(tensor):
        tensor[:] = 0
