# SPDX-License-Identifier: Apache-2.0
import math
import unittest

from tench_worker.errors import Failed
from tench_worker.network import ABILITIES, pool_padding, pool_windows, read_graph

DATA = {"name": "data", "op": "input", "shape": [3, 16, 16]}
LABEL = {"name": "label", "op": "input", "role": "label",
         "fill": {"kind": "integer", "low": 0, "high": 5}}


def network(*layers):
    return {"name": "n", "layers": [DATA, LABEL] + list(layers) + [
        {"name": "flat", "op": "flatten", "inputs": [layers[-1]["name"]]},
        {"name": "fc", "op": "fc", "inputs": ["flat"], "out_features": 5},
        {"name": "loss", "op": "softmax_cross_entropy", "inputs": ["fc", "label"]}]}


class NetworkTest(unittest.TestCase):
    def test_infers_shapes_and_parameters(self):
        graph = read_graph(network(
            {"name": "conv", "op": "conv", "inputs": ["data"], "out_channels": 8,
             "kernel": [3, 5], "stride": 2, "pad": [1, 2], "groups": 1},
            {"name": "bn", "op": "batch_norm", "inputs": ["conv"]},
            {"name": "pool", "op": "pool", "inputs": ["bn"], "kernel": 3, "stride": 2,
             "ceil_mode": True}), 4)
        self.assertEqual(graph.by_name["conv"].shape, (4, 8, 8, 8))
        self.assertEqual(graph.by_name["pool"].shape, (4, 8, 4, 4))
        self.assertEqual([p.name for p in graph.parameters],
                         ["conv.weight", "conv.bias", "bn.weight", "bn.bias", "bn.running_mean",
                          "bn.running_var", "fc.weight", "fc.bias"])
        self.assertEqual(graph.parameters[0].shape, (8, 3, 3, 5))
        self.assertEqual([p.name for p in graph.statistics], ["bn.running_mean", "bn.running_var"])

    def test_resolves_fills_from_the_shape(self):
        graph = read_graph(network({"name": "conv", "op": "conv", "inputs": ["data"],
                                    "out_channels": 8, "kernel": 3,
                                    "weight": {"fill": {"kind": "msra_fan_out"}}}), 1)
        self.assertEqual(graph.parameters[0].fill["std"], math.sqrt(2 / 72.0))
        self.assertEqual(graph.parameters[2].fill["high"], math.sqrt(3 / (8.0 * 14 * 14)))

    def test_cuts_auxiliary_heads_in_the_forward_phase(self):
        json = network({"name": "relu", "op": "relu", "inputs": ["data"]})
        json["layers"] += [
            {"name": "aux_flat", "op": "flatten", "inputs": ["relu"]},
            {"name": "aux_fc", "op": "fc", "inputs": ["aux_flat"], "out_features": 5},
            {"name": "aux", "op": "softmax_cross_entropy", "inputs": ["aux_fc", "label"],
             "auxiliary": True, "loss_weight": 0.3}]
        self.assertIn("aux_fc", read_graph(json, 2).by_name)
        cut = read_graph(json, 2, "forward").by_name
        self.assertNotIn("aux_fc", cut)
        self.assertNotIn("aux_flat", cut)
        self.assertIn("loss", cut)

    def test_counts_windows_as_caffe_does(self):
        self.assertEqual(pool_windows(112, 3, 2, 0, True), 56)
        self.assertEqual(pool_windows(112, 3, 2, 0, False), 55)
        self.assertEqual(pool_windows(4, 2, 3, 1, True), 2)  # a third window would start outside
        self.assertEqual(pool_padding(112, 3, 2, 0, 56), (0, 1))
        self.assertEqual(pool_padding(5, 2, 2, 0, 2), (0, -1))

    def test_names_the_abilities_that_a_layer_needs(self):
        graph = read_graph(network({"name": "relu", "op": "relu", "inputs": ["data"],
                                    "negative_slope": 0.1}), 1)
        self.assertEqual(graph.by_name["relu"].needs(), ["relu", "relu.negative_slope"])
        self.assertEqual(graph.by_name["fc"].needs(), ["fc"])
        self.assertIn("lrn.region", ABILITIES)

    def test_refuses_what_it_does_not_know(self):
        for layer, words in (({"name": "x", "op": "swish", "inputs": ["data"]}, "op 'swish'"),
                             ({"name": "x", "op": "relu", "inputs": ["dat"]}, "'dat'"),
                             ({"name": "x", "op": "relu", "inputs": ["data"], "slope": 1}, "slope"),
                             ({"name": "x", "op": "conv", "inputs": ["data"]}, "out_channels")):
            with self.assertRaises(Failed) as caught:
                read_graph(network(layer), 1)
            self.assertIn(words, str(caught.exception))


if __name__ == "__main__":
    unittest.main()
