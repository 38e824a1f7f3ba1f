# SPDX-License-Identifier: Apache-2.0
"""TensorFlow 1: a graph and a session, as its users wrote them.

Images are NHWC, the only layout of its CPU kernels. Grouped convolutions are split and
concatenated. Batches are variables, so that a fixed batch is resident. The update is
MomentumOptimizer or AdamOptimizer, one per learning-rate multiplier.
"""
import re

import numpy as np

from tench_worker import HUGE_PAGES, Adapter, BuildFacts, Option, Unsupported, candidate
from tench_worker.binding import Binding, bind, gate_order
from tench_worker.layout import images_to_nchw, images_to_nhwc
from tench_worker.lowering import Lowering
from tench_worker.network import ABILITIES, average_share, exact_pads
from tench_worker.profile import ProfileRows

INTER_OP = Option("inter_op", "ops that run concurrently; `threads` is the job's number", "1",
                  ("1", "threads"))


class Worker(Adapter):
    name = "tensorflow1"
    package = "tensorflow"
    serves = ("1.",)
    gpu = "the CPU package of TensorFlow has no GPU kernels"
    ops = ABILITIES
    updates = ("sgd", "nesterov", "adam", "clip_gradients")
    options = (INTER_OP,)
    tuning = (candidate({"inter_op": "threads"}), HUGE_PAGES)

    def load(self, job):
        global tf
        import warnings
        warnings.simplefilter("ignore")  # numpy's aliases that TensorFlow 1 uses
        import tensorflow as tf

    def build(self, graph, job):
        self.graph, self.job, self.rate = graph, job, job.solver.lr
        self.session, self.profiled = None, ProfileRows() if job.profile else None
        inter_op = job.option(INTER_OP)
        self._make(inter_op)
        return BuildFacts(0, {"inter_op": inter_op}, gradients_materialized=True)

    def _make(self, inter_op):
        if self.session is not None:
            self.session.close()
        threads = self.job.threads
        config = tf.ConfigProto(
            intra_op_parallelism_threads=threads,
            inter_op_parallelism_threads=threads if inter_op == "threads" else 1)
        with tf.Graph().as_default():
            tf.set_random_seed(self.job.seed % (1 << 31))
            self._make_graph()
            self.session = tf.Session(config=config)
            self.initialize = tf.global_variables_initializer()
        self.session.run(self.initialize)
        # One run allocates the memory of a step and places the graph. The contract sets all
        # variables afterwards.
        self._run(self.phase_fetch)

    def _make_graph(self):
        self.bindings = bind(self.graph, conv="hwio", fc="io", special=_lstm_bindings)
        self.placeholders, self.variables, self.assigns = {}, {}, {}
        for layer in self.graph.inputs:
            real = layer["role"] == "data"
            shape = _nhwc_shape(layer.shape) if real else layer.shape
            fill = 1 if layer["role"] == "lengths" else 0
            self._variable(layer.name, shape, tf.float32 if real else tf.int32, False, fill)
        for binding in self.bindings:
            zeros = binding.zeros()
            self._variable(binding.name, zeros.shape, tf.float32, True)
        for parameter in self.graph.statistics:
            self._variable(parameter.name, parameter.shape, tf.float32, False)
        self.rate_feed = tf.placeholder(tf.float32, [], "rate")

        training = self.job.phase != "forward"
        lowering = _Lowering(self)
        self.loss = lowering.run({layer.name: self.variables[layer.name]
                                  for layer in self.graph.inputs})
        self.values = lowering.values
        fetch = {"loss": self.loss}
        self.gradient_tensors, targets = [], list(lowering.updates)
        if training:
            updates = self._gradients()
            if self.job.phase == "train":
                targets += updates
            else:
                targets += [gradient.op for gradient in self.gradient_tensors]
        fetch["done"] = tf.group(*targets) if targets else tf.no_op()
        if self.job.observe:
            # An identity keeps grappler from fusing the op away.
            fetch["outputs"] = {layer.name: tf.identity(self.values[layer.name])
                                for layer in self.graph.computed}
            fetch["gradients"] = list(self.gradient_tensors)
        self.phase_fetch = fetch

    def _variable(self, name, shape, dtype, trainable, fill=0):
        safe = "".join(c if c.isalnum() or c in "_." else "_" for c in name)
        variable = tf.Variable(np.full(shape, fill, dtype.as_numpy_dtype), trainable=trainable,
                               name="v_" + safe, dtype=dtype)
        feed = tf.placeholder(dtype, shape)
        self.variables[name], self.placeholders[name] = variable, feed
        self.assigns[name] = variable.assign(feed)

    def _optimizer(self, multiplier):
        solver, rate = self.job.solver, self.rate_feed * multiplier
        if solver.type == "adam":
            return tf.train.AdamOptimizer(rate, solver.momentum, solver.momentum2, solver.delta)
        return tf.train.MomentumOptimizer(rate, solver.momentum,
                                          use_nesterov=solver.type == "nesterov")

    def _gradients(self):
        solver = self.job.solver
        variables = [self.variables[binding.name] for binding in self.bindings]
        self.optimizers = {mult: self._optimizer(mult)
                           for mult in set(b.lr_mult for b in self.bindings)}
        # compute_gradients gates the gradients of an op, without which an update could overtake
        # the backward pass that still reads the variable.
        first = next(iter(self.optimizers.values()))
        pairs = first.compute_gradients(self.loss, variables)
        dense = [tf.convert_to_tensor(gradient) for gradient, _ in pairs]
        self.gradient_tensors = dense
        if self.job.phase != "train":
            return []
        if solver.clip_gradients > 0:
            counted = [i for i, b in enumerate(self.bindings) if b.lr_mult != 0]
            clipped, _ = tf.clip_by_global_norm([dense[i] for i in counted],
                                                solver.clip_gradients)
            dense = list(dense)
            for i, gradient in zip(counted, clipped):
                dense[i] = gradient
        updates = []
        for mult, optimizer in self.optimizers.items():
            group = []
            for binding, gradient, variable in zip(self.bindings, dense, variables):
                decay = solver.weight_decay * binding.decay_mult
                if binding.lr_mult == mult:
                    group.append((gradient + decay * variable if decay else gradient, variable))
            updates.append(optimizer.apply_gradients(group))
        return updates

    # --- the contract ---

    def _run(self, fetch):
        return self.session.run(fetch, {self.rate_feed: self.rate})

    def _assign(self, triples):
        """Runs assignments (op, its placeholder, values).

        Every new set of fetches makes TensorFlow prune the whole graph, so small values go in one
        run. Large ones do not, because both copies count in the memory of the build.
        """
        ops, feeds, size = [], {}, 0
        for op, placeholder, values in triples:
            ops.append(op)
            feeds[placeholder] = values
            size += values.nbytes
            if size > 1 << 22:
                self.session.run(ops, feeds)
                ops, feeds, size = [], {}, 0
        if ops:
            self.session.run(ops, feeds)

    def _assignment(self, name, values):
        return self.assigns[name].op, self.placeholders[name], values

    def set_parameters(self, source):
        self.session.run(self.initialize)
        self._assign(self._assignment(binding.name, binding.read(source))
                     for binding in self.bindings)

    def parameters(self, sink):
        values = self.session.run([self.variables[binding.name] for binding in self.bindings])
        for binding, value in zip(self.bindings, values):
            binding.write(value, sink)

    def _slots(self, binding):
        """(suffix, slot, factor): NAME.momentum is factor times the slot."""
        optimizer, variable = self.optimizers[binding.lr_mult], self.variables[binding.name]
        if self.job.solver.type == "adam":
            return [(".momentum", optimizer.get_slot(variable, "m"), 1.0),
                    (".momentum2", optimizer.get_slot(variable, "v"), 1.0)]
        # TensorFlow applies the rate to the momentum, tench's momentum includes it.
        return [(".momentum", optimizer.get_slot(variable, "momentum"),
                 self.rate * binding.lr_mult)]

    def set_state(self, source):
        self._assign(self._assignment(p.name, source(p.name)) for p in self.graph.statistics)
        if self.job.phase == "train":
            self._assign(self._momenta_of(source))

    def _momenta_of(self, source):
        for binding in self.bindings:
            for suffix, slot, factor in self._slots(binding):
                values = binding.read(source, suffix)
                values = values / np.float32(factor) if factor else np.zeros_like(values)
                yield slot.initializer, slot.initializer.inputs[1], values

    def state(self, sink):
        statistics = self.graph.statistics
        values = self.session.run([self.variables[p.name] for p in statistics]) \
            if statistics else []
        for parameter, value in zip(statistics, values):
            sink(parameter.name, value)
        if self.job.phase != "train":
            return
        slots = [(binding,) + slot for binding in self.bindings for slot in self._slots(binding)]
        for (binding, suffix, _, factor), value in zip(
                slots, self.session.run([slot[2] for slot in slots])):
            binding.write(value, sink, suffix, factor)

    def set_batch(self, inputs):
        self._assign(self._assignment(name, images_to_nhwc(values))
                     for name, values in inputs.items())

    def set_learning_rate(self, rate):
        old, self.rate = self.rate, rate
        if self.job.phase != "train" or self.job.solver.type == "adam" or rate == old:
            return
        # Past updates keep their size: tench's momentum includes the rate of its time.
        for binding in self.bindings:
            (_, slot, _), = self._slots(binding)
            if rate != 0:
                slot.load(self.session.run(slot) * np.float32(old / rate), self.session)

    def step(self, phase):
        if self.profiled is None:
            self.last = self._run(self.phase_fetch)
        else:
            self.last = self._traced_run()
        return float(self.last["loss"])

    def _traced_run(self):
        """One run with TensorFlow's trace of every op."""
        metadata = tf.RunMetadata()
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        values = self.session.run(self.phase_fetch, {self.rate_feed: self.rate}, options=options,
                                  run_metadata=metadata)
        for device in metadata.step_stats.dev_stats:
            for node in device.node_stats:
                # "l12/Conv2D", "gradients/l12/Conv2D_grad/...", anything else is the update.
                found = re.search(r"(^|/)l([0-9]+)(_[0-9]+)?/", node.node_name)
                layer = self.graph.layers[int(found.group(2))].name if found else ""
                direction = "update" if not found else \
                    "backward" if node.node_name.startswith("gradients") else "forward"
                kernel = re.search(r" = (\w+)\(", node.timeline_label)
                kernel = kernel.group(1) if kernel else node.node_name.rsplit("/", 1)[-1]
                self.profiled.add(layer, direction, kernel, 1000 * node.op_end_rel_micros)
        return values

    def restart_profile(self):
        if self.profiled is not None:
            self.profiled.clear()

    def profile(self):
        return self.profiled.rows()

    def gradients(self, sink):
        gradients = self.last.get("gradients")
        if gradients is None:
            gradients = self.session.run(self.gradient_tensors)
        for binding, gradient in zip(self.bindings, gradients):
            binding.write(gradient, sink)

    def outputs(self, layers, sink):
        for name in layers:
            sink(name, images_to_nchw(self.last["outputs"][name]))


