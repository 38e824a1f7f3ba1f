# SPDX-License-Identifier: Apache-2.0
"""Theano: shared variables and one compiled function per phase, with the update in its `updates`.

Compilation is build time. Theano keeps compiled C code in a cache, so a second build is shorter.
LRN is written as Lasagne does, since Theano has no op for it.
"""
import os

import numpy as np

from tench_worker import Adapter, BuildFacts, Unsupported


class Worker(Adapter):
    name = "theano"
    package = "Theano"
    ops = ("input", "conv", "pool", "lrn", "relu", "fc", "dropout", "concat", "add", "flatten",
           "batch_norm", "softmax_cross_entropy")
    updates = ("sgd",)

    def facts(self):
        return {"gpu": "Theano's GPU backend (libgpuarray) is not part of the environment"}

    def load(self, job):
        import shutil
        compiler = shutil.which("g++")
        if compiler is None:
            raise Unsupported("Theano needs a C++ compiler; as root: apt-get install g++")
        cache = os.path.join(os.environ.get("XDG_CACHE_HOME") or
                             os.path.join(os.environ.get("HOME") or "/tmp", ".cache"),
                             "tench", "theano")
        # The environment's link to OpenBLAS, which the launcher put on the loader's path.
        folder = os.environ.get("LD_LIBRARY_PATH", "").split(":")[0]
        found = os.path.exists(os.path.join(folder, "libopenblas.so"))
        blas = "-L%s -lopenblas" % folder if found else "-lopenblas"
        flags = {"device": "cpu", "floatX": "float32", "openmp": "True", "blas.ldflags": blas,
                 "cxx": compiler, "base_compiledir": cache}
        os.environ["THEANO_FLAGS"] = ",".join("%s=%s" % pair for pair in sorted(flags.items()))
        global theano, T
        import theano
        import theano.tensor as T

    def build(self, graph, job):
        self.graph, self.job = graph, job
        self.shared, self.inputs = {}, {}
        for layer in graph.inputs:
            kind = np.float32 if layer["role"] == "data" else np.int32
            fill = np.ones if layer["role"] == "lengths" else np.zeros
            self.inputs[layer.name] = theano.shared(fill(layer.shape, kind), layer.name)
        for parameter in graph.parameters:
            self.shared[parameter.name] = self._zeros(parameter.name, parameter.shape)
        self.rate = theano.shared(np.float32(job.solver.lr), "rate")
        self.momenta = {}
        training = job.phase != "forward"
        lowering = _Lowering(self, training)
        loss = lowering.run()
        updates, results, self.gradient_names, gradients = list(lowering.updates), [loss], [], []
        if training:
            weights = [self.shared[p.name] for p in graph.trained]
            gradients = T.grad(loss, weights)
            self.gradient_names = [p.name for p in graph.trained]
            self.kept = {}
            if job.phase == "train":
                updates += self._updates(weights, gradients)
            if job.phase == "gradient" or job.observe:
                # Buffers that every step writes, so that no gradient is pruned.
                for parameter, gradient in zip(graph.trained, gradients):
                    buffer = self._zeros(parameter.name + ".gradient", parameter.shape)
                    self.kept[parameter.name] = buffer
                    updates.append((buffer, gradient))
        if job.observe:
            results += [lowering.values[layer.name] for layer in graph.computed]
        self.call = theano.function([], results, updates=updates, on_unused_input="ignore")
        return BuildFacts(0, {}, gradients_materialized=True)

    def _zeros(self, name, shape):
        return theano.shared(np.zeros(shape, np.float32), name)

    def _updates(self, weights, gradients):
        solver, updates = self.job.solver, []
        for p, w, g in zip(self.graph.trained, weights, gradients):
            v = self.momenta[p.name + ".momentum"] = self._zeros(p.name + ".momentum", p.shape)
            rate, decay = self.rate * np.float32(p.lr_mult), solver.weight_decay * p.decay_mult
            d = g + np.float32(decay) * w if decay else g
            u = np.float32(solver.momentum) * v + rate * d
            updates += [(v, u), (w, w - u)]
        return updates

    # --- the contract ---

    def set_parameters(self, source):
        for p in self.graph.trained:
            self.shared[p.name].set_value(source(p.name), borrow=True)

    def parameters(self, sink):
        for p in self.graph.trained:
            sink(p.name, self.shared[p.name].get_value(borrow=True))

    def set_state(self, source):
        for p in self.graph.statistics:
            self.shared[p.name].set_value(source(p.name), borrow=True)
        for name, variable in self.momenta.items():
            variable.set_value(source(name), borrow=True)

    def state(self, sink):
        for p in self.graph.statistics:
            sink(p.name, self.shared[p.name].get_value(borrow=True))
        for name, variable in self.momenta.items():
            sink(name, variable.get_value(borrow=True))

    def set_batch(self, inputs):
        for name, values in inputs.items():
            self.inputs[name].set_value(values, borrow=True)

    def set_learning_rate(self, rate):
        self.rate.set_value(np.float32(rate))

    def step(self, phase):
        self.last = self.call()
        return float(self.last[0])

    def gradients(self, sink):
        for name in self.gradient_names:
            sink(name, self.kept[name].get_value(borrow=True))

    def outputs(self, layers, sink):
        place = {layer.name: i + 1 for i, layer in enumerate(self.graph.computed)}
        for name in layers:
            sink(name, self.last[place[name]])


