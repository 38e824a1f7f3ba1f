# SPDX-License-Identifier: Apache-2.0
"""JAX: the whole step is one jitted function; parameters, momenta and statistics are donated.

JAX is a language of array operations: ops that it has are taken from lax and jax.nn, LRN, batch
norm and LSTM are written in it as its libraries do (Flax). Images are NHWC unless the option says
otherwise.
"""
import os
import tempfile

import numpy as np

from tench_worker import HUGE_PAGES, Adapter, BuildFacts, Option, candidate
from tench_worker.layout import (filters_to_hwio, filters_to_oihw, images_to_nchw, images_to_nhwc)
from tench_worker.lowering import Lowering
from tench_worker.network import ABILITIES, average_counts, exact_pads
from tench_worker.profile import ProfileRows
from tench_worker.xla_profile import add_rows, trace_events

LAYOUT = Option("layout", "memory layout of images", "nhwc", ("nhwc", "nchw"))
# XLA's names of the values of the axis `isa`.
MAX_ISA = {"sse41": "SSE4_2", "avx": "AVX", "avx2": "AVX2", "avx512": "AVX512"}


class Worker(Adapter):
    name = "jax"
    package = "jax"
    gpu = "the CPU package of jaxlib has no GPU backend"
    ops = ABILITIES
    updates = ("sgd", "nesterov", "adam", "clip_gradients")
    options = (LAYOUT,)
    tuning = (candidate({"layout": "nchw"}, ops=("conv", "pool")), HUGE_PAGES)

    def load(self, job):
        # Both are read when the backend is created: the threads of XLA's pool, and no search for
        # accelerators.
        os.environ["NPROC"] = str(job.threads)
        os.environ["JAX_PLATFORMS"] = "cpu"
        limit = MAX_ISA.get(os.environ.get("TENCH_ISA", ""))
        if limit:
            os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_cpu_max_isa=" + limit
        self.compiled = 0
        global jax, jnp, lax
        import jax
        import jax.numpy as jnp
        from jax import lax
        jax.devices()
        jax.monitoring.register_event_duration_secs_listener(self._on_event)

    # The step is compiled ahead of time. A compilation that JAX makes later, for instance of an
    # operation outside of it, is inside the timed window.
    def _on_event(self, event, *_, **__):
        self.compiled += event == "/jax/core/compile/backend_compile_duration"

    def build(self, graph, job):
        self.graph, self.job = graph, job
        self.rate = job.solver.lr
        layout = job.option(LAYOUT)
        self._compile(layout)
        return BuildFacts(self.planned_bytes, {"layout": layout}, gradients_materialized=True)

    def compilations(self):
        return self.compiled

    def _compile(self, layout):
        self.nhwc = layout == "nhwc"
        self.channel = 3 if self.nhwc else 1
        shapes = {p.name: self._to_device_layout(np.empty(p.shape, np.float32)).shape
                  for p in self.graph.parameters}

        def spec(parameters):
            return {p.name: jax.ShapeDtypeStruct(shapes[p.name], np.float32) for p in parameters}

        trained, statistics = spec(self.graph.trained), spec(self.graph.statistics)
        batch = {}
        for layer in self.graph.inputs:
            real = layer["role"] == "data"
            shape = layer.shape
            if real and len(shape) == 4 and self.nhwc:
                shape = (shape[0], shape[2], shape[3], shape[1])
            batch[layer.name] = jax.ShapeDtypeStruct(shape, np.float32 if real else np.int32)
        scalar = jax.ShapeDtypeStruct((), np.float32)
        count = jax.ShapeDtypeStruct((), np.int32)
        phase = self.job.phase
        if phase == "forward":
            self.call = jax.jit(self._forward).lower(trained, statistics, batch).compile()
        elif phase == "gradient":
            self.call = jax.jit(self._gradient, donate_argnums=(1,)).lower(
                trained, statistics, batch, count).compile()
        else:
            momenta = {name + suffix: s for suffix in self._suffixes for name, s in trained.items()}
            self.call = jax.jit(self._train, donate_argnums=(0, 1, 2)).lower(
                trained, momenta, statistics, batch, scalar, count).compile()
        memory = self.call.memory_analysis()
        self.planned_bytes = int(memory.temp_size_in_bytes + memory.argument_size_in_bytes +
                                 memory.output_size_in_bytes - memory.alias_size_in_bytes)

    # --- the three phases ---

    def _loss(self, trained, statistics, batch, count, training):
        """(loss, (statistics after the step, outputs))"""
        lowering = _Lowering(self, trained, statistics, count, training)
        loss = lowering.run(batch)
        outputs = lowering.values if self.job.observe else {}
        return loss, (lowering.statistics, outputs)

    def _forward(self, trained, statistics, batch):
        loss, (_, outputs) = self._loss(trained, statistics, batch, None, False)
        return loss, outputs

    def _gradient(self, trained, statistics, batch, count):
        function = jax.value_and_grad(self._loss, has_aux=True)
        (loss, (statistics, outputs)), gradients = function(trained, statistics, batch, count, True)
        return loss, gradients, statistics, outputs

    def _train(self, trained, momenta, statistics, batch, rate, count):
        loss, gradients, statistics, outputs = self._gradient(trained, statistics, batch, count)
        trained, momenta = self._update(trained, momenta, gradients, rate, count)
        kept = gradients if self.job.observe else {}
        return loss, trained, momenta, statistics, kept, outputs

    @property
    def _suffixes(self):
        return (".momentum", ".momentum2") if self.job.solver.type == "adam" else (".momentum",)

    def _update(self, trained, momenta, gradients, rate, count):
        solver, new, moved = self.job.solver, {}, {}
        clip = 1.0
        if solver.clip_gradients > 0:
            squares = sum(jnp.sum(jnp.square(gradients[p.name])) for p in self.graph.trained
                          if p.lr_mult != 0)
            norm = jnp.sqrt(squares)
            clip = jnp.where(norm > solver.clip_gradients, solver.clip_gradients / norm, 1.0)
        for p in self.graph.trained:
            w, v, g = trained[p.name], momenta[p.name + ".momentum"], gradients[p.name]
            d = g * clip if solver.clip_gradients > 0 else g
            if solver.weight_decay * p.decay_mult != 0:
                d = d + solver.weight_decay * p.decay_mult * w
            r, m = rate * p.lr_mult, solver.momentum
            if solver.type == "adam":
                s = momenta[p.name + ".momentum2"]
                v = m * v + (1 - m) * d
                s = solver.momentum2 * s + (1 - solver.momentum2) * d * d
                t = (count + 1).astype(jnp.float32)
                r = r * jnp.sqrt(1 - solver.momentum2 ** t) / (1 - m ** t)
                new[p.name] = w - r * v / (jnp.sqrt(s) + solver.delta)
                moved[p.name + ".momentum2"] = s
            else:
                u = m * v + r * d
                new[p.name] = w - ((1 + m) * u - m * v if solver.type == "nesterov" else u)
                v = u
            moved[p.name + ".momentum"] = v
        return new, moved

    # --- the contract ---

    def _to_device_layout(self, values):
        return filters_to_hwio(values) if self.nhwc else values

    def _to_logical(self, values):
        values = np.asarray(values)
        return filters_to_oihw(values) if self.nhwc else values

    def set_parameters(self, source):
        self.count = 0
        self.trained = {p.name: jnp.array(self._to_device_layout(source(p.name)))
                        for p in self.graph.trained}

    def parameters(self, sink):
        for p in self.graph.trained:
            sink(p.name, self._to_logical(self.trained[p.name]))

    def set_state(self, source):
        self.statistics = {p.name: jnp.array(source(p.name)) for p in self.graph.statistics}
        self.momenta = {}
        if self.job.phase == "train":
            self.momenta = {p.name + suffix: jnp.array(self._to_device_layout(
                source(p.name + suffix))) for suffix in self._suffixes for p in self.graph.trained}

    def state(self, sink):
        for p in self.graph.statistics:
            sink(p.name, np.asarray(self.statistics[p.name]))
        for name, values in self.momenta.items():
            sink(name, self._to_logical(values))

    def set_batch(self, inputs):
        self.batch = {name: jax.device_put(images_to_nhwc(values) if self.nhwc else values)
                      for name, values in inputs.items()}
        jax.block_until_ready(self.batch)

    def set_learning_rate(self, rate):
        self.rate = rate

    def step(self, phase):
        count = np.int32(self.count)
        if phase == "forward":
            loss, self.kept_outputs = self.call(self.trained, self.statistics, self.batch)
        elif phase == "gradient":
            loss, self.kept_gradients, self.statistics, self.kept_outputs = self.call(
                self.trained, self.statistics, self.batch, count)
            jax.block_until_ready((self.kept_gradients, self.statistics))
        else:
            (loss, self.trained, self.momenta, self.statistics, self.kept_gradients,
             self.kept_outputs) = self.call(self.trained, self.momenta, self.statistics,
                                            self.batch, np.float32(self.rate), count)
            jax.block_until_ready((self.trained, self.momenta, self.statistics))
        self.count += 1
        return float(loss)

    def gradients(self, sink):
        for p in self.graph.trained:
            sink(p.name, self._to_logical(self.kept_gradients[p.name]))

    def outputs(self, layers, sink):
        for name in layers:
            values = np.asarray(self.kept_outputs[name])
            sink(name, images_to_nchw(values) if self.nhwc else values)

    def restart_profile(self):
        if self.job.profile:
            options = jax.profiler.ProfileOptions()
            options.python_tracer_level, options.enable_hlo_proto = 0, False
            self.trace = tempfile.TemporaryDirectory(prefix="tench-jax-")
            jax.profiler.start_trace(self.trace.name, profiler_options=options)

    def profile(self):
        jax.profiler.stop_trace()
        rows = ProfileRows()
        add_rows(rows, trace_events(jax, self.trace.name), self.call.as_text(),
                 [layer.name for layer in self.graph.layers], self.job.phase == "train")
        self.trace.cleanup()
        return rows.rows()


