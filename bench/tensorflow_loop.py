#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A hand-written TensorFlow training loop of one of tench's networks.

A baseline for the tensorflow worker. Needs Python's tensorflow package.

    tench show lenet --graph > lenet.json
    taskset -c 0,1 python3 bench/tensorflow_loop.py lenet.json --batch 64 --threads 2
    tench run --worker tensorflow --network lenet --batch 64 --threads 2
"""
import argparse
import json
import os
import statistics
import time


def pair(value, default):
    value = default if value is None else value
    return value if isinstance(value, list) else [value, value]


def padding_of(size, out, kernel, stride, pad):
    """Padding before and after, in one dimension."""
    return pad, max(0, (out - 1) * stride + kernel - size - pad)


class Network:
    """The network's layers as tf.nn calls in NHWC; weights are random, as only time is measured."""

    def __init__(self, tf, graph, batch):
        self.tf, self.layers, self.batch = tf, graph["layers"], batch
        self.variables, self.rules, self.inputs = {}, {}, {}
        for layer in self.layers:
            if layer["op"] == "input":
                self.inputs[layer["name"]] = self.make_input(layer)

    def make_input(self, layer):
        tf, role, shape = self.tf, layer.get("role", "data"), layer.get("shape", [])
        if role == "data":
            sizes = [self.batch] + (shape[1:] + shape[:1] if len(shape) == 3 else shape)
            return tf.Variable(tf.random.uniform(sizes))
        fill = layer["fill"]
        sizes = [self.batch] + shape
        return tf.Variable(tf.random.uniform(sizes, int(fill["low"]), int(fill["high"]), tf.int32))

    def variable(self, layer, kind, shape, start=None):
        name = layer["name"] + "." + kind
        if name not in self.variables:
            value = self.tf.random.normal(shape, stddev=0.01) if start is None else self.tf.fill(shape, start)
            self.variables[name] = self.tf.Variable(value)
            rule = layer.get("weight" if kind.startswith("weight") else "bias", {})
            rule = rule if isinstance(rule, dict) else {}
            self.rules[name] = (rule.get("lr_mult", 1), rule.get("decay_mult", 1))
        return self.variables[name]

    def loss(self):
        values, total = dict(self.inputs), 0.0
        for layer in self.layers:
            if layer["op"] == "input":
                continue
            ins = [values[name] for name in layer["inputs"]]
            ins = [i.read_value() if isinstance(i, self.tf.Variable) else i for i in ins]
            values[layer["name"]] = getattr(self, layer["op"])(layer, *ins)
            if layer["op"].endswith(("entropy", "error")):
                total += layer.get("loss_weight", 1) * values[layer["name"]]
        return total

    def conv(self, layer, x):
        tf, channels = self.tf, layer["out_channels"]
        kernel, stride, pad = (pair(layer.get(k), d) for k, d in (("kernel", 1), ("stride", 1), ("pad", 0)))
        groups = layer.get("groups", 1)
        w = self.variable(layer, "weight", kernel + [x.shape[3] // groups, channels])
        out = [(x.shape[1 + i] + 2 * pad[i] - kernel[i]) // stride[i] + 1 for i in (0, 1)]
        around = [padding_of(x.shape[1 + i], out[i], kernel[i], stride[i], pad[i]) for i in (0, 1)]
        same = stride == [1, 1] and all(a == b for a, b in around)
        if any(a + b for a, b in around) and not same:
            x = tf.pad(x, [(0, 0)] + around + [(0, 0)])
        mode = "SAME" if same else "VALID"
        xs, ws = (tf.split(x, groups, 3), tf.split(w, groups, 3)) if groups > 1 else ([x], [w])
        y = [tf.nn.conv2d(a, b, stride, mode) for a, b in zip(xs, ws)]
        y = tf.concat(y, 3) if groups > 1 else y[0]
        if layer.get("bias") is False:
            return y
        return tf.nn.bias_add(y, self.variable(layer, "bias", [channels], 0.0))

    def pool(self, layer, x):
        tf, average = self.tf, layer.get("mode", "max") == "avg"
        if layer.get("global"):
            return tf.reduce_mean(x, [1, 2], keepdims=True) if average else tf.reduce_max(x, [1, 2], keepdims=True)
        kernel, stride, pad = (pair(layer.get(k), d) for k, d in (("kernel", 1), ("stride", 1), ("pad", 0)))
        around = []
        for i in (0, 1):
            room = x.shape[1 + i] + 2 * pad[i] - kernel[i]
            out = (room + stride[i] - 1 if layer.get("ceil_mode") else room) // stride[i] + 1
            around.append(padding_of(x.shape[1 + i], out, kernel[i], stride[i], pad[i]))
        same = all(a in (b, b - 1) for a, b in around) and any(a + b for a, b in around)
        if any(a + b for a, b in around) and (not same or average and any(pad)):
            x, same = tf.pad(x, [(0, 0)] + around + [(0, 0)], constant_values=0.0 if average else x.dtype.min), False
        call = tf.nn.avg_pool2d if average else tf.nn.max_pool2d
        return call(x, kernel, stride, "SAME" if same else "VALID")

    def lrn(self, layer, x):
        size = layer.get("size", 5)
        return self.tf.nn.local_response_normalization(x, size // 2, layer.get("k", 1), layer.get("alpha", 1e-4) / size,
                                                       layer.get("beta", 0.75))

    def batch_norm(self, layer, x):
        channels, momentum = [x.shape[-1]], layer.get("momentum", 0.1)
        scale, shift = self.variable(layer, "weight", channels, 1.0), self.variable(layer, "bias", channels, 0.0)
        for kind, value in ((".running_mean", 0.0), (".running_var", 1.0)):
            if layer["name"] + kind not in self.inputs:
                self.inputs[layer["name"] + kind] = self.tf.Variable(self.tf.fill(channels, value), trainable=False)
        mean, variance = self.inputs[layer["name"] + ".running_mean"], self.inputs[layer["name"] + ".running_var"]
        y, new_mean, new_variance = self.tf.compat.v1.nn.fused_batch_norm(
            x, scale, shift, mean, variance, layer.get("eps", 1e-5), exponential_avg_factor=momentum)
        mean.assign(new_mean)
        variance.assign(new_variance)
        return y

    def fc(self, layer, x):
        y = x @ self.variable(layer, "weight", [x.shape[1], layer["out_features"]])
        if layer.get("bias") is False:
            return y
        return self.tf.nn.bias_add(y, self.variable(layer, "bias", [layer["out_features"]], 0.0))

    def embedding(self, layer, tokens):
        return self.tf.gather(self.variable(layer, "weight", [layer["vocabulary"], layer["dimension"]]), tokens)

    def lstm(self, layer, x):
        name = layer["name"] + ".keras"
        if name not in self.inputs:
            self.inputs[name] = self.tf.keras.layers.LSTM(layer["hidden"], return_sequences=True, unit_forget_bias=False)
        cell = self.inputs[name]
        y = cell(x)
        for k, v in zip(("weight_input", "weight_hidden", "bias"), cell.trainable_variables):
            self.variables[layer["name"] + "." + k] = getattr(v, "value", v)
            self.rules[layer["name"] + "." + k] = (1, 1)
        return y

    def mean_over_time(self, _, x, lengths):
        tf = self.tf
        mask = tf.sequence_mask(lengths, x.shape[1], tf.float32)[:, :, None]
        return tf.reduce_sum(x * mask, 1) / tf.cast(lengths, tf.float32)[:, None]

    def softmax_cross_entropy(self, _, x, labels):
        return self.tf.reduce_mean(self.tf.nn.sparse_softmax_cross_entropy_with_logits(labels, x))

    def sigmoid_cross_entropy(self, _, x, target):
        return self.tf.reduce_sum(self.tf.nn.sigmoid_cross_entropy_with_logits(target, x)) / self.batch

    def mean_squared_error(self, _, x, target):
        return self.tf.reduce_mean(self.tf.math.squared_difference(x, target))

    def relu(self, _, x): return self.tf.nn.relu(x)
    def sigmoid(self, _, x): return self.tf.sigmoid(x)
    def tanh(self, _, x): return self.tf.tanh(x)
    def dropout(self, layer, x): return self.tf.nn.dropout(x, layer.get("ratio", 0.5))
    def concat(self, _, *xs): return self.tf.concat(xs, len(xs[0].shape) - 1)
    def add(self, _, *xs): return self.tf.add_n(xs)
    def flatten(self, _, x): return self.tf.reshape(x, [self.batch, -1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", help="the network's JSON, from tench show NETWORK --graph")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--warmup", type=int, default=5)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--inter-op", type=int, help="default: as many as --threads")
    parser.add_argument("--onednn", choices=("on", "off"), default="on")
    flags = parser.parse_args()
    os.environ["TF_ENABLE_ONEDNN_OPTS"] = "1" if flags.onednn == "on" else "0"
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    import tensorflow as tf
    tf.config.threading.set_intra_op_parallelism_threads(flags.threads)
    tf.config.threading.set_inter_op_parallelism_threads(flags.inter_op or flags.threads)

    with open(flags.network, encoding="utf-8") as file:
        network = Network(tf, json.load(file), flags.batch)
    network.loss()  # makes the variables
    names = list(network.variables)
    weights = [network.variables[name] for name in names]
    momenta = [tf.Variable(tf.zeros_like(w)) for w in weights]

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = network.loss()
        for name, w, v, g in zip(names, weights, momenta, tape.gradient(loss, weights)):
            lr_mult, decay_mult = network.rules[name]
            g = tf.convert_to_tensor(g) + 0.0005 * decay_mult * w
            tf.raw_ops.ResourceApplyKerasMomentum(var=w.handle, accum=v.handle, lr=0.01 * lr_mult, grad=g, momentum=0.9)
        return loss

    times = []
    for _ in range(flags.warmup):
        step().numpy()
    for _ in range(flags.steps):
        begin = time.perf_counter()
        step().numpy()
        times.append(time.perf_counter() - begin)
    print(f"TensorFlow {tf.__version__}, batch {flags.batch}, {flags.threads} threads, per step: median_ms {1e3 * statistics.median(times):.4f}, "
          f"shortest_ms {1e3 * min(times):.4f}, {flags.steps} steps")


if __name__ == "__main__":
    main()
