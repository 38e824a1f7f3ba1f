# SPDX-License-Identifier: Apache-2.0
"""Which variable of a framework holds which parameters, and in which layout.

A variable holds one parameter, or several: an LSTM's matrices are often one variable. `join` makes
the variable's array from the parameters' logical arrays, `split` is the inverse. Gradients and
momenta have the layout of their variable.
"""
import numpy as np

from .layout import filters_to_hwio, filters_to_oihw


class Binding(object):
    def __init__(self, name, parameters, join=None, split=None):
        self.name, self.parameters = name, parameters
        self.join = join or (lambda arrays: arrays[0])
        self.split = split or (lambda array: [array])
        self.lr_mult, self.decay_mult = parameters[0].lr_mult, parameters[0].decay_mult

    def read(self, source, suffix=""):
        """The variable's array from source(parameter's name + suffix)."""
        arrays = [np.asarray(source(p.name + suffix), np.float32) for p in self.parameters]
        return np.ascontiguousarray(self.join(arrays))

    def zeros(self):
        """An array of the variable's shape."""
        shapes = {p.name: p.shape for p in self.parameters}
        return self.read(lambda name: np.zeros(shapes[name], np.float32))

    def write(self, array, sink, suffix="", factor=1.0):
        parts = self.split(np.asarray(array))
        for parameter, part in zip(self.parameters, parts):
            sink(parameter.name + suffix, part if factor == 1.0 else part * np.float32(factor))


def gate_order(order, hidden):
    """Row indices that bring tench's gates (i, f, g, o) into `order`, and the inverse."""
    place = {"i": 0, "f": 1, "g": 2, "o": 3}
    rows = np.concatenate([np.arange(hidden) + place[gate] * hidden for gate in order])
    return rows, np.argsort(rows)


def bind(graph, conv="oihw", fc="oi", special=None):
    """One Binding per trained parameter; `special(layer)` returns a layer's own list, or None."""
    bindings = []
    for layer in graph.layers:
        own = special(layer) if special else None
        if own is not None:
            bindings.extend(own)
            continue
        for suffix, parameter in layer.parameters.items():
            if not parameter.trained:
                continue
            if layer.op == "conv" and suffix == "weight" and conv == "hwio":
                bindings.append(Binding(parameter.name, [parameter],
                                        lambda a: filters_to_hwio(a[0]),
                                        lambda a: [filters_to_oihw(a)]))
            elif layer.op == "fc" and suffix == "weight" and fc == "io":
                bindings.append(Binding(parameter.name, [parameter], lambda a: a[0].T,
                                        lambda a: [a.T]))
            else:
                bindings.append(Binding(parameter.name, [parameter]))
    return bindings
