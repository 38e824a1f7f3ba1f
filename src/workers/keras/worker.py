# SPDX-License-Identifier: Apache-2.0
"""Keras 3 on one of its back ends: a functional model, timed by Model.train_on_batch.

The loss is a layer that calls add_loss, so that networks with several losses have one rule. In
phase gradient the optimizer writes the gradients to variables and updates nothing. Images are
channels-last, Keras' default.
"""
import os

import numpy as np

from tench_worker import HUGE_PAGES, Adapter, BuildFacts, Failed, Option, candidate
from tench_worker.layout import (filters_to_hwio, filters_to_oihw, images_to_nchw, images_to_nhwc)
from tench_worker.lowering import Lowering
from tench_worker.network import ABILITIES, average_share, exact_pads
from tench_worker.serve import find_version

BACK_ENDS = {"tensorflow": ("tensorflow", "tensorflow-cpu"), "jax": ("jax",), "torch": ("torch",)}
LOWEST = -3e38  # pads a max pool


def installed_back_ends():
    """Keras' own default comes first."""
    return [name for name in sorted(BACK_ENDS, key=["tensorflow", "jax", "torch"].index)
            if any(find_version(package) for package in BACK_ENDS[name])]


class Worker(Adapter):
    name = "keras"
    package = "keras"
    serves = ("3.",)
    ops = tuple(word for word in ABILITIES if word != "lrn.region")
    updates = ("sgd", "nesterov")

    def __init__(self):
        found = installed_back_ends()
        self.backend = Option("backend", "back end of Keras, as KERAS_BACKEND", (found + [""])[0],
                              tuple(found))
        self.options = (self.backend,)
        self.tuning = tuple(candidate({"backend": name}) for name in found[1:]) + (HUGE_PAGES,)

    @property
    def version(self):
        """An environment with PyTorch alone is a build of its own: deps/python."""
        version = find_version("keras")
        only_torch = installed_back_ends() == ["torch"]
        return version and version + ("-torch" if only_torch else "")

    def facts(self):
        found = installed_back_ends()
        facts = {"gpu": "the worker runs Keras on the CPU",
                 "back ends": ", ".join("%s %s" % (name, find_version(package))
                                        for name in found for package in BACK_ENDS[name]
                                        if find_version(package))}
        if not found:
            facts["missing"] = "Keras has no back end: install jax, tensorflow or torch"
        return facts

    def load(self, job):
        name = job.option(self.backend)
        os.environ["KERAS_BACKEND"] = name
        os.environ["NPROC"] = str(job.threads)  # of XLA, read when JAX starts
        os.environ["JAX_PLATFORMS"], os.environ["CUDA_VISIBLE_DEVICES"] = "cpu", ""
        os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
        if name == "tensorflow":
            import tensorflow
            tensorflow.config.threading.set_intra_op_parallelism_threads(job.threads)
            tensorflow.config.threading.set_inter_op_parallelism_threads(1)
        elif name == "torch":
            import torch
            torch.set_num_threads(job.threads)
            torch.set_num_interop_threads(1)
        global keras, kops
        import keras
        import keras.ops as kops
        keras.config.set_image_data_format("channels_last")
        if keras.backend.backend() != name:
            raise Failed("Keras loaded the back end %s instead of %s" %
                         (keras.backend.backend(), name))

    def build(self, graph, job):
        self.graph, self.job = graph, job
        keras.utils.set_random_seed(job.seed % (1 << 32))
        self.classes = _make_classes(graph, job)
        self.variables, self.kept = {}, {}
        inputs = {}
        for layer in graph.inputs:
            real, shape = layer["role"] == "data", tuple(layer.shape)
            if real and len(shape) == 4:
                shape = (shape[0], shape[2], shape[3], shape[1])
            inputs[layer.name] = keras.Input(batch_shape=shape, name="in_%d" % len(inputs),
                                             dtype="float32" if real else "int32")
        self.order = list(inputs)
        lowering = _Lowering(self, graph, job)
        loss = lowering.run(inputs)
        self.model = keras.Model(list(inputs.values()), loss)
        self.taps = lowering.taps
        self.optimizer = self._make_optimizer()
        self.model.compile(optimizer=self.optimizer, loss=None)
        self.set_batch({layer.name: np.ones(layer.shape, np.float32 if layer["role"] == "data"
                                            else np.int32) for layer in graph.inputs})
        self.step(job.phase)  # the first step compiles
        return BuildFacts(0, {"backend": keras.backend.backend()}, gradients_materialized=True)

    def _make_optimizer(self):
        solver = self.job.solver
        kind = self.classes["Update"] if self.job.phase == "train" else self.classes["Gradients"]
        optimizer = kind(learning_rate=solver.lr, momentum=solver.momentum,
                         nesterov=solver.type == "nesterov")
        optimizer.keeps = self.job.phase == "gradient" or self.job.observe
        optimizer.build(self.model.trainable_variables)
        optimizer.rules = {optimizer.place_of(self.variables[p.name]):
                           (p.lr_mult, solver.weight_decay * p.decay_mult)
                           for p in self.graph.trained}
        return optimizer

    # --- layouts: Keras' are (height, width, in, out) and (in, out) ---

    def _to_keras(self, parameter, values):
        values = np.asarray(values, np.float32)
        if values.ndim == 4:
            return filters_to_hwio(values)
        return values.T if self._is_transposed(parameter) else values

    def _to_logical(self, parameter, values):
        values = np.asarray(values)
        if values.ndim == 4:
            return filters_to_oihw(values)
        return values.T if self._is_transposed(parameter) else values

    def _is_transposed(self, parameter):
        layer = self.graph.by_name[parameter.name.rsplit(".", 1)[0]]
        return len(parameter.shape) == 2 and layer.op in ("fc", "lstm")

    def _read(self, variable):
        return keras.ops.convert_to_numpy(variable.value)

    # --- the contract ---

    def set_parameters(self, source):
        for p in self.graph.trained:
            self.variables[p.name].assign(self._to_keras(p, source(p.name)))

    def parameters(self, sink):
        for p in self.graph.trained:
            sink(p.name, self._to_logical(p, self._read(self.variables[p.name])))

    def _momentum(self, parameter):
        """Keras' momentum is the step that is added: tench's with the other sign."""
        return self.optimizer.momentum_of(self.variables[parameter.name])

    def set_state(self, source):
        for p in self.graph.statistics:
            self.variables[p.name].assign(np.asarray(source(p.name)))
        if self.job.phase == "train":
            for p in self.graph.trained:
                if self._momentum(p) is not None:
                    self._momentum(p).assign(-self._to_keras(p, source(p.name + ".momentum")))

    def state(self, sink):
        for p in self.graph.statistics:
            sink(p.name, self._read(self.variables[p.name]))
        if self.job.phase == "train":
            for p in self.graph.trained:
                kept = self._momentum(p)
                values = np.zeros(p.shape, np.float32) if kept is None else \
                    -self._to_logical(p, self._read(kept))
                sink(p.name + ".momentum", values)

    def set_batch(self, inputs):
        self.batch = [keras.ops.convert_to_tensor(images_to_nhwc(np.array(inputs[name])))
                      for name in self.order]

    def set_learning_rate(self, rate):
        self.optimizer.learning_rate = rate

    def step(self, phase):
        if phase == "forward":
            return float(np.asarray(self.model.test_on_batch(self.batch)).reshape(-1)[0])
        loss = self.model.train_on_batch(self.batch)
        if keras.backend.backend() == "jax":
            import jax
            jax.block_until_ready([v.value for v in self.model.trainable_variables +
                                   self.optimizer.variables])
        return float(np.asarray(loss).reshape(-1)[0])

    def gradients(self, sink):
        for p in self.graph.trained:
            kept = self.optimizer.gradient_of(self.variables[p.name])
            sink(p.name, self._to_logical(p, self._read(kept)))

    def outputs(self, layers, sink):
        for name in layers:
            sink(name, images_to_nchw(self._read(self.taps[name].kept)))


