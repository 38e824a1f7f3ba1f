# SPDX-License-Identifier: Apache-2.0
"""Evaluates the parameters of a training on a test split (C++: worker/evaluator).

A second adapter of the same framework holds the inference network. It gets parameters and running
statistics before every evaluation. tench-batches reads the split and computes loss and accuracy
from the logits, by the code of the C++ workers. Not aware of the timed loop.
"""
import re

import numpy as np

from . import process_facts
from .errors import Failed, WorkerError
from .network import read_graph
from .tensor_files import state_shapes


class Target(object):
    """"accuracy >= X" or "loss <= X"; "" is never reached."""

    def __init__(self, text):
        self.metric, self.value = "", 0.0
        if not text:
            return
        found = re.match(r"^(accuracy >=|loss <=) ([0-9.eE+-]+)$", text)
        try:
            self.metric, self.value = found.group(1).split()[0], float(found.group(2))
        except (AttributeError, ValueError):
            raise Failed("job.evaluation.until: '%s' is neither 'accuracy >= X' nor 'loss <= X'" %
                         text)

    def reached_by(self, evaluation):
        if self.metric == "accuracy":
            return evaluation.get("top1", -1.0) >= self.value
        return self.metric == "loss" and float(evaluation["loss"]) <= self.value


class Evaluator(object):
    def __init__(self, job, adapter, reader):
        """Builds the inference network in `adapter`, an instance of its own."""
        self.adapter, self.reader, self.values = adapter, reader, {}
        self.every, self.target = job.evaluation.every, Target(job.evaluation.until)
        if isinstance(self.every, bool) or not isinstance(self.every, int) or self.every < 1:
            raise Failed("job.evaluation.every: must be an integer from 1 on")
        self.graph = read_graph(job.network, job.batch, "forward")
        parameters = [parameter.name for parameter in self.graph.parameters]
        self.momenta = {name: shape for name, shape in state_shapes(self.graph).items()
                        if name not in parameters}
        try:
            adapter.build(self.graph, job.of_evaluation())
        except WorkerError as error:
            raise type(error)("evaluation: %s" % error)

    def _copy_parameters(self, trained):
        wanted = set(parameter.name for parameter in self.graph.parameters)

        def keep(name, values):
            # A training has more: momenta, and the parameters of auxiliary losses.
            if name in wanted:
                self.values[name] = np.array(values)

        trained.parameters(keep)
        trained.state(keep)
        self.adapter.set_parameters(self._give)
        self.adapter.set_state(self._give)
        self.values = {}

    def _give(self, name):
        if name in self.values:
            return self.values[name]
        if name in self.momenta:  # an inference network has none, but a worker may set them
            return np.zeros(self.momenta[name], np.float32)
        raise Failed("evaluation: the training has no tensor '%s'" % name)

    def run(self, trained, steps):
        """The message `evaluation`."""
        begin = process_facts.now_ns()
        self._copy_parameters(trained)
        logits, scores = self.reader.test_split["logits"], {}
        for index in range(self.reader.test_split["batches"]):
            self.adapter.set_batch(self.reader.read_test(index, self.graph.inputs))
            loss, kept = self.adapter.step("forward"), {}
            if logits:
                self.adapter.outputs([logits], kept.__setitem__)
            scores = self.reader.score(loss, kept.get(logits))
        line = dict(scores, type="evaluation", step=steps)
        line["eval_ns"] = process_facts.now_ns() - begin
        return line