class _Lowering(Lowering):
    """One trace of the network."""

    def __init__(self, worker, trained, statistics, count, training):
        super(_Lowering, self).__init__(worker.graph, worker.job)
        self.nhwc, self.channel = worker.nhwc, worker.channel
        self.trained, self.statistics = trained, dict(statistics)
        self.count, self.training = count, training
        if self.job.profile:
            self.scope_layers(jax.named_scope)

    def parameter(self, layer, suffix):
        return self.trained["%s.%s" % (layer.name, suffix)]

    def axis(self, x):
        return self.channel if x.ndim == 4 else 1

    def per_channel(self, x, values):
        if x.ndim != 4 or self.nhwc:
            return values
        return values.reshape((1, -1, 1, 1))

    def spatial(self, height, width, other):
        """A 4-D tuple with the given sizes at the spatial axes."""
        return (other, height, width, other) if self.nhwc else (other, other, height, width)

    def to_logical(self, x):
        return jnp.transpose(x, (0, 3, 1, 2)) if x.ndim == 4 and self.nhwc else x

    def from_logical(self, x):
        return jnp.transpose(x, (0, 2, 3, 1)) if x.ndim == 4 and self.nhwc else x

    def conv(self, layer, x):
        numbers = ("NHWC", "HWIO", "NHWC") if self.nhwc else ("NCHW", "OIHW", "NCHW")
        y = lax.conv_general_dilated(
            x, self.parameter(layer, "weight"), layer["stride"], [(p, p) for p in layer["pad"]],
            rhs_dilation=layer["dilation"], dimension_numbers=numbers,
            feature_group_count=layer["groups"])
        return y + self.per_channel(y, self.parameter(layer, "bias")) if layer.has_bias else y

    def pool(self, layer, x):
        kernel, stride = layer["kernel"], layer["stride"]
        pads = exact_pads(layer)
        zero = [(0, 0), (0, 0)]
        padding = [zero[0]] + pads + [zero[0]] if self.nhwc else zero + pads
        window, strides = self.spatial(kernel[0], kernel[1], 1), self.spatial(*stride, other=1)
        if layer["mode"] == "max":
            return lax.reduce_window(x, -jnp.inf, lax.max, window, strides, padding)
        total = lax.reduce_window(x, 0.0, lax.add, window, strides, padding)
        counts = average_counts(layer)
        return total / counts.reshape(self.spatial(*counts.shape, other=1))

    def lrn(self, layer, x):
        size = layer["size"]
        half = size // 2
        if layer["region"] == "across_channels":
            window = [1, 1, 1, 1]
            window[self.channel] = size
            padding = [(0, 0)] * 4
            padding[self.channel] = (half, half)
            share = layer["alpha"] / size
        else:
            window = self.spatial(size, size, 1)
            padding = [(0, 0) if w == 1 else (half, half) for w in window]
            share = layer["alpha"] / (size * size)
        total = lax.reduce_window(x * x, 0.0, lax.add, tuple(window), (1, 1, 1, 1), padding)
        return x * jnp.power(layer["k"] + share * total, -layer["beta"])

    def relu(self, layer, x):
        slope = layer["negative_slope"]
        return jax.nn.relu(x) if slope == 0 else jnp.where(x > 0, x, slope * x)

    def sigmoid(self, layer, x):
        return jax.nn.sigmoid(x)

    def tanh(self, layer, x):
        return jnp.tanh(x)

    def power(self, layer, x):
        power, scale, shift = (float(layer[key]) for key in ("power", "scale", "shift"))
        if power == 0 or scale == 0:
            return jnp.full_like(x, shift ** power)
        base = shift + scale * x
        if power == int(power) and 1 <= power <= 4:
            return lax.integer_pow(base, int(power))
        return jnp.power(base, power)

    def fc(self, layer, x):
        y = lax.dot_general(x, self.parameter(layer, "weight"), (((1,), (1,)), ((), ())))
        return y + self.parameter(layer, "bias") if layer.has_bias else y

    def dropout(self, layer, x):
        ratio = layer["ratio"]
        if not self.drops(layer):
            return x
        index = self.graph.layers.index(layer)
        key = jax.random.fold_in(jax.random.fold_in(
            jax.random.key(self.job.seed & 0xFFFFFFFF), index), self.count)
        return jnp.where(jax.random.bernoulli(key, 1 - ratio, x.shape), x / (1 - ratio), 0.0)

    def concat(self, layer, *inputs):
        return jnp.concatenate(inputs, self.axis(inputs[0]))

    def slice(self, layer, x):
        return lax.slice_in_dim(x, layer["begin"], layer["end"], axis=self.axis(x))

    def larger(self, x, y):
        return jnp.maximum(x, y)

    def flatten(self, layer, x):
        return self.to_logical(x).reshape(layer.shape)

    def reshape(self, layer, x):
        return self.from_logical(self.to_logical(x).reshape(layer.shape))

    def batch_norm(self, layer, x):
        mean_name, var_name = layer.name + ".running_mean", layer.name + ".running_var"
        if self.training:
            axes = tuple(i for i in range(x.ndim) if i != self.axis(x))
            mean, var = jnp.mean(x, axes), jnp.var(x, axes)
            count, m = x.size // mean.size, layer["momentum"]
            unbiased = lax.stop_gradient(var) * (count / max(count - 1, 1))
            self.statistics[mean_name] = (1 - m) * self.statistics[mean_name] + \
                m * lax.stop_gradient(mean)
            self.statistics[var_name] = (1 - m) * self.statistics[var_name] + m * unbiased
        else:
            mean, var = self.statistics[mean_name], self.statistics[var_name]
        factor = lax.rsqrt(var + layer["eps"])
        if layer.has_weight:
            factor = factor * self.parameter(layer, "weight")
        y = (x - self.per_channel(x, mean)) * self.per_channel(x, factor)
        return y + self.per_channel(x, self.parameter(layer, "bias")) if layer.has_bias else y

    def scale(self, layer, x):
        y = x * self.per_channel(x, self.parameter(layer, "weight"))
        return y + self.per_channel(x, self.parameter(layer, "bias")) if layer.has_bias else y

    def softmax(self, layer, x):
        return jax.nn.softmax(x, self.axis(x))

    def embedding(self, layer, tokens):
        return jnp.take(self.parameter(layer, "weight"), tokens, axis=0)

    def lstm(self, layer, x):
        w_hidden = self.parameter(layer, "weight_hidden")
        bias = self.parameter(layer, "bias")
        projected = jnp.einsum("ntf,gf->tng", x, self.parameter(layer, "weight_input")) + bias

        def cell(carry, now):
            h, c = carry
            i, f, g, o = jnp.split(now + h @ w_hidden.T, 4, axis=1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        zero = jnp.zeros((x.shape[0], layer["hidden"]), x.dtype)
        _, outputs = lax.scan(cell, (zero, zero), projected)
        return jnp.transpose(outputs, (1, 0, 2))

    def mean_over_time(self, layer, x, lengths):
        mask = jnp.arange(x.shape[1])[None, :] < lengths[:, None]
        total = jnp.sum(jnp.where(mask[:, :, None], x, 0.0), 1)
        return total / lengths[:, None].astype(x.dtype)

    def softmax_cross_entropy(self, layer, scores, labels):
        ignored = layer["ignore_label"]
        safe = labels if ignored is None else jnp.where(labels == ignored, 0, labels)
        losses = -jnp.take_along_axis(jax.nn.log_softmax(scores), safe[:, None], 1)[:, 0]
        if ignored is None:
            return self.weighted(layer, jnp.mean(losses))
        counts = (labels != ignored).astype(scores.dtype)
        mean = jnp.sum(losses * counts) / jnp.maximum(jnp.sum(counts), 1.0)
        return self.weighted(layer, mean)

    def sigmoid_cross_entropy(self, layer, scores, targets):
        losses = jnp.maximum(scores, 0) - scores * targets + jnp.log1p(jnp.exp(-jnp.abs(scores)))
        return self.weighted(layer, jnp.sum(losses) / scores.shape[0])

    def mean_squared_error(self, layer, values, targets):
        return self.weighted(layer, jnp.mean(jnp.square(values - targets)))
