# SPDX-License-Identifier: Apache-2.0
"""Batches of real data, read by the program tench-batches (src/batches/batch_server.h), and the
scores of an evaluation.

The program has the readers of the C++ workers, so that every worker gets the same bits. It is a
process of its own, and not a library in this one: its codecs never meet the framework's.
"""
import json
import os
import shutil
import subprocess

import numpy as np

from .errors import Failed, Unsupported
from .network import product
from .tensor_files import input_type


class BatchReader(object):
    """The program ends with this process, whose death closes its standard input."""

    def __init__(self, job, graph):
        program = os.environ.get("TENCH_BATCHES") or shutil.which("tench-batches")
        if not program or not os.path.exists(program):
            raise Unsupported("real data (job.data) needs the program tench-batches; "
                              "`make build` makes it, and TENCH_BATCHES names it")
        self.inputs = graph.inputs
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.test_split = self._ask(json.dumps(job.values))  # "batches" and "logits"

    def _ask(self, line, data=b""):
        """The answer's object; `data` follows the line."""
        try:
            self.process.stdin.write(line.encode("utf-8") + b"\n" + data)
            self.process.stdin.flush()
        except (IOError, OSError):
            pass  # its last line says why it ended
        answer = self.process.stdout.readline()
        if not answer:
            raise Failed("tench-batches ended with code %s" % self.process.wait())
        answer = json.loads(answer.decode("utf-8"))
        if answer.get("error"):
            kind = Unsupported if answer.get("kind") == "unsupported" else Failed
            raise kind(answer["error"])
        return answer

    def read(self, step):
        """{input layer: array} of a step."""
        self._ask("%d" % step)
        return self._values(self.inputs)

    def read_test(self, index, inputs):
        """{input layer: array} of a batch of the test split, for the layers `inputs`."""
        self._ask("test %d" % index)
        return self._values(inputs)

    def score(self, loss, logits):
        """Scores the test batch that was read last; the answer to the last one is the result."""
        data = b"" if logits is None else np.ascontiguousarray(logits, "<f4").tobytes()
        return self._ask("score %r" % loss, data)

    def _values(self, inputs):
        batch = {}
        for layer in inputs:
            count = product(layer.shape)
            data = self.process.stdout.read(4 * count)
            if len(data) != 4 * count:
                raise Failed("tench-batches ended with code %s" % self.process.wait())
            batch[layer.name] = np.frombuffer(bytearray(data), input_type(layer)).reshape(
                layer.shape)
        return batch
