#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A hand-written MXNet training loop of tench's LeNet and AlexNet; a baseline for the mxnet worker.

Needs the wheel of deps/fetch and a NumPy that MXNet 1.9 can import:
    python3 -m venv VENV && VENV/bin/pip install "numpy<1.24" requests "graphviz<0.9"
    VENV/bin/python bench/mxnet_loop.py lenet --batch 64 --threads 2
Compare with: tench run --worker mxnet --network lenet --batch 64 --threads 2
"""
import argparse
import os
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "deps", "fetched", "mxnet"))

import numpy as np  # noqa: E402


def lenet(mx, data):
    x = mx.sym.Convolution(data, kernel=(5, 5), num_filter=20, name="conv1")
    x = mx.sym.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="max")
    x = mx.sym.Convolution(x, kernel=(5, 5), num_filter=50, name="conv2")
    x = mx.sym.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="max")
    x = mx.sym.FullyConnected(x, num_hidden=500, name="fc1")
    x = mx.sym.Activation(x, act_type="relu")
    return mx.sym.FullyConnected(x, num_hidden=10, name="fc2")


def alexnet(mx, data):
    def conv(x, name, filters, kernel, **more):
        x = mx.sym.Convolution(x, kernel=(kernel, kernel), num_filter=filters, name=name, **more)
        return mx.sym.Activation(x, act_type="relu")

    def pool(x):
        return mx.sym.Pooling(x, kernel=(3, 3), stride=(2, 2), pool_type="max")

    def norm(x):
        return mx.sym.LRN(x, nsize=5, alpha=1e-4, beta=0.75, knorm=1)

    def dense(x, name):
        x = mx.sym.FullyConnected(x, num_hidden=4096, name=name)
        return mx.sym.Dropout(mx.sym.Activation(x, act_type="relu"), p=0.5)

    x = pool(norm(conv(data, "conv1", 96, 11, stride=(4, 4))))
    x = pool(norm(conv(x, "conv2", 256, 5, pad=(2, 2), num_group=2)))
    x = conv(x, "conv3", 384, 3, pad=(1, 1))
    x = conv(x, "conv4", 384, 3, pad=(1, 1), num_group=2)
    x = pool(conv(x, "conv5", 256, 3, pad=(1, 1), num_group=2))
    x = dense(dense(x, "fc6"), "fc7")
    return mx.sym.FullyConnected(x, num_hidden=1000, name="fc8")


NETWORKS = {"lenet": (lenet, (1, 28, 28), 10), "alexnet": (alexnet, (3, 227, 227), 1000)}
LR, MOMENTUM, DECAY = 0.01, 0.9, 0.0005


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("network", choices=sorted(NETWORKS))
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--warmup", type=int, default=5)
    parser.add_argument("--steps", type=int, default=100)
    arguments = parser.parse_args()
    # MXNet reads it while it is loaded.
    os.environ["OMP_NUM_THREADS"] = str(arguments.threads)
    import mxnet as mx
    build, sample, classes = NETWORKS[arguments.network]
    batch = arguments.batch

    output = mx.sym.SoftmaxOutput(build(mx, mx.sym.var("data")), mx.sym.var("label"), grad_scale=1.0 / batch, name="softmax")
    inputs = {"data": (batch,) + sample, "label": (batch,)}
    names = [name for name in output.list_arguments() if name not in inputs]
    requests = {name: "null" if name in inputs else "write" for name in output.list_arguments()}
    executor = output.simple_bind(mx.cpu(), grad_req=requests, **inputs)
    random = np.random.RandomState(1)
    for name in names:
        array = executor.arg_dict[name]
        fan_in = int(np.prod(array.shape[1:])) or 1
        array[:] = 0 if name.endswith("bias") else random.uniform(-1, 1, array.shape) * (3.0 / fan_in) ** 0.5
    executor.arg_dict["data"][:] = random.normal(0, 1, inputs["data"])
    labels = random.randint(0, classes, batch)
    executor.arg_dict["label"][:] = labels
    parameters = [(executor.arg_dict[name], executor.grad_dict[name], mx.nd.zeros(executor.arg_dict[name].shape)) for name in names]

    def step():
        executor.forward(is_train=True)
        executor.backward()
        for weight, gradient, momentum in parameters:
            mx.nd.sgd_mom_update(weight, gradient, momentum, lr=LR, momentum=MOMENTUM, wd=DECAY, out=weight)
        mx.nd.waitall()
        chosen = executor.outputs[0].asnumpy()[np.arange(batch), labels]
        return float(-np.log(np.maximum(chosen, 1e-30)).mean())

    for _ in range(arguments.warmup):
        loss = step()
    times = []
    for _ in range(arguments.steps):
        start = time.perf_counter_ns()
        loss = step()
        times.append(time.perf_counter_ns() - start)
    median_ms = statistics.median(times) * 1e-6
    print(f"{arguments.network} batch {batch}: median_ms {median_ms:.4f}, shortest_ms {min(times) * 1e-6:.4f} per step, {batch / median_ms * 1e3:.1f} images/s, "
          f"{len(times)} steps, last loss {loss:.4f}")


if __name__ == "__main__":
    main()