def _dense(gradient):
    """TensorFlow's gradient of an embedding is a list of slices, with repetitions."""
    if not hasattr(gradient, "indices") or keras.backend.backend() != "tensorflow":
        return gradient
    import tensorflow
    return tensorflow.convert_to_tensor(gradient)


def _make_classes(graph, job):
    """Subclasses of Keras' classes, which exist after `load` only."""

    class Gradients(keras.optimizers.SGD):
        """Writes the gradients to variables."""

        def build(self, variables):
            super().build(variables)
            self.written, self.last = [], []
            if self.keeps and self.momentum == 0:  # Keras then has no momenta
                self.last = [self.add_variable_from_reference(v, name="last") for v in variables]
            if self.keeps:
                self.written = [self.add_variable_from_reference(v, name="gradient")
                                for v in variables]

        def place_of(self, variable):
            # TensorFlow hands its own variables to update_step.
            return self._get_variable_index(variable)

        def keep(self, gradient, variable):
            if self.keeps:
                self.assign(self.gradient_of(variable), _dense(gradient))

        def gradient_of(self, variable):
            return self.written[self.place_of(variable)]

        def momentum_of(self, variable):
            """The last step; None if nothing keeps it."""
            kept = self.last if self.momentum == 0 else self.momentums
            return kept[self.place_of(variable)] if kept else None

        def update_step(self, gradient, variable, learning_rate):
            self.keep(gradient, variable)

    class Update(Gradients):
        """SGD with tench's decay, which is a part of the gradient, and its rate multipliers."""

        def update_step(self, gradient, variable, learning_rate):
            self.keep(gradient, variable)
            rate, decay = self.rules[self.place_of(variable)]
            if decay != 0:
                gradient = _dense(gradient) + decay * kops.convert_to_tensor(variable)
            learning_rate = learning_rate * rate
            if self.last:
                self.assign(self.momentum_of(variable), -learning_rate * gradient)
            keras.optimizers.SGD.update_step(self, gradient, variable, learning_rate)

    class Tap(keras.layers.Layer):
        """Keeps its input for `outputs`."""

        def build(self, shape):
            self.kept = self.add_weight(shape=shape, trainable=False, initializer="zeros")

        def call(self, x):
            self.kept.assign(kops.cast(x, "float32"))
            return x

    class SampleVariance(keras.layers.BatchNormalization):
        """Keras' moving variance is that of the population; tench's is the sample's."""

        def call(self, inputs, training=None):
            # A copy: the variable itself shows its new value after the call.
            old = self.moving_variance * 1.0
            y = super().call(inputs, training=training)
            count = int(np.prod(inputs.shape)) // inputs.shape[-1]
            if training and count > 1:
                grown = self.moving_variance - self.momentum * old
                self.moving_variance.assign(self.momentum * old + grown * (count / (count - 1.0)))
            return y

    class Total(keras.layers.Layer):
        def call(self, losses):
            total = sum(losses[1:], losses[0])
            self.add_loss(total)
            return kops.stop_gradient(total)

    return {"Gradients": Gradients, "Update": Update, "Tap": Tap, "Total": Total,
            "SampleVariance": SampleVariance}


