#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A hand-written PyTorch training loop: LeNet or AlexNet on one resident batch, each step timed.

It uses no code of tench; a baseline for the torch worker. Needs PyTorch's Python package:
    python3 -m venv V && V/bin/pip install torch==2.15.0
    V/bin/python bench/torch_loop.py lenet 64 2 default 20 200
Arguments: lenet|alexnet BATCH THREADS default|channels_last WARMUP STEPS. Prints the median step in
milliseconds, then every step's time.
"""
import sys
import time

import torch
from torch import nn


def lenet():
    return nn.Sequential(
        nn.Conv2d(1, 20, 5), nn.MaxPool2d(2, 2), nn.Conv2d(20, 50, 5), nn.MaxPool2d(2, 2), nn.Flatten(),
        nn.Linear(800, 500), nn.ReLU(inplace=True), nn.Linear(500, 10))


def alexnet():
    def norm():
        return nn.LocalResponseNorm(5, 1e-4, 0.75, 1)

    def pool():
        return nn.MaxPool2d(3, 2, ceil_mode=True)

    def relu():
        return nn.ReLU(inplace=True)

    return nn.Sequential(
        nn.Conv2d(3, 96, 11, 4), relu(), norm(), pool(),
        nn.Conv2d(96, 256, 5, padding=2, groups=2), relu(), norm(), pool(),
        nn.Conv2d(256, 384, 3, padding=1), relu(),
        nn.Conv2d(384, 384, 3, padding=1, groups=2), relu(),
        nn.Conv2d(384, 256, 3, padding=1, groups=2), relu(), pool(), nn.Flatten(),
        nn.Linear(9216, 4096), relu(), nn.Dropout(0.5), nn.Linear(4096, 4096), relu(), nn.Dropout(0.5), nn.Linear(4096, 1000))


def main():
    name, batch, threads, layout, warmup, steps = sys.argv[1:]
    small = name == "lenet"
    torch.set_num_threads(int(threads))
    torch.set_num_interop_threads(1)
    torch.manual_seed(1)
    network = lenet() if small else alexnet()
    data = torch.randn(int(batch), 1, 28, 28) if small else torch.randn(int(batch), 3, 227, 227)
    labels = torch.randint(10 if small else 1000, (int(batch),))
    if layout == "channels_last":
        network = network.to(memory_format=torch.channels_last)
        data = data.to(memory_format=torch.channels_last)
    # Biases have twice the learning rate in these networks, and AlexNet's have no weight decay.
    weights = [p for p in network.parameters() if p.dim() > 1]
    biases = [p for p in network.parameters() if p.dim() == 1]
    optimizer = torch.optim.SGD(
        [{"params": weights}, {"params": biases, "lr": 0.02, "weight_decay": 0.0005 if small else 0}],
        lr=0.01, momentum=0.9, weight_decay=0.0005, fused=True)
    criterion = nn.CrossEntropyLoss()

    times_ms = []
    for step in range(int(warmup) + int(steps)):
        start = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        loss = criterion(network(data), labels)
        loss.backward()
        optimizer.step()
        loss.item()
        if step >= int(warmup):
            times_ms.append(1e3 * (time.perf_counter() - start))
    print("median_ms %.4f shortest_ms %.4f steps %s" % (sorted(times_ms)[len(times_ms) // 2], min(times_ms), " ".join("%.3f" % t for t in times_ms)))


if __name__ == "__main__":
    main()
