# SPDX-License-Identifier: Apache-2.0
"""The job's weights and batches: from files where the job names them, else from the generator.

`JobInput.fill` is the source of adapters, `JobInput.make_batch` makes or reads the samples.
"""
import numpy as np

from .batch_reader import BatchReader
from .errors import Failed
from .fill import fill_tensor
from .job import hint
from .network import product, read_graph
from .tensor_files import input_type, read_raw, state_shapes


class JobInput(object):
    def __init__(self, job, graph):
        self.job, self.graph = job, graph
        self.images = job.images or job.batch
        self.shapes = state_shapes(graph)
        self.fills = {parameter.name: parameter.fill for parameter in graph.parameters}
        self._check_names()
        self.loaded = {}
        for layer in graph.inputs:
            if layer.name in job.tensors.load:
                values = read_raw(job.tensors.load[layer.name], layer.shape, input_type(layer))
                self._check_range(layer, values)
                self.loaded[layer.name] = values
        self.reader = BatchReader(job, graph) if job.data or job.evaluation.data else None

    def _check_names(self):
        if not self.job.tensors.load:
            return
        # A forward job may name tensors of the removed part; they are ignored.
        whole = read_graph(self.job.network, self.job.batch)
        known = list(state_shapes(whole)) + [layer.name for layer in whole.inputs]
        for name in self.job.tensors.load:
            if name not in known:
                raise Failed("job.tensors.load: the network has no tensor '%s'%s" %
                             (name, hint(name, known)))

    def _check_range(self, layer, values):
        for reader in self.graph.readers(layer.name):
            low, high, also = 0, None, None
            if reader.op == "embedding":
                high = reader["vocabulary"] - 1
            elif reader.op == "softmax_cross_entropy" and layer["role"] == "label":
                high, also = reader.inputs[0].shape[1] - 1, reader["ignore_label"]
            elif reader.op == "mean_over_time" and layer["role"] == "lengths":
                low, high = 1, reader.inputs[0].shape[1]
            if high is None:
                continue
            wrong = (values < low) | (values > high)
            if also is not None:
                wrong &= values != also
            if wrong.any():
                raise Failed("input '%s' has the value %d; it must be from %d to %d" %
                             (layer.name, values[wrong].flat[0], low, high))

    def fill(self, name):
        """The initial value of a parameter, running statistic or momentum."""
        shape = self.shapes[name]
        if name in self.job.tensors.load:
            return read_raw(self.job.tensors.load[name], shape)
        values = np.zeros(shape, np.float32)
        if name in self.fills:
            fill_tensor(self.job.seed, name, self.fills[name], 0, values.reshape(-1),
                        self.job.threads)
        return values

    def _samples(self, layer, first):
        size = product(layer.shape[1:])
        values = np.empty((self.job.batch, size), input_type(layer))
        row = 0
        while row < self.job.batch:  # the data set is cyclic
            begin = (first + row) % self.images
            count = min(self.job.batch - row, self.images - begin)
            fill_tensor(self.job.seed, layer.name, layer["fill"], begin * size,
                        values[row:row + count].reshape(-1), self.job.threads)
            row += count
        if layer["role"] == "label" and self.job.labels > 0:
            values %= self.job.labels
        return values.reshape(layer.shape)

    def make_batch(self, step):
        """{input layer: array} of a step."""
        if self.job.data:
            return self.reader.read(step)
        first = step * self.job.batch % self.images if self.job.cycled else 0
        return {layer.name: self.loaded[layer.name] if layer.name in self.loaded
                else self._samples(layer, first) for layer in self.graph.inputs}
