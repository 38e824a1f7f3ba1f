# SPDX-License-Identifier: Apache-2.0
"""Evaluations in the timed loop, with a training whose loss is its step."""
import unittest

try:
    import numpy
except ImportError:
    numpy = None
else:
    from .evaluator import Evaluator, Target
from .errors import Failed
from .job import Job
from .timed_loop import TimedLoop

NETWORK = {"name": "n", "layers": [
    {"name": "data", "op": "input", "shape": [2]},
    {"name": "label", "op": "input", "role": "label",
     "fill": {"kind": "integer", "low": 0, "high": 2}},
    {"name": "fc", "op": "fc", "inputs": ["data"], "out_features": 2},
    {"name": "loss", "op": "softmax_cross_entropy", "inputs": ["fc", "label"]}]}


def make_job(steps=4, warmup=1, **evaluation):
    return Job({"protocol": 1, "network": NETWORK, "batch": 2,
                "budget": {"warmup_steps": warmup, "fixed_steps": steps},
                "evaluation": dict({"data": "csv:/x"}, **evaluation)})


class Training(object):
    """Counts compilations too: an evaluation compiles once, a step never."""

    def __init__(self):
        self.steps, self.compiled = 0, 0

    def step(self, phase):
        self.steps += 1
        return float(self.steps)

    def compilations(self):
        return self.compiled

    def restart_profile(self):
        pass

    def parameters(self, sink):
        sink("fc.weight", self.weight)
        sink("fc.bias", self.weight[0])
        sink("aux.weight", self.weight)

    def state(self, sink):
        sink("fc.weight.momentum", self.weight)


@unittest.skipIf(numpy is None, "numpy is not installed for this interpreter")
class TimedEvaluationTest(unittest.TestCase):
    def run_loop(self, every, reached_at=None, steps=4, warmup=1):
        """The lines as text: the steps of a line, or the step of an evaluation."""
        training, lines = Training(), []

        def evaluate(step):
            training.compiled += 1
            lines.append("evaluation %d" % step)
            return step == reached_at

        loop = TimedLoop(training, make_job(steps, warmup), steps, lambda line: lines.append(line),
                         evaluate=evaluate, evaluate_every=every)
        result = loop.run()
        for line in lines:
            if isinstance(line, dict):
                self.assertNotIn("compilations", line)
        lines = [line if isinstance(line, str) else
                 "steps %d+%d" % (line["first"], len(line["step_ns"])) for line in lines]
        return result, lines

    def test_before_the_first_step_every_so_many_and_after_the_last(self):
        result, lines = self.run_loop(2)
        self.assertEqual(lines, ["evaluation 0", "steps 0+1", "steps 1+1", "evaluation 2",
                                 "steps 2+2", "evaluation 4", "steps 4+1", "evaluation 5"])
        self.assertTrue(result.converged)

    def test_no_step_is_evaluated_twice(self):
        self.assertEqual(self.run_loop(5)[1], ["evaluation 0", "steps 0+1", "steps 1+4",
                                               "evaluation 5"])

    def test_a_reached_target_ends_the_run_after_the_warm_up(self):
        result, lines = self.run_loop(1, reached_at=2)
        self.assertEqual(lines[-1], "evaluation 2")
        self.assertEqual((result.steps, result.converged, result.stopped), (2, True, False))
        self.assertEqual(self.run_loop(1, reached_at=1)[0].steps, 5)


@unittest.skipIf(numpy is None, "numpy is not installed for this interpreter")
class TargetTest(unittest.TestCase):
    def test_compares_accuracy_and_loss(self):
        accuracy, loss = Target("accuracy >= 0.9"), Target("loss <= 0.5")
        self.assertTrue(accuracy.reached_by({"loss": 1.0, "top1": 0.9}))
        self.assertFalse(accuracy.reached_by({"loss": 1.0, "top1": 0.89}))
        self.assertFalse(accuracy.reached_by({"loss": 0.0}))
        self.assertTrue(loss.reached_by({"loss": 0.5}))
        self.assertFalse(loss.reached_by({"loss": "nan"}))
        self.assertFalse(Target("").reached_by({"loss": 0.0, "top1": 1.0}))

    def test_refuses_another_text(self):
        for text in ("top5 >= 1", "accuracy > 1", "loss <= low", "loss <= 1e"):
            self.assertRaises(Failed, Target, text)


class Network(object):
    """An adapter whose logits are its weight."""

    def build(self, graph, job):
        self.names, self.job, self.batches = [p.name for p in graph.parameters], job, []

    def set_parameters(self, source):
        self.values = {name: source(name) for name in self.names}

    def set_state(self, source):
        self.momentum = source("fc.weight.momentum")

    def set_batch(self, inputs):
        self.batches.append(inputs)

    def step(self, phase):
        assert phase == "forward"
        return 0.25

    def outputs(self, layers, sink):
        sink(layers[0], self.values["fc.weight"])


class Reader(object):
    test_split = {"batches": 3, "logits": "fc"}

    def __init__(self):
        self.scored = []

    def read_test(self, index, inputs):
        return index, [layer.name for layer in inputs]

    def score(self, loss, logits):
        self.scored.append((loss, logits.tolist()))
        return {"samples": 5, "loss": 0.5, "top1": 0.8} if len(self.scored) == 3 else {}


@unittest.skipIf(numpy is None, "numpy is not installed for this interpreter")
class EvaluatorTest(unittest.TestCase):
    def test_scores_every_batch_with_the_parameters_of_the_training(self):
        training, network, reader = Training(), Network(), Reader()
        evaluator = Evaluator(make_job(), network, reader)
        self.assertTrue(network.job.observe)
        self.assertEqual(network.job.phase, "forward")
        training.weight = numpy.array([[1, 2], [3, 4]], numpy.float32)
        line = evaluator.run(training, 7)
        self.assertEqual(reader.scored, [(0.25, [[1, 2], [3, 4]])] * 3)
        self.assertEqual(network.batches, [(i, ["data", "label"]) for i in range(3)])
        self.assertGreater(line.pop("eval_ns"), 0)
        self.assertEqual(network.momentum.tolist(), [[0, 0], [0, 0]])
        self.assertEqual(line, {"type": "evaluation", "step": 7, "samples": 5, "loss": 0.5,
                                "top1": 0.8})

    def test_the_training_may_change_its_arrays_afterwards(self):
        training, network = Training(), Network()
        evaluator = Evaluator(make_job(), network, Reader())
        training.weight = numpy.ones((2, 2), numpy.float32)
        evaluator.run(training, 0)
        training.weight += 1
        self.assertEqual(network.values["fc.weight"].max(), 1)

    def test_refuses_a_plan_that_is_none(self):
        for plan in ({"every": 0}, {"every": True}, {"until": "soon"}):
            self.assertRaises(Failed, Evaluator, make_job(**plan), Network(), Reader())


if __name__ == "__main__":
    unittest.main()