def _nhwc_shape(shape):
    return (shape[0], shape[2], shape[3], shape[1]) if len(shape) == 4 else shape


def _lstm_bindings(layer):
    """BlockLSTM has one matrix (F + H, 4H) and its gates in the order i, g, f, o."""
    if layer.op != "lstm":
        return None
    hidden, features = layer["hidden"], layer.inputs[0].shape[2]
    order, inverse = gate_order("igfo", hidden)
    p = layer.parameters
    return [Binding(layer.name + ".kernel", [p["weight_input"], p["weight_hidden"]],
                    lambda a: np.concatenate([a[0][order].T, a[1][order].T]),
                    lambda a: [a[:features].T[inverse], a[features:].T[inverse]]),
            Binding(p["bias"].name, [p["bias"]], lambda a: a[0][order], lambda a: [a[inverse]])]


class _Lowering(Lowering):
    def __init__(self, worker):
        super(_Lowering, self).__init__(worker.graph, worker.job)
        self.worker, self.updates = worker, []
        self.scope_layers(tf.name_scope)

    def total(self, losses):
        return losses[0] if len(losses) == 1 else tf.add_n(losses)

    def parameter(self, layer, suffix):
        return self.worker.variables["%s.%s" % (layer.name, suffix)]

    def axis(self, x):
        return 3 if x.get_shape().ndims == 4 else 1

    def biased(self, layer, x):
        return tf.nn.bias_add(x, self.parameter(layer, "bias")) if layer.has_bias else x

    def to_logical(self, x):
        return tf.transpose(x, [0, 3, 1, 2]) if x.get_shape().ndims == 4 else x

    def from_logical(self, x):
        return tf.transpose(x, [0, 2, 3, 1]) if x.get_shape().ndims == 4 else x

    def padded(self, x, pads, fill=0.0):
        """(input, padding): TensorFlow's own padding where it gives these pads."""
        if all(before <= 0 and after <= 0 for before, after in pads):
            return x
        paddings = [[0, 0]] + [[max(0, b), max(0, a)] for b, a in pads] + [[0, 0]]
        return tf.pad(x, paddings, constant_values=fill) if fill else tf.pad(x, paddings)

    @staticmethod
    def is_same(sizes, extent, stride, pads, windows):
        """Whether padding SAME means these pads and windows."""
        for i in (0, 1):
            count = -(-sizes[i] // stride[i])
            total = max((count - 1) * stride[i] + extent[i] - sizes[i], 0)
            if count != windows[i] or (total // 2, total - total // 2) != tuple(pads[i]):
                return False
        return True

    def conv(self, layer, x):
        stride, dilation = layer["stride"], layer["dilation"]
        sizes, windows = layer.inputs[0].shape[2:], layer.shape[2:]
        extent = [dilation[i] * (layer["kernel"][i] - 1) + 1 for i in (0, 1)]
        pads = exact_pads(layer)
        same = self.is_same(sizes, extent, stride, pads, windows)
        padding = "SAME" if same else "VALID"
        if not same:
            x = self.padded(x, pads)
        weight = self.parameter(layer, "weight")

        def one(part, filters):
            if dilation == (1, 1):
                return tf.nn.conv2d(part, filters, [1, stride[0], stride[1], 1], padding)
            if stride != (1, 1):
                raise Unsupported("layer '%s': TensorFlow 1 has no strided conv with dilation" %
                                  layer.name)
            return tf.nn.convolution(part, filters, padding, dilation_rate=list(dilation))

        groups = layer["groups"]
        if groups == 1:
            return self.biased(layer, one(x, weight))
        parts = zip(tf.split(x, groups, 3), tf.split(weight, groups, 3))
        return self.biased(layer, tf.concat([one(part, filters) for part, filters in parts], 3))

    def pool(self, layer, x):
        kernel, stride = layer["kernel"], layer["stride"]
        sizes, windows = layer.inputs[0].shape[2:], layer.shape[2:]
        pads = exact_pads(layer)
        window, strides = [1, kernel[0], kernel[1], 1], [1, stride[0], stride[1], 1]
        if layer["mode"] == "max":
            if self.is_same(sizes, kernel, stride, pads, windows):
                return tf.nn.max_pool(x, window, strides, "SAME")
            lowest = -np.finfo(np.float32).max
            return tf.nn.max_pool(self.padded(x, pads, lowest), window, strides, "VALID")
        y = tf.nn.avg_pool(self.padded(x, pads), window, strides, "VALID")
        # VALID divides by the whole kernel; positions beyond the padded image do not count.
        share = average_share(layer)
        return y if share is None else y * share[None, :, :, None]

    def lrn(self, layer, x):
        size = layer["size"]
        if layer["region"] == "across_channels":
            return tf.nn.lrn(x, size // 2, float(layer["k"]), layer["alpha"] / size,
                             layer["beta"])
        half = size // 2
        mean = tf.nn.avg_pool(self.padded(tf.square(x), [(half, half)] * 2), [1, size, size, 1],
                              [1, 1, 1, 1], "VALID")
        return x * tf.pow(layer["k"] + layer["alpha"] * mean, -layer["beta"])

    def relu(self, layer, x):
        slope = float(layer["negative_slope"])
        if slope == 0:
            return tf.nn.relu(x)
        if hasattr(tf.nn, "leaky_relu"):
            return tf.nn.leaky_relu(x, slope)
        return tf.where(x > 0, x, slope * x)

    def sigmoid(self, layer, x):
        return tf.sigmoid(x)

    def tanh(self, layer, x):
        return tf.tanh(x)

    def power(self, layer, x):
        power, scale, shift = (float(layer[key]) for key in ("power", "scale", "shift"))
        if power == 0 or scale == 0:
            return tf.fill(tf.shape(x), np.float32(shift ** power))
        base = scale * x + shift
        return base if power == 1 else tf.square(base) if power == 2 else tf.pow(base, power)

    def fc(self, layer, x):
        return self.biased(layer, tf.matmul(x, self.parameter(layer, "weight")))

    def dropout(self, layer, x):
        return tf.nn.dropout(x, keep_prob=1 - layer["ratio"]) if self.drops(layer) else x

    def concat(self, layer, *inputs):
        return tf.concat(list(inputs), self.axis(inputs[0]))

    def slice(self, layer, x):
        begin, size = [0] * x.get_shape().ndims, [-1] * x.get_shape().ndims
        begin[self.axis(x)], size[self.axis(x)] = layer["begin"], layer["end"] - layer["begin"]
        return tf.slice(x, begin, size)

    def add(self, layer, *inputs):
        factors = layer["coefficients"] or [1] * len(inputs)
        terms = [x if factor == 1 else factor * x for factor, x in zip(factors, inputs)]
        return tf.add(*terms) if len(terms) == 2 else tf.add_n(terms)

    def larger(self, x, y):
        return tf.maximum(x, y)

    def flatten(self, layer, x):
        return tf.reshape(self.to_logical(x), layer.shape)

    def reshape(self, layer, x):
        return self.from_logical(tf.reshape(self.to_logical(x), layer.shape))

    def batch_norm(self, layer, x):
        from tensorflow.python.ops import gen_nn_ops
        # The op itself: tf.nn.fused_batch_norm raises epsilon to 1.001e-5.
        op = getattr(gen_nn_ops, "fused_batch_norm", None) or gen_nn_ops._fused_batch_norm
        vector = x.get_shape().ndims == 2
        if vector:
            x = tf.reshape(x, [layer.shape[0], 1, 1, layer.shape[1]])
        channels = layer.shape[1]
        weight = self.parameter(layer, "weight") if layer.has_weight else tf.ones([channels])
        bias = self.parameter(layer, "bias") if layer.has_bias else tf.zeros([channels])
        mean, var = (self.parameter(layer, "running_mean"), self.parameter(layer, "running_var"))
        if self.training:
            result = op(x, weight, bias, mean=[], variance=[], epsilon=layer["eps"],
                        is_training=True)
            for running, batch in ((mean, result[1]), (var, result[2])):
                step = (batch - running) * layer["momentum"]
                self.updates.append(tf.assign_add(running, step).op)
        else:
            result = op(x, weight, bias, mean=mean, variance=var, epsilon=layer["eps"],
                        is_training=False)
        return tf.reshape(result[0], layer.shape) if vector else result[0]

    def scale(self, layer, x):
        return self.biased(layer, x * self.parameter(layer, "weight"))

    def softmax(self, layer, x):
        return tf.nn.softmax(x)

    def embedding(self, layer, tokens):
        return tf.nn.embedding_lookup(self.parameter(layer, "weight"), tokens)

    def lstm(self, layer, x):
        from tensorflow.contrib.rnn.python.ops import lstm_ops
        ops = getattr(lstm_ops, "gen_lstm_ops", None) or lstm_ops.gen_rnn_ops
        batch, steps, hidden = layer.shape
        zeros, peephole = tf.zeros([batch, hidden]), tf.zeros([hidden])
        result = ops.block_lstm(
            seq_len_max=tf.constant(steps, tf.int64), x=tf.transpose(x, [1, 0, 2]), cs_prev=zeros,
            h_prev=zeros, w=self.worker.variables[layer.name + ".kernel"], wci=peephole,
            wcf=peephole, wco=peephole, b=self.parameter(layer, "bias"), forget_bias=0.0,
            cell_clip=-1.0, use_peephole=False)
        return tf.transpose(result[6], [1, 0, 2])

    def mean_over_time(self, layer, x, lengths):
        mask = tf.sequence_mask(lengths, layer.inputs[0].shape[1], tf.float32)
        total = tf.reduce_sum(x * tf.expand_dims(mask, 2), 1)
        return total / tf.expand_dims(tf.to_float(lengths), 1)

    def softmax_cross_entropy(self, layer, scores, labels):
        ignored = layer["ignore_label"]
        if ignored is None:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=scores)
            return self.weighted(layer, tf.reduce_mean(losses))
        counts = tf.to_float(tf.not_equal(labels, ignored))
        safe = tf.where(tf.equal(labels, ignored), tf.zeros_like(labels), labels)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=safe, logits=scores)
        mean = tf.reduce_sum(losses * counts) / tf.maximum(tf.reduce_sum(counts), 1.0)
        return self.weighted(layer, mean)

    def sigmoid_cross_entropy(self, layer, scores, targets):
        losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=targets, logits=scores)
        return self.weighted(layer, tf.reduce_sum(losses) / layer.inputs[0].shape[0])

    def mean_squared_error(self, layer, values, targets):
        return self.weighted(layer, tf.reduce_mean(tf.squared_difference(values, targets)))
