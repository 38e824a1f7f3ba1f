# SPDX-License-Identifier: Apache-2.0
"""MXNet 1.2 from Python: a symbol bound to an executor, as mxnet.mod.Module does it.

The outputs SoftmaxOutput, LogisticRegressionOutput and LinearRegressionOutput start the backward
pass; the loss is a value beside them. MXNet 1.2 trains no RNN operator on a CPU, so an LSTM is
mxnet.rnn.LSTMCell, unrolled. The C++ worker `mxnet` runs 1.9, whose C API 1.2 lacks.
"""
import json

import numpy as np

from tench_worker import Adapter, BuildFacts
from tench_worker.lowering import Lowering
from tench_worker.network import ABILITIES, average_share, exact_pads, product
from tench_worker.profile import ProfileRows
from tench_worker.serve import find_version

PROFILE = "mxnet_profile.json"  # in the run's temporary folder


class Worker(Adapter):
    name = "mxnet-python"
    package = ("mxnet-mkl", "mxnet")
    gpu = "the CPU package of MXNet has no GPU kernels"
    ops = ABILITIES

    @property
    def version(self):
        """The wheel with MKL-DNN has the version of the plain one."""
        mkl = find_version("mxnet-mkl")
        return mkl + "-mkl" if mkl else ""

    def load(self, job):
        global mx
        import mxnet as mx

    def build(self, graph, job):
        self.graph, self.job, self.rate = graph, job, job.solver.lr
        lowering = _Lowering(graph, job)
        outputs = lowering.make()
        self.scales = lowering.scales
        trained = [p.name for p in graph.trained] if job.phase != "forward" else []
        symbol = mx.sym.Group(outputs)
        shapes = lowering.shapes
        args = {name: mx.nd.zeros(shapes[name]) for name in symbol.list_arguments()}
        statistics = {name: mx.nd.zeros(shapes[name]) for name in symbol.list_auxiliary_states()}
        for name, values in lowering.constants.items():
            args[name][:] = values
        self.kept = {name: mx.nd.zeros(shapes[name]) for name in trained}
        self.executor = symbol.bind(
            mx.cpu(), args, args_grad=self.kept, aux_states=statistics,
            grad_req={name: "write" if name in trained else "null" for name in args})
        self.args, self.statistics = args, statistics
        self.momenta = {}
        if job.phase == "train":
            self.momenta = {name: mx.nd.zeros(shapes[name]) for name in trained}
        # Outputs of layers are read from an executor of their own: outputs of the first one would
        # change the layouts of its backward pass, and MXNet's monitor does not see every op.
        self.watcher = None
        if job.observe:
            values = mx.sym.Group([lowering.values[layer.name] for layer in graph.computed])
            names = values.list_arguments()
            self.watched_statistics = {name: array.copy() for name, array in statistics.items()}
            self.watcher = values.bind(mx.cpu(), {name: args[name] for name in names},
                                       aux_states=self.watched_statistics, grad_req="null")
        mx.nd.waitall()
        if job.profile:
            mx.profiler.set_config(filename=PROFILE, profile_symbolic=True,
                                   profile_imperative=True, profile_memory=False,
                                   profile_api=False, aggregate_stats=False)
        return BuildFacts(0, {}, gradients_materialized=True)

    # --- the contract ---

    def set_parameters(self, source):
        mx.random.seed(self.job.seed % (1 << 31))
        for p in self.graph.trained:
            self.args[p.name][:] = source(p.name)

    def parameters(self, sink):
        for p in self.graph.trained:
            sink(p.name, self.args[p.name].asnumpy())

    def set_state(self, source):
        for p in self.graph.statistics:
            self.statistics[p.name][:] = source(p.name) / self._scale(p)
        for name, momentum in self.momenta.items():
            momentum[:] = -source(name + ".momentum")

    def state(self, sink):
        for p in self.graph.statistics:
            sink(p.name, self.statistics[p.name].asnumpy() * self._scale(p))
        # MXNet adds its momentum, tench subtracts it; both include the rate.
        for name, momentum in self.momenta.items():
            sink(name + ".momentum", -momentum.asnumpy())

    def _scale(self, parameter):
        return np.float32(self.scales.get(parameter.name, 1))

    def set_batch(self, inputs):
        for name, values in inputs.items():
            if name in self.args:
                self.args[name][:] = values
        mx.nd.waitall()

    def set_learning_rate(self, rate):
        self.rate = rate

    def step(self, phase):
        if self.watcher is not None:
            for name, array in self.statistics.items():
                array.copyto(self.watched_statistics[name])
            self.watcher.forward(is_train=phase != "forward")
            mx.nd.waitall()
        outputs = self.executor.forward(is_train=phase != "forward")
        if phase != "forward":
            self.executor.backward()
        if phase == "train":
            self._update()
        mx.nd.waitall()
        return float(outputs[0].asnumpy())

    def _update(self):
        solver = self.job.solver
        for p in self.graph.trained:
            weight = self.args[p.name]
            mx.nd.sgd_mom_update(weight, self.kept[p.name], self.momenta[p.name], out=weight,
                                 lr=self.rate * p.lr_mult, momentum=solver.momentum,
                                 wd=solver.weight_decay * p.decay_mult)

    def restart_profile(self):
        if self.job.profile:
            mx.profiler.set_state("run")

    def profile(self):
        """MXNet's trace has the type of an op, not its name, so rows have no layer."""
        mx.profiler.set_state("stop")
        mx.profiler.dump()
        with open(PROFILE) as file:
            events = json.load(file)["traceEvents"]
        rows, begun = ProfileRows(), {}
        for event in events:
            if event.get("cat") != "operator":
                continue
            # "[Convolution,Activation]" executes as one.
            kernel, key = event["name"].strip("[]"), (event["tid"], event["name"])
            if event["ph"] == "B":
                begun[key] = event["ts"]
            elif key in begun:
                direction = "backward" if "_backward" in kernel else \
                    "update" if kernel.endswith("_update") else "forward"
                rows.add("", direction, kernel, 1000 * (event["ts"] - begun.pop(key)))
        return rows.rows()

    def gradients(self, sink):
        for p in self.graph.trained:
            sink(p.name, self.kept[p.name].asnumpy())

    def outputs(self, layers, sink):
        place = {layer.name: i for i, layer in enumerate(self.graph.computed)}
        for name in layers:
            sink(name, self.watcher.outputs[place[name]].asnumpy())


