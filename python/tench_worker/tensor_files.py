# SPDX-License-Identifier: Apache-2.0
"""Tensors in files: little-endian float32 or int32, in the logical row-major order."""
import os

import numpy as np

from .errors import Failed


INTEGERS = ("label", "tokens", "lengths")


def input_type(layer):
    """Of an input layer's values."""
    return "<i4" if layer["role"] in INTEGERS else "<f4"


def tensor_path(folder, kind, name):
    return os.path.join(folder, kind, name.replace("%", "%25").replace("/", "%2F") + ".bin")


def read_raw(path, shape, dtype="<f4"):
    count = int(np.prod(shape, dtype=np.int64))
    try:
        size = os.path.getsize(path)
        if size != count * 4:
            raise Failed("%s: has %d bytes, but %d are needed" % (path, size, count * 4))
        return np.fromfile(path, dtype=dtype).reshape(shape)
    except (IOError, OSError) as error:
        raise Failed("%s: %s" % (path, error.strerror))


def sink_into(folder, kind, shapes):
    """A sink that writes arrays; `shapes` checks that an adapter returns the logical shape."""
    os.makedirs(os.path.join(folder, kind), exist_ok=True)

    def sink(name, values):
        values = np.ascontiguousarray(values, dtype="<f4")
        if values.size != int(np.prod(shapes[name], dtype=np.int64)):
            raise Failed("%s: the worker returned the shape %s instead of %s" %
                         (name, values.shape, tuple(shapes[name])))
        values.tofile(tensor_path(folder, kind, name))

    return sink


def state_shapes(graph):
    shapes = {parameter.name: parameter.shape for parameter in graph.parameters}
    for parameter in graph.trained:
        for suffix in (".momentum", ".momentum2"):
            shapes[parameter.name + suffix] = parameter.shape
    return shapes


def resolve_outputs(graph, outputs):
    if "*" in outputs:
        return [layer.name for layer in graph.computed]
    for name in outputs:
        if name not in graph.by_name:
            raise Failed("job.tensors.outputs: the network has no layer '%s'" % name)
    return list(outputs)


def write_tensors(adapter, graph, tensors):
    if not tensors.folder:
        return
    shapes = state_shapes(graph)
    if tensors.outputs:
        layers = {layer.name: layer.shape for layer in graph.layers}
        adapter.outputs(resolve_outputs(graph, tensors.outputs),
                        sink_into(tensors.folder, "outputs", layers))
    if tensors.parameters:
        adapter.parameters(sink_into(tensors.folder, "parameters", shapes))
    if tensors.state:
        adapter.state(sink_into(tensors.folder, "state", shapes))
    # Last: an adapter may repeat a step to read gradients, which moves running statistics.
    if tensors.gradients:
        adapter.gradients(sink_into(tensors.folder, "gradients", shapes))


def write_snapshot(adapter, graph, folder, steps):
    """FOLDER/STEPS appears only when it is complete."""
    whole = os.path.join(folder, str(steps))
    shapes = state_shapes(graph)
    adapter.parameters(sink_into(whole + ".part", "parameters", shapes))
    adapter.state(sink_into(whole + ".part", "state", shapes))
    os.rename(whole + ".part", whole)
