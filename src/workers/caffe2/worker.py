# SPDX-License-Identifier: Apache-2.0
"""Caffe2, the one in PyTorch 1.8: a core.Net with AddGradientOperators and MomentumSGDUpdate.

The operators are those that brew and caffe2.python.optimizer add. Weights are fed, so that there is
no initialization net.
"""
import numpy as np

from tench_worker import Adapter, BuildFacts, Unsupported
from tench_worker.binding import Binding, bind, gate_order
from tench_worker.lowering import Lowering
from tench_worker.network import average_share, exact_pads, product


class Worker(Adapter):
    name = "caffe2"
    package = "torch"
    serves = ("1.",)
    gpu = "the environment has no CUDA libraries"
    lone = "Caffe2 keeps the tensors of a process in one workspace"
    ops = ("input", "conv", "pool", "lrn", "relu", "relu.negative_slope", "sigmoid", "tanh", "fc",
           "dropout", "concat", "slice", "add", "add.coefficients", "multiply", "maximum",
           "flatten", "reshape", "batch_norm", "batch_norm.affine", "scale", "softmax",
           "embedding", "lstm", "mean_over_time", "softmax_cross_entropy",
           "sigmoid_cross_entropy", "mean_squared_error")

    def load(self, job):
        global core, workspace
        import warnings
        warnings.simplefilter("ignore")
        from caffe2.python import core, workspace
        core.GlobalInit(["caffe2", "--caffe2_log_level=2",
                         "--caffe2_omp_num_threads=%d" % job.threads,
                         "--caffe2_mkl_num_threads=%d" % job.threads])

    def build(self, graph, job):
        self.graph, self.job = graph, job
        self.bindings = bind(graph, special=_lstm_bindings)
        lowering = _Lowering(graph, job)
        self.model, self.values = lowering.make()
        net = self.model.net
        for binding in self.bindings:
            zeros = binding.zeros()
            workspace.FeedBlob(binding.name, zeros)
            workspace.FeedBlob(binding.name + ".momentum", zeros)
        for p in graph.statistics:
            workspace.FeedBlob(p.name, np.ones(p.shape, np.float32))
        for name, values in lowering.constants.items():
            workspace.FeedBlob(name, values)
        for layer in graph.inputs:
            workspace.FeedBlob(layer.name, np.ones(layer.shape, _type_of(layer)))
        workspace.FeedBlob("one", np.ones(1, np.float32))
        self.made = {}
        if job.phase != "forward":
            made = net.AddGradientOperators(lowering.losses)
            self.made = {b.name: str(made[b.name]) for b in self.bindings}
        if job.phase == "train":
            self._add_update(net)
        self.set_learning_rate(job.solver.lr)
        workspace.CreateNet(net)
        return BuildFacts(0, {}, gradients_materialized=True)

    def _add_update(self, net):
        solver = self.job.solver
        for binding in self.bindings:
            weight, gradient = binding.name, self.made[binding.name]
            if self.job.observe:  # the update writes into the gradient
                self.made[binding.name] = str(net.Copy(gradient, weight + ".kept"))
            decay = solver.weight_decay * binding.decay_mult
            if decay:
                factor = "decay.%r" % binding.decay_mult
                workspace.FeedBlob(factor, np.full(1, decay, np.float32))
                net.WeightedSum([gradient, "one", weight, factor], gradient)
            momentum = weight + ".momentum"
            net.MomentumSGDUpdate([gradient, momentum, "rate.%r" % binding.lr_mult, weight],
                                  [gradient, momentum, weight], momentum=solver.momentum,
                                  nesterov=0)

    # --- the contract ---

    def set_parameters(self, source):
        for binding in self.bindings:
            workspace.FeedBlob(binding.name, binding.read(source))

    def parameters(self, sink):
        for binding in self.bindings:
            binding.write(workspace.FetchBlob(binding.name), sink)

    def set_state(self, source):
        for p in self.graph.statistics:
            workspace.FeedBlob(p.name, source(p.name))
        for binding in self.bindings:
            # Caffe2's momentum includes the rate, as tench's does.
            workspace.FeedBlob(binding.name + ".momentum", binding.read(source, ".momentum"))

    def state(self, sink):
        for p in self.graph.statistics:
            sink(p.name, workspace.FetchBlob(p.name))
        if self.job.phase == "train":
            for binding in self.bindings:
                binding.write(workspace.FetchBlob(binding.name + ".momentum"), sink, ".momentum")

    def set_batch(self, inputs):
        for layer in self.graph.inputs:
            workspace.FeedBlob(layer.name,
                               np.ascontiguousarray(inputs[layer.name], _type_of(layer)))

    def set_learning_rate(self, rate):
        for lr_mult in set(binding.lr_mult for binding in self.bindings):
            workspace.FeedBlob("rate.%r" % lr_mult, np.full(1, rate * lr_mult, np.float32))

    def step(self, phase):
        workspace.RunNet(self.model.net)
        return sum(float(workspace.FetchBlob(self.values[layer.name]))
                   for layer in self.graph.computed if layer.is_loss)

    def gradients(self, sink):
        for binding in self.bindings:
            binding.write(workspace.FetchBlob(self.made[binding.name]), sink)

    def outputs(self, layers, sink):
        for name in layers:
            values = workspace.FetchBlob(self.values[name])
            if self.graph.by_name[name].op == "lstm":
                values = values.transpose(1, 0, 2)
            sink(name, values)