class _Lowering(Lowering):
    def __init__(self, worker, graph, job):
        super(_Lowering, self).__init__(graph, job)
        self.worker, self.taps = worker, {}
        if job.observe:
            self._calls = [(self.tapped(call), layer) for call, layer in self._calls]

    def tapped(self, call):
        def lower(layer, *inputs):
            tap = self.taps[layer.name] = self.worker.classes["Tap"]()
            return tap(call(layer, *inputs))
        return lower

    def total(self, losses):
        return self.worker.classes["Total"]()(losses)

    def weighted(self, layer, loss):
        weight = float(layer["loss_weight"])
        return loss if weight == 1 else self.rescaled(loss, weight)

    @staticmethod
    def rescaled(x, factor, offset=0.0):
        """factor * x + offset. Keras takes the product of a number and a symbol for sparse."""
        return keras.layers.Rescaling(factor, offset)(x)

    def use(self, layer, module, x, *suffixes):
        """Applies a Keras layer and binds its weights, in Keras' order, to tench's names."""
        y = module(x)
        for suffix, variable in zip(suffixes, module.weights):
            self.worker.variables["%s.%s" % (layer.name, suffix)] = variable
        return y

    def with_bias(self, layer):
        return ("weight", "bias") if layer.has_bias else ("weight",)

    @staticmethod
    def padded(layer, x, value=0.0):
        (top, bottom), (left, right) = exact_pads(layer)
        if not (top or bottom or left or right):
            return x
        return kops.pad(x, ((0, 0), (top, bottom), (left, right), (0, 0)), "constant", value)

    def conv(self, layer, x):
        module = keras.layers.Conv2D(
            layer["out_channels"], layer["kernel"], layer["stride"], "valid",
            dilation_rate=layer["dilation"], groups=layer["groups"], use_bias=layer.has_bias)
        return self.use(layer, module, self.padded(layer, x), *self.with_bias(layer))

    def pool(self, layer, x):
        if layer["global"]:
            kind = keras.layers.GlobalMaxPooling2D if layer["mode"] == "max" else \
                keras.layers.GlobalAveragePooling2D
            return kind(keepdims=True)(x)
        if layer["mode"] == "max":
            x = self.padded(layer, x, LOWEST)
            return keras.layers.MaxPooling2D(layer["kernel"], layer["stride"], "valid")(x)
        x = self.padded(layer, x)
        y = keras.layers.AveragePooling2D(layer["kernel"], layer["stride"], "valid")(x)
        share = average_share(layer)
        return y if share is None else y * share.astype(np.float32)[None, :, :, None]

    def lrn(self, layer, x):
        """Keras has no layer for it: a sum of shifted squares, as Lasagne writes it."""
        size, channels = layer["size"], layer.shape[1]
        half = size // 2
        squares = kops.pad(x * x, ((0, 0), (0, 0), (0, 0), (half, half)))
        total = squares[..., :channels]
        for shift in range(1, size):
            total = total + squares[..., shift:shift + channels]
        total = self.rescaled(total, layer["alpha"] / size, float(layer["k"]))
        return x * kops.power(total, -layer["beta"])

    def relu(self, layer, x):
        return keras.layers.ReLU(negative_slope=float(layer["negative_slope"]))(x)

    def sigmoid(self, layer, x):
        return keras.activations.sigmoid(x)

    def tanh(self, layer, x):
        return keras.activations.tanh(x)

    def power(self, layer, x):
        power, scale, shift = (float(layer[key]) for key in ("power", "scale", "shift"))
        if power == 0 or scale == 0:
            return kops.full_like(x, shift ** power)
        base = self.rescaled(x, scale, shift)
        if power == 1:
            return base
        return kops.square(base) if power == 2 else kops.power(base, power)

    def fc(self, layer, x):
        module = keras.layers.Dense(layer["out_features"], use_bias=layer.has_bias)
        return self.use(layer, module, x, *self.with_bias(layer))

    def dropout(self, layer, x):
        return keras.layers.Dropout(layer["ratio"])(x) if self.drops(layer) else x

    def concat(self, layer, *inputs):
        return keras.layers.Concatenate(-1)(list(inputs)) if len(inputs) > 1 else inputs[0]

    def slice(self, layer, x):
        return x[..., layer["begin"]:layer["end"]]

    def larger(self, x, y):
        return kops.maximum(x, y)

    def add(self, layer, *inputs):
        factors = layer["coefficients"] or [1] * len(inputs)
        return keras.layers.Add()([x if factor == 1 else self.rescaled(x, float(factor))
                                   for factor, x in zip(factors, inputs)])

    def flatten(self, layer, x):
        if len(x.shape) == 4:
            x = kops.transpose(x, (0, 3, 1, 2))
        return kops.reshape(x, layer.shape)

    def reshape(self, layer, x):
        y = self.flatten(layer, x)
        return kops.transpose(y, (0, 2, 3, 1)) if len(layer.shape) == 4 else y

    def batch_norm(self, layer, x):
        module = self.worker.classes["SampleVariance"](
            momentum=1 - layer["momentum"], epsilon=layer["eps"], center=layer.has_bias,
            scale=layer.has_weight)
        own = (("weight",) if layer.has_weight else ()) + (("bias",) if layer.has_bias else ())
        return self.use(layer, module, x, *(own + ("running_mean", "running_var")))

    def scale(self, layer, x):
        class Scale(keras.layers.Layer):
            def build(self, shape):
                self.factor = self.add_weight(shape=(shape[-1],))
                if layer.has_bias:
                    self.shift = self.add_weight(shape=(shape[-1],))

            def call(self, x):
                y = x * self.factor
                return y + self.shift if layer.has_bias else y

        return self.use(layer, Scale(), x, *self.with_bias(layer))

    def softmax(self, layer, x):
        return keras.layers.Softmax(-1)(x)

    def embedding(self, layer, tokens):
        module = keras.layers.Embedding(layer["vocabulary"], layer["dimension"])
        return self.use(layer, module, tokens, "weight")

    def lstm(self, layer, x):
        module = keras.layers.LSTM(layer["hidden"], return_sequences=True)
        return self.use(layer, module, x, "weight_input", "weight_hidden", "bias")

    def mean_over_time(self, layer, x, lengths):
        steps = np.arange(layer.inputs[0].shape[1], dtype=np.int32)[None, :]
        mask = kops.cast(kops.less(steps, lengths[:, None]), "float32")
        return kops.sum(x * mask[:, :, None], 1) / kops.cast(lengths, "float32")[:, None]

    def softmax_cross_entropy(self, layer, scores, labels):
        ignored = layer["ignore_label"]
        safe = labels if ignored is None else kops.where(labels == ignored, 0, labels)
        losses = kops.sparse_categorical_crossentropy(safe, scores, from_logits=True)
        if ignored is None:
            return self.weighted(layer, kops.mean(losses))
        counts = kops.cast(kops.not_equal(labels, ignored), "float32")
        return self.weighted(layer, kops.sum(losses * counts) /
                             kops.maximum(kops.sum(counts), 1.0))

    def sigmoid_cross_entropy(self, layer, scores, targets):
        losses = kops.binary_crossentropy(targets, scores, from_logits=True)
        return self.weighted(layer, kops.sum(losses) / float(self.graph.batch))

    def mean_squared_error(self, layer, values, targets):
        return self.weighted(layer, kops.mean(kops.square(values - targets)))
