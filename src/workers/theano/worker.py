# SPDX-License-Identifier: Apache-2.0
"""Theano: shared variables and one compiled function per phase, with the update in its `updates`.

Compilation is build time. Theano keeps compiled C code in a cache, so a second build is shorter.
LRN is written as Lasagne does, since Theano has no op for it.
"""
import os

import numpy as np

from tench_worker import HUGE_PAGES, SHORT_SPIN, Adapter, BuildFacts, Unsupported
from tench_worker.lowering import Lowering
from tench_worker.network import ABILITIES
from tench_worker.process_facts import cache_folder
from tench_worker.profile import ProfileRows


class Worker(Adapter):
    name = "theano"
    package = "Theano"
    gpu = "Theano's GPU backend (libgpuarray) is not part of the environment"
    ops = tuple(word for word in ABILITIES if word != "lrn.region")
    updates = ("sgd",)
    tuning = (SHORT_SPIN, HUGE_PAGES)

    def load(self, job):
        import shutil
        compiler = shutil.which("g++")
        if compiler is None:
            raise Unsupported("Theano needs a C++ compiler; as root: apt-get install g++")
        # The environment's link to OpenBLAS, which the launcher put on the loader's path.
        folder = os.environ.get("LD_LIBRARY_PATH", "").split(":")[0]
        found = os.path.exists(os.path.join(folder, "libopenblas.so"))
        blas = "-L%s -lopenblas" % folder if found else "-lopenblas"
        flags = {"device": "cpu", "floatX": "float32", "openmp": "True", "blas.ldflags": blas,
                 "cxx": compiler, "base_compiledir": cache_folder("theano")}
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
        lowering = _Lowering(graph, job)
        lowering.shared, lowering.updates, lowering.random = self.shared, [], None
        loss = lowering.run(self.inputs)
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
        self.stats = theano.compile.profiling.ProfileStats(atexit_print=False) \
            if job.profile else None
        self.call = theano.function([], results, updates=updates, on_unused_input="ignore",
                                    profile=self.stats)
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

    def restart_profile(self):
        if self.stats is not None:
            self.stats.reset()

    def profile(self):
        """Theano merges the ops of several layers, so rows have no layer."""
        rows, outputs = ProfileRows(), self.call.maker.fgraph.outputs
        forward = _nodes_before(outputs[0])
        updates = set(output.owner for output in outputs[1:]) if self.job.phase == "train" else ()
        for node, seconds in self.stats.apply_time.items():
            kernel = type(node.op).__name__
            if kernel == "Elemwise":
                kernel += "{%s}" % type(node.op.scalar_op).__name__
            direction = "forward" if node in forward else \
                "update" if node in updates and kernel.startswith("Elemwise") else "backward"
            rows.add("", direction, kernel, 1e9 * seconds, self.stats.apply_callcount[node])
        return rows.rows()

    def gradients(self, sink):
        for name in self.gradient_names:
            sink(name, self.kept[name].get_value(borrow=True))

    def outputs(self, layers, sink):
        place = {layer.name: i + 1 for i, layer in enumerate(self.graph.computed)}
        for name in layers:
            sink(name, self.last[place[name]])


def _nodes_before(variable):
    """The nodes that compute a variable of the optimized graph."""
    found, front = set(), [variable.owner]
    while front:
        node = front.pop()
        if node is not None and node not in found:
            found.add(node)
            front.extend(each.owner for each in node.inputs)
    return found