def _type_of(layer):
    return np.float32 if layer["role"] == "data" else np.int32


def _lstm_bindings(layer):
    """LSTMUnit has its gates in the order i, f, o, g."""
    if layer.op != "lstm":
        return None
    rows, inverse = gate_order("ifog", layer["hidden"])
    names = {"weight_input": "i2h_w", "bias": "i2h_b", "weight_hidden": "gates_t_w"}
    return [Binding("%s/%s" % (layer.name, theirs), [layer.parameters[suffix]],
                    lambda a: a[0][rows], lambda a: [a[inverse]])
            for suffix, theirs in names.items()]


class _Lowering(Lowering):
    def make(self):
        from caffe2.python.model_helper import ModelHelper
        self.model = ModelHelper(name="network", init_params=False)
        self.net, self.constants, self.losses = self.model.net, {}, []
        inputs = {layer.name: layer.name for layer in self.graph.inputs}
        self.run(inputs)
        return self.model, {name: str(blob) for name, blob in self.values.items()}

    def total(self, losses):
        """Each loss starts the backward pass by itself; the step adds their values."""
        self.losses = losses

    def parameter(self, layer, suffix):
        return "%s.%s" % (layer.name, suffix)

    def constant(self, layer, suffix, values):
        name = self.parameter(layer, suffix)
        self.constants[name] = np.asarray(values, np.float32)
        return name

    def with_bias(self, layer, x):
        found = [x, self.parameter(layer, "weight")]
        return found + [self.parameter(layer, "bias")] if layer.has_bias else found

    @staticmethod
    def window(layer, pads):
        found = {"order": "NCHW", "kernel_h": layer["kernel"][0], "kernel_w": layer["kernel"][1],
                 "stride_h": layer["stride"][0], "stride_w": layer["stride"][1]}
        for key, value in zip(("pad_t", "pad_b", "pad_l", "pad_r"), pads[0] + pads[1]):
            found[key] = max(0, value)
        return found

    def conv(self, layer, x):
        window = self.window(layer, [(pad, pad) for pad in layer["pad"]])
        return self.net.Conv(self.with_bias(layer, x), layer.name, group=layer["groups"],
                             dilation_h=layer["dilation"][0], dilation_w=layer["dilation"][1],
                             **window)

    def pool(self, layer, x):
        window = self.window(layer, exact_pads(layer))
        if layer["mode"] == "max":
            return self.net.MaxPool(x, layer.name, **window)
        share = average_share(layer)
        if share is None:
            return self.net.AveragePool(x, layer.name, count_include_pad=1, **window)
        y = self.net.AveragePool(x, layer.name + ".sums", count_include_pad=1, **window)
        wide = np.ascontiguousarray(np.broadcast_to(share, layer.shape))
        fixed = self.net.StopGradient(self.constant(layer, "share", wide), layer.name + ".fixed")
        return self.net.Mul([y, fixed], layer.name)

    def lrn(self, layer, x):
        if layer["size"] % 2 == 0 or layer["region"] != "across_channels":
            raise Unsupported("layer '%s': Caffe2 has no such lrn" % layer.name)
        return self.net.LRN(x, [layer.name, layer.name + ".scale"], size=layer["size"],
                            alpha=float(layer["alpha"]), beta=float(layer["beta"]),
                            bias=float(layer["k"]), order="NCHW")[0]

    def relu(self, layer, x):
        slope = float(layer["negative_slope"])
        return self.net.Relu(x, layer.name) if slope == 0 else \
            self.net.LeakyRelu(x, layer.name, alpha=slope)

    def sigmoid(self, layer, x):
        return self.net.Sigmoid(x, layer.name)

    def tanh(self, layer, x):
        return self.net.Tanh(x, layer.name)

    def fc(self, layer, x):
        inputs = self.with_bias(layer, x)
        if not layer.has_bias:
            inputs.append(self.constant(layer, "zero", np.zeros(layer["out_features"])))
        return self.net.FC(inputs, layer.name)

    def dropout(self, layer, x):
        if not self.drops(layer):
            return x
        return self.net.Dropout(x, [layer.name, layer.name + ".mask"], ratio=layer["ratio"],
                                is_test=0)[0]

    def concat(self, layer, *inputs):
        return self.net.Concat(list(inputs), [layer.name, layer.name + ".sizes"], axis=1)[0]

    def slice(self, layer, x):
        rest = len(layer.shape) - 2
        return self.net.Slice(x, layer.name, starts=[0, layer["begin"]] + [0] * rest,
                              ends=[-1, layer["end"]] + [-1] * rest)

    def add(self, layer, *inputs):
        factors = layer["coefficients"] or [1] * len(inputs)
        terms = [x if factor == 1 else
                 self.net.Scale(x, "%s.term%d" % (layer.name, i), scale=float(factor))
                 for i, (x, factor) in enumerate(zip(inputs, factors))]
        return self.net.Sum(terms, layer.name)

    def multiply(self, layer, *inputs):
        result = inputs[0]
        for i, x in enumerate(inputs[1:], 2):
            name = layer.name if i == len(inputs) else "%s.%d" % (layer.name, i)
            result = self.net.Mul([result, x], name)
        return result

    def maximum(self, layer, *inputs):
        return self.net.Max(list(inputs), layer.name)

    def flatten(self, layer, x):
        return self.net.Flatten(x, layer.name, axis=1)

    def reshape(self, layer, x):
        return self.net.Reshape(x, [layer.name, layer.name + ".old"], shape=layer.shape)[0]

    def batch_norm(self, layer, x):
        if len(layer.shape) != 4:
            raise Unsupported("layer '%s': Caffe2 has no batch_norm of vectors" % layer.name)
        channels = layer.shape[1]
        weights = [self.parameter(layer, "weight"), self.parameter(layer, "bias")] \
            if layer.has_weight else [self.constant(layer, "one", np.ones(channels)),
                                      self.constant(layer, "zero", np.zeros(channels))]
        running = [self.parameter(layer, "running_mean"), self.parameter(layer, "running_var")]
        settings = {"order": "NCHW", "epsilon": float(layer["eps"]),
                    "momentum": 1.0 - layer["momentum"]}
        if not self.training:
            return self.net.SpatialBN([x] + weights + running, layer.name, is_test=1, **settings)
        saved = [layer.name + ".batch_mean", layer.name + ".batch_inv_std"]
        return self.net.SpatialBN([x] + weights + running, [layer.name] + running + saved,
                                  is_test=0, **settings)[0]

    def scale(self, layer, x):
        name = layer.name + ".product" if layer.has_bias else layer.name
        y = self.net.Mul([x, self.parameter(layer, "weight")], name, broadcast=1, axis=1)
        if not layer.has_bias:
            return y
        return self.net.Add([y, self.parameter(layer, "bias")], layer.name, broadcast=1, axis=1)

    def softmax(self, layer, x):
        if len(layer.shape) != 2:
            raise Unsupported("layer '%s': Caffe2's softmax normalizes vectors only" % layer.name)
        return self.net.Softmax(x, layer.name, axis=1)

    def embedding(self, layer, tokens):
        # The dense gradient of Gather is for a vector of indices.
        flat = self.net.FlattenToVec(tokens, layer.name + ".tokens")
        rows = self.net.Gather([self.parameter(layer, "weight"), flat], layer.name + ".rows",
                               dense_gradient=1)
        return self.net.Reshape(rows, [layer.name, layer.name + ".old"], shape=layer.shape)[0]

    def lstm(self, layer, x):
        """Sequences are time-major inside; `outputs` turns them back."""
        from caffe2.python import rnn_cell
        batch, steps, hidden = layer.shape
        x = self.net.Transpose(x, layer.name + ".time_major", axes=(1, 0, 2))
        begin = [self.constant(layer, kind, np.zeros((1, batch, hidden)))
                 for kind in ("initial_hidden", "initial_cell")]
        lengths = self.parameter(layer, "steps")
        self.constants[lengths] = np.full(batch, steps, np.int32)
        # The cell looks its second bias up under this name; it stays 0.
        self.constants[layer.name + "/gates_t_b"] = np.zeros(4 * hidden, np.float32)
        made = rnn_cell.LSTM(self.model, x, lengths, begin, layer.inputs[0].shape[2], hidden,
                             layer.name, memory_optimization=False, forget_bias=0.0)
        return made[0]

    def mean_over_time(self, layer, x, lengths):
        """A product with 1 / length for the steps that count, 0 for the others."""
        batch, steps = layer.inputs[0].shape[:2]
        if layer.inputs[0].op == "lstm":
            x = self.net.Transpose(x, layer.name + ".batch_major", axes=(1, 0, 2))
        ones = self.constant(layer, "ones", np.ones((batch, steps)))
        mask = self.net.SequenceMask([ones, lengths], layer.name + ".mask", mode="sequence",
                                     fill_val=0.0)
        real = self.net.Cast(lengths, layer.name + ".lengths", to=1)
        share = self.net.Div([mask, real], layer.name + ".shares", broadcast=1, axis=0)
        row = self.net.StopGradient(self.net.ExpandDims(share, layer.name + ".row", dims=[1]),
                                    layer.name + ".fixed")
        mean = self.net.BatchMatMul([row, x], layer.name + ".wide")
        return self.net.Squeeze(mean, layer.name, dims=[1])

    def softmax_cross_entropy(self, layer, scores, labels):
        return self.net.SoftmaxWithLoss([scores, labels], [layer.name + ".softmax", layer.name],
                                        scale=float(layer["loss_weight"]))[1]

    def averaged(self, layer, losses, factor):
        mean = self.net.AveragedLoss(losses, layer.name + ".mean")
        return self.net.Scale(mean, layer.name, scale=float(layer["loss_weight"]) * factor)

    def sigmoid_cross_entropy(self, layer, scores, targets):
        losses = self.net.SigmoidCrossEntropyWithLogits([scores, targets], layer.name + ".losses")
        # Caffe2 averages over the elements of a sample.
        return self.averaged(layer, losses, product(layer.inputs[0].shape[1:]))

    def mean_squared_error(self, layer, values, targets):
        fixed = self.net.StopGradient(targets, layer.name + ".targets")
        losses = self.net.SquaredL2Distance([values, fixed], layer.name + ".losses")
        return self.averaged(layer, losses, 2.0 / product(layer.inputs[0].shape[1:]))