class _Lowering(object):
    def __init__(self, worker, training):
        self.worker, self.job, self.graph = worker, worker.job, worker.graph
        self.training, self.values, self.updates = training, {}, []
        self.random = None

    def run(self):
        loss = 0
        self.values.update(self.worker.inputs)
        for layer in self.graph.layers:
            if layer.op == "input":
                continue
            inputs = [self.values[name] for name in layer.input_names]
            value = getattr(self, layer.op)(layer, *inputs)
            self.values[layer.name] = value
            loss = loss + value if layer.is_loss else loss
        return loss

    def parameter(self, layer, suffix):
        return self.worker.shared["%s.%s" % (layer.name, suffix)]

    def per_channel(self, layer, values):
        return values.dimshuffle("x", 0, "x", "x") if len(layer.shape) == 4 else \
            values.dimshuffle("x", 0)

    def padded(self, x, shape, pad, fill):
        """An image with `pad` = (height, width) on both sides."""
        if pad == (0, 0):
            return x
        sizes = (shape[0], shape[1], shape[2] + 2 * pad[0], shape[3] + 2 * pad[1])
        frame = T.alloc(np.float32(fill), *sizes)
        inner = frame[:, :, pad[0]:pad[0] + shape[2], pad[1]:pad[1] + shape[3]]
        return T.set_subtensor(inner, x)

    def conv(self, layer, x):
        weight = layer.parameters["weight"]
        y = T.nnet.conv2d(x, self.parameter(layer, "weight"), layer.inputs[0].shape, weight.shape,
                          border_mode=layer["pad"], subsample=layer["stride"], filter_flip=False,
                          filter_dilation=layer["dilation"], num_groups=layer["groups"])
        return y + self.per_channel(layer, self.parameter(layer, "bias")) if layer.has_bias else y

    def pool(self, layer, x):
        from theano.tensor.signal.pool import pool_2d
        mode = "max" if layer["mode"] == "max" else "average_inc_pad"
        kernel, stride, pad = layer["kernel"], layer["stride"], layer["pad"]
        if not layer["ceil_mode"]:
            return pool_2d(x, kernel, ignore_border=True, stride=stride, pad=pad, mode=mode)
        # Partial windows and padding exclude each other in pool_2d.
        lowest = -np.finfo(np.float32).max if mode == "max" else 0
        x = self.padded(x, layer.inputs[0].shape, pad, lowest)
        y = pool_2d(x, kernel, ignore_border=False, stride=stride, mode=mode)
        return y[:, :, :layer.shape[2], :layer.shape[3]]

    def lrn(self, layer, x):
        size, half = layer["size"], layer["size"] // 2
        shape = layer.shape
        square = T.sqr(x)
        frame = T.alloc(np.float32(0), shape[0], shape[1] + 2 * half, shape[2], shape[3])
        frame = T.set_subtensor(frame[:, half:half + shape[1], :, :], square)
        total = sum(frame[:, i:i + shape[1], :, :] for i in range(size))
        share = layer["alpha"] / size
        return x * (np.float32(layer["k"]) + np.float32(share) * total) ** \
            np.float32(-layer["beta"])

    def relu(self, layer, x):
        return T.nnet.relu(x)

    def fc(self, layer, x):
        y = T.dot(x, self.parameter(layer, "weight").T)
        return y + self.parameter(layer, "bias") if layer.has_bias else y

    def dropout(self, layer, x):
        ratio = layer["ratio"]
        if not self.training or not self.job.dropout or ratio == 0:
            return x
        if self.random is None:
            from theano.sandbox.rng_mrg import MRG_RandomStreams
            self.random = MRG_RandomStreams(self.job.seed % 2147462578 + 1)
        mask = self.random.binomial(layer.shape, p=1 - ratio, dtype="float32")
        return x * mask * np.float32(1 / (1 - ratio))

    def concat(self, layer, *inputs):
        return T.concatenate(inputs, 1)

    def add(self, layer, *inputs):
        return T.add(*inputs)

    def flatten(self, layer, x):
        return x.reshape(layer.shape)

    def batch_norm(self, layer, x):
        from theano.tensor.nnet import bn
        if layer["eps"] < 1e-5:
            raise Unsupported("layer '%s': Theano has no batch_norm with eps below 1e-5" %
                              layer.name)
        # Theano compares the f32 value, and that of 1e-5 is below 1e-5 by a rounding.
        eps = max(np.float32(layer["eps"]), np.nextafter(np.float32(1e-5), np.float32(1)))
        axes = "spatial" if len(layer.shape) == 4 else "per-activation"
        channels = layer.shape[1]
        ones, zeros = np.ones(channels, np.float32), np.zeros(channels, np.float32)
        weight = self.parameter(layer, "weight") if layer.has_weight else T.constant(ones)
        bias = self.parameter(layer, "bias") if layer.has_bias else T.constant(zeros)
        mean, var = (self.parameter(layer, "running_mean"), self.parameter(layer, "running_var"))
        wide = [self.per_channel(layer, values) for values in (weight, bias, mean, var)]
        if not self.training:
            return bn.batch_normalization_test(x, wide[0], wide[1], wide[2], wide[3], axes, eps)
        y, _, _, new_mean, new_var = bn.batch_normalization_train(
            x, wide[0], wide[1], axes, eps, layer["momentum"], wide[2], wide[3])
        self.updates += [(mean, new_mean.flatten()), (var, new_var.flatten())]
        return y

    def softmax_cross_entropy(self, layer, scores, labels):
        losses = T.nnet.categorical_crossentropy(T.nnet.softmax(scores), labels)
        return np.float32(layer["loss_weight"]) * T.mean(losses)
