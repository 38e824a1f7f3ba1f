# SPDX-License-Identifier: Apache-2.0
import contextlib
import unittest

from tench_worker.job import Job
from tench_worker.lowering import Lowering
from tench_worker.network import average_share, exact_pads, read_graph

try:
    import numpy
except ImportError:
    numpy = None


def layers(*middle):
    first = [{"name": "data", "op": "input", "shape": [2, 7, 7]},
             {"name": "target", "op": "input", "shape": [2, 7, 7]}]
    return {"layers": first + list(middle)}


def job(**more):
    return Job(dict({"protocol": 1, "network": {}, "batch": 3}, **more))


class Numbers(Lowering):
    """Layers of plain numbers."""

    def mean_squared_error(self, layer, x, y):
        return self.weighted(layer, (x - y) ** 2)

    def dropout(self, layer, x):
        return x / 2 if self.drops(layer) else x

    def larger(self, x, y):
        return max(x, y)


class LoweringTest(unittest.TestCase):
    NETWORK = layers(
        {"name": "sum", "op": "add", "inputs": ["data", "target"], "coefficients": [2, -1]},
        {"name": "product", "op": "multiply", "inputs": ["sum", "data"]},
        {"name": "largest", "op": "maximum", "inputs": ["product", "data"]},
        {"name": "drop", "op": "dropout", "inputs": ["largest"]},
        {"name": "near", "op": "mean_squared_error", "inputs": ["drop", "target"]},
        {"name": "far", "op": "mean_squared_error", "inputs": ["sum", "target"],
         "loss_weight": 0.5})

    def run_numbers(self, phase="train", **more):
        made = Numbers(read_graph(self.NETWORK, 3, phase), job(phase=phase, **more))
        return made, made.run({"data": 3.0, "target": 1.0})

    def test_the_loss_is_the_weighted_sum_of_all_losses(self):
        lowering, loss = self.run_numbers()
        self.assertEqual(lowering.values["sum"], 5.0)
        self.assertEqual(lowering.values["product"], 15.0)
        self.assertEqual(lowering.values["largest"], 15.0)
        self.assertEqual(loss, (7.5 - 1) ** 2 + 0.5 * (5 - 1) ** 2)

    def test_dropout_is_the_identity_in_inference_and_where_the_job_says_so(self):
        without = (15.0 - 1) ** 2 + 0.5 * (5 - 1) ** 2
        self.assertEqual(self.run_numbers(phase="forward")[1], without)
        self.assertEqual(self.run_numbers(dropout=False)[1], without)

    def test_each_layer_is_lowered_in_the_scope_of_its_place(self):
        entered = []

        @contextlib.contextmanager
        def scope(name):
            entered.append(name)
            yield
            entered.append("-" + name)

        made = Numbers(read_graph(self.NETWORK, 3), job())
        made.scope_layers(scope)
        loss = made.run({"data": 3.0, "target": 1.0})
        self.assertEqual(loss, self.run_numbers()[1])
        first = [layer.op for layer in made.graph.layers].index("add")
        self.assertEqual(entered[:4], ["l%d" % first, "-l%d" % first,
                                       "l%d" % (first + 1), "-l%d" % (first + 1)])

    def test_an_op_without_a_method_is_an_error_before_the_step(self):
        network = layers({"name": "t", "op": "tanh", "inputs": ["data"]},
                         {"name": "l", "op": "mean_squared_error", "inputs": ["t", "target"]})
        with self.assertRaises(AttributeError):
            Numbers(read_graph(network, 3), job())


class WindowTest(unittest.TestCase):
    def pool(self, **fields):
        network = layers(dict({"name": "p", "op": "pool", "inputs": ["data"]}, **fields),
                         {"name": "l", "op": "mean_squared_error", "inputs": ["data", "target"]},
                         {"name": "m", "op": "mean_squared_error", "inputs": ["p", "p"]})
        return read_graph(network, 3).by_name["p"]

    def test_pads_make_the_windows_of_ceil_mode(self):
        self.assertEqual(exact_pads(self.pool(kernel=2, stride=2, ceil_mode=True)),
                         [(0, 1), (0, 1)])
        self.assertEqual(exact_pads(self.pool(kernel=3, stride=2, pad=1)), [(1, 1), (1, 1)])

    def test_elements_of_no_window_are_no_negative_pad(self):
        self.assertEqual(exact_pads(self.pool(kernel=2, stride=2)), [(0, 0), (0, 0)])

    @unittest.skipIf(numpy is None, "needs numpy")
    def test_averages_that_leave_the_padded_image_are_rescaled(self):
        share = average_share(self.pool(mode="avg", kernel=2, stride=2, ceil_mode=True))
        self.assertEqual(share.shape, (4, 4))
        self.assertEqual([share[0, 0], share[0, 3], share[3, 3]], [1, 2, 4])
        self.assertIsNone(average_share(self.pool(mode="avg", kernel=3, stride=2, pad=1)))


if __name__ == "__main__":
    unittest.main()