class _Lowering(Lowering):
    def make(self):
        """The symbol's outputs: the loss, and the heads of the backward pass."""
        self.shapes = {p.name: p.shape for p in self.graph.parameters}
        self.heads, self.constants, self.scales = [], {}, {}
        inputs = {}
        for layer in self.graph.inputs:
            inputs[layer.name] = mx.sym.Variable(layer.name)
            self.shapes[layer.name] = layer.shape
        loss = mx.sym.BlockGrad(self.run(inputs))
        return [loss] + self.heads

    def parameter(self, layer, suffix):
        name = "%s.%s" % (layer.name, suffix)
        return mx.sym.Variable(name, shape=self.shapes[name])

    def constant(self, layer, suffix, values):
        name = "%s.%s" % (layer.name, suffix)
        self.constants[name], self.shapes[name] = values, values.shape
        return mx.sym.Variable(name, shape=values.shape)

    def weights(self, layer):
        found = {"weight": self.parameter(layer, "weight"), "no_bias": not layer.has_bias}
        if layer.has_bias:
            found["bias"] = self.parameter(layer, "bias")
        return found

    def conv(self, layer, x):
        return mx.sym.Convolution(
            x, kernel=layer["kernel"], stride=layer["stride"], pad=layer["pad"],
            dilate=layer["dilation"], num_filter=layer["out_channels"], num_group=layer["groups"],
            name=layer.name, **self.weights(layer))

    def pool(self, layer, x):
        kernel, stride, pad = layer["kernel"], layer["stride"], layer["pad"]
        mode = layer["mode"]
        if layer["global"]:
            return mx.sym.Pooling(x, kernel=(1, 1), global_pool=True, pool_type=mode,
                                  name=layer.name)
        sizes, windows = layer.inputs[0].shape[2:], layer.shape[2:]
        valid = all((sizes[i] + 2 * pad[i] - kernel[i]) // stride[i] + 1 == windows[i]
                    for i in (0, 1))
        if valid:
            return mx.sym.Pooling(x, kernel=kernel, stride=stride, pad=pad, pool_type=mode,
                                  name=layer.name)
        # MXNet rounds up in both dimensions or in none, and drops no window. With explicit
        # padding the windows fit exactly.
        widths = (0, 0, 0, 0) + tuple(max(0, p) for pair in exact_pads(layer) for p in pair)
        lowest = -np.finfo(np.float32).max if mode == "max" else 0
        x = mx.sym.Pad(x, mode="constant", constant_value=float(lowest), pad_width=widths)
        y = mx.sym.Pooling(x, kernel=kernel, stride=stride, pool_type=mode, name=layer.name)
        share = None if mode == "max" else average_share(layer)
        if share is None:
            return y
        return mx.sym.broadcast_mul(y, self.constant(layer, "share", share[None, None]))

    def lrn(self, layer, x):
        size = layer["size"]
        if layer["region"] == "across_channels":
            return mx.sym.LRN(x, nsize=size, alpha=layer["alpha"], beta=layer["beta"],
                              knorm=layer["k"], name=layer.name)
        mean = mx.sym.Pooling(mx.sym.square(x), kernel=(size, size), stride=(1, 1),
                              pad=(size // 2, size // 2), pool_type="avg")
        return x * (layer["k"] + layer["alpha"] * mean) ** (-layer["beta"])

    def relu(self, layer, x):
        slope = layer["negative_slope"]
        if slope == 0:
            return mx.sym.Activation(x, act_type="relu", name=layer.name)
        return mx.sym.LeakyReLU(x, act_type="leaky", slope=slope, name=layer.name)

    def sigmoid(self, layer, x):
        return mx.sym.Activation(x, act_type="sigmoid", name=layer.name)

    def tanh(self, layer, x):
        return mx.sym.Activation(x, act_type="tanh", name=layer.name)

    def power(self, layer, x):
        power, scale, shift = (float(layer[key]) for key in ("power", "scale", "shift"))
        if power == 0 or scale == 0:
            return mx.sym.ones_like(x) * shift ** power
        base = scale * x + shift
        return base if power == 1 else base ** power

    def fc(self, layer, x):
        return mx.sym.FullyConnected(x, num_hidden=layer["out_features"], name=layer.name,
                                     **self.weights(layer))

    def dropout(self, layer, x):
        return mx.sym.Dropout(x, p=layer["ratio"], name=layer.name) if self.drops(layer) else x

    def concat(self, layer, *inputs):
        return mx.sym.Concat(*inputs, dim=1, name=layer.name)

    def slice(self, layer, x):
        return mx.sym.slice_axis(x, axis=1, begin=layer["begin"], end=layer["end"])

    def larger(self, x, y):
        return mx.sym.maximum(x, y)

    def flatten(self, layer, x):
        # FullyConnected flattens. Flatten of 1.2 with MKL-DNN reads blocked layouts wrong.
        return x if self.feeds_dense(layer) else mx.sym.Flatten(x, name=layer.name)

    def feeds_dense(self, layer):
        readers = self.graph.readers(layer.name)
        return all(reader.op == "fc" or (reader.op == "dropout" and self.feeds_dense(reader))
                   for reader in readers)

    def reshape(self, layer, x):
        return mx.sym.Reshape(x, shape=layer.shape, name=layer.name)

    def batch_norm(self, layer, x):
        channels = layer.shape[1:2]
        if layer.has_weight:
            weight, bias = self.parameter(layer, "weight"), self.parameter(layer, "bias")
        else:
            weight = self.constant(layer, "one", np.ones(channels, np.float32))
            bias = self.constant(layer, "zero", np.zeros(channels, np.float32))
        # MXNet averages the biased variance of m elements: tench's times (m - 1) / m.
        count = product(layer.shape) // layer.shape[1]
        if self.training and count > 1:
            self.scales[layer.name + ".running_var"] = count / (count - 1.0)
        return mx.sym.BatchNorm(
            x, weight, bias, self.parameter(layer, "running_mean"),
            self.parameter(layer, "running_var"), fix_gamma=False, eps=layer["eps"],
            momentum=1 - layer["momentum"], name=layer.name)

    def scale(self, layer, x):
        view = (1, -1) + (1,) * (len(layer.shape) - 2)

        def wide(suffix):
            return mx.sym.Reshape(self.parameter(layer, suffix), shape=view)

        y = mx.sym.broadcast_mul(x, wide("weight"))
        return mx.sym.broadcast_add(y, wide("bias")) if layer.has_bias else y

    def softmax(self, layer, x):
        return mx.sym.softmax(x, axis=1)

    def embedding(self, layer, tokens):
        return mx.sym.Embedding(tokens, weight=self.parameter(layer, "weight"),
                                input_dim=layer["vocabulary"], output_dim=layer["dimension"],
                                name=layer.name)

    def lstm(self, layer, x):
        """The gates have tench's order. The second bias is a constant 0."""
        batch, steps, hidden = layer.shape
        params = mx.rnn.RNNParams("")
        params._params = {
            "i2h_weight": self.parameter(layer, "weight_input"),
            "i2h_bias": self.parameter(layer, "bias"),
            "h2h_weight": self.parameter(layer, "weight_hidden"),
            "h2h_bias": self.constant(layer, "second_bias", np.zeros(4 * hidden, np.float32))}
        cell = mx.rnn.LSTMCell(hidden, prefix="", params=params)
        zero = np.zeros((batch, hidden), np.float32)
        begin = [self.constant(layer, "initial_" + kind, zero) for kind in ("hidden", "cell")]
        return cell.unroll(steps, x, begin_state=begin, layout="NTC", merge_outputs=True)[0]

    def mean_over_time(self, layer, x, lengths):
        time_major = mx.sym.SequenceMask(mx.sym.transpose(x, axes=(1, 0, 2)), lengths,
                                         use_sequence_length=True, value=0)
        return mx.sym.broadcast_div(mx.sym.sum(time_major, axis=0),
                                    mx.sym.expand_dims(lengths, axis=1))

    # The losses: a head that starts the backward pass, and a value.

    def head(self, symbol):
        if self.training:
            self.heads.append(symbol)

    def softmax_cross_entropy(self, layer, scores, labels):
        weight, ignored = float(layer["loss_weight"]), layer["ignore_label"]
        batch = self.graph.batch
        fixed = mx.sym.BlockGrad(scores)
        losses = -mx.sym.pick(mx.sym.log_softmax(fixed, axis=1), labels, axis=1)
        if ignored is None:
            self.head(mx.sym.SoftmaxOutput(scores, labels, grad_scale=weight / batch))
            return mx.sym.sum(losses) * (weight / batch)
        self.head(mx.sym.SoftmaxOutput(scores, labels, grad_scale=weight, use_ignore=True,
                                       ignore_label=ignored, normalization="valid"))
        counts = labels != ignored
        return weight * mx.sym.sum(losses * counts) / \
            mx.sym.broadcast_maximum(mx.sym.sum(counts), mx.sym.ones((1,)))

    def sigmoid_cross_entropy(self, layer, scores, targets):
        batch, weight = self.graph.batch, float(layer["loss_weight"])
        # MXNet divides the gradient by the elements of one sample, not by the batch.
        scale = weight * product(layer.inputs[0].shape[1:]) / batch
        self.head(mx.sym.LogisticRegressionOutput(scores, targets, grad_scale=scale))
        x = mx.sym.BlockGrad(scores)
        # No exponential overflows in this form.
        losses = mx.sym.relu(x) - x * targets + mx.sym.log1p(mx.sym.exp(-mx.sym.abs(x)))
        return mx.sym.sum(losses) * (weight / batch)

    def mean_squared_error(self, layer, values, targets):
        weight = float(layer["loss_weight"])
        self.head(mx.sym.LinearRegressionOutput(values, targets,
                                                grad_scale=2 * weight / self.graph.batch))
        squares = mx.sym.square(mx.sym.BlockGrad(values) - targets)
        return mx.sym.sum(squares) * (weight / product(layer.inputs[0].shape))