class _Lowering(Lowering):
    def parameter(self, layer, suffix):
        return self.shared["%s.%s" % (layer.name, suffix)]

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
        return T.nnet.relu(x, float(layer["negative_slope"]))

    def sigmoid(self, layer, x):
        return T.nnet.sigmoid(x)

    def tanh(self, layer, x):
        return T.tanh(x)

    def power(self, layer, x):
        power, scale, shift = (np.float32(layer[key]) for key in ("power", "scale", "shift"))
        if power == 0 or scale == 0:
            return T.zeros_like(x) + shift ** power
        base = scale * x + shift
        return base if power == 1 else base ** power

    def fc(self, layer, x):
        y = T.dot(x, self.parameter(layer, "weight").T)
        return y + self.parameter(layer, "bias") if layer.has_bias else y

    def dropout(self, layer, x):
        ratio = layer["ratio"]
        if not self.drops(layer):
            return x
        if self.random is None:
            from theano.sandbox.rng_mrg import MRG_RandomStreams
            self.random = MRG_RandomStreams(self.job.seed % 2147462578 + 1)
        mask = self.random.binomial(layer.shape, p=1 - ratio, dtype="float32")
        return x * mask * np.float32(1 / (1 - ratio))

    def concat(self, layer, *inputs):
        return T.concatenate(inputs, 1)

    def slice(self, layer, x):
        return x[:, layer["begin"]:layer["end"]]

    def larger(self, x, y):
        return T.maximum(x, y)

    def flatten(self, layer, x):
        return x.reshape(layer.shape)

    reshape = flatten

    def scale(self, layer, x):
        y = x * self.per_channel(layer, self.parameter(layer, "weight"))
        return y + self.per_channel(layer, self.parameter(layer, "bias")) if layer.has_bias else y

    def softmax(self, layer, x):
        if len(layer.shape) == 2:
            return T.nnet.softmax(x)
        # Theano's op normalizes the rows of a matrix.
        rows = x.dimshuffle(0, 2, 3, 1)
        made = T.nnet.softmax(rows.reshape((-1, layer.shape[1])))
        return made.reshape(rows.shape).dimshuffle(0, 3, 1, 2)

    def embedding(self, layer, tokens):
        return self.parameter(layer, "weight")[tokens]

    def lstm(self, layer, x):
        """theano.scan over the time steps, the input projection before it."""
        batch, steps, hidden = layer.shape
        recurrent = self.parameter(layer, "weight_hidden").T
        projected = T.dot(x.dimshuffle(1, 0, 2), self.parameter(layer, "weight_input").T) + \
            self.parameter(layer, "bias")

        def step(given, h, c, recurrent):
            gates = given + T.dot(h, recurrent)
            i, f, g, o = (gates[:, k * hidden:(k + 1) * hidden] for k in range(4))
            c = T.nnet.sigmoid(f) * c + T.nnet.sigmoid(i) * T.tanh(g)
            return T.nnet.sigmoid(o) * T.tanh(c), c

        zeros = T.zeros((batch, hidden), dtype="float32")
        (output, _), _ = theano.scan(step, sequences=[projected], outputs_info=[zeros, zeros],
                                     non_sequences=[recurrent], n_steps=steps, strict=True)
        return output.dimshuffle(1, 0, 2)

    def mean_over_time(self, layer, x, lengths):
        steps = T.arange(layer.inputs[0].shape[1]).dimshuffle("x", 0)
        mask = T.cast(steps < lengths.dimshuffle(0, "x"), "float32").dimshuffle(0, 1, "x")
        return T.sum(x * mask, axis=1) / T.cast(lengths, "float32").dimshuffle(0, "x")

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
        ignored = layer["ignore_label"]
        if ignored is None:
            losses = T.nnet.categorical_crossentropy(T.nnet.softmax(scores), labels)
            return self.weighted(layer, T.mean(losses))
        counts = T.cast(T.neq(labels, ignored), "float32")
        safe = T.switch(T.eq(labels, ignored), 0, labels)
        losses = T.nnet.categorical_crossentropy(T.nnet.softmax(scores), safe)
        return self.weighted(layer, T.sum(losses * counts) /
                             T.maximum(T.sum(counts), np.float32(1)))

    def sigmoid_cross_entropy(self, layer, scores, targets):
        # Theano rewrites the logarithms of a sigmoid as softplus.
        losses = T.nnet.binary_crossentropy(T.nnet.sigmoid(scores), targets)
        return self.weighted(layer, T.sum(losses) / np.float32(self.graph.batch))

    def mean_squared_error(self, layer, values, targets):
        return self.weighted(layer, T.mean(T.sqr(values - targets)))
