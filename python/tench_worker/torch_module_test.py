# SPDX-License-Identifier: Apache-2.0
"""Modules of PyTorch as networks. The losses of a converted network and of the module agree."""
import json
import os
import tempfile
import unittest

import tench_worker
from tench_worker.network import read_graph
from tench_worker.torch_module import UnsupportedModule, from_torch, main

try:
    import torch
    from torch import nn
except ImportError:
    torch = None


def residual():
    class Residual(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = nn.Conv2d(3, 8, 3, padding="same", bias=False)
            self.norm = nn.BatchNorm2d(8, momentum=0.2)
            self.branch = nn.Conv2d(8, 8, 3, padding=1, groups=2)
            self.head = nn.Linear(16, 5)

        def forward(self, x):
            x = torch.relu(self.norm(self.stem(x)))
            x = nn.functional.max_pool2d(x, 2)
            y = x + 0.5 * self.branch(x)
            y = torch.cat([y, nn.functional.silu(y)], 1)
            return self.head(nn.functional.dropout(y.mean((2, 3)), 0.25, self.training))
    return Residual()


def sequence():
    class Sequence(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(50, 6)
            self.lstm = nn.LSTM(6, 7, 2, batch_first=True)
            self.head = nn.Linear(35, 3)

        def forward(self, tokens):
            return self.head(self.lstm(self.words(tokens))[0].reshape(tokens.shape[0], 35))
    return Sequence()


@unittest.skipIf(torch is None, "no PyTorch: make workers W=torch-python@2.15")
class TorchModuleTest(unittest.TestCase):
    def ops(self, network):
        return [layer["op"] for layer in network.layers]

    def test_a_residual_network_keeps_its_layers_and_hyperparameters(self):
        network = tench_worker.from_torch(residual(), torch.zeros(4, 3, 8, 8))
        self.assertEqual(self.ops(network), [
            "input", "conv", "batch_norm", "relu", "pool", "conv", "power", "add", "sigmoid",
            "multiply", "concat", "pool", "flatten", "dropout", "fc", "input",
            "softmax_cross_entropy"])
        layers = {layer["name"]: layer for layer in network.layers}
        self.assertEqual(layers["stem"]["pad"], [1, 1])
        self.assertIs(layers["stem"]["bias"], False)
        self.assertEqual(layers["norm"]["momentum"], 0.2)
        self.assertEqual(layers["branch"]["groups"], 2)
        graph = read_graph(network.json(), 4)
        self.assertEqual(graph.by_name["head"].shape, (4, 5))
        # Twice: the package's function must not become the module of its name.
        self.assertEqual(self.ops(tench_worker.from_torch(residual(), torch.zeros(2, 3, 8, 8))),
                         self.ops(network))

    def test_the_layers_compute_what_the_module_computes(self):
        module = residual().eval()
        x = torch.randn(4, 3, 8, 8)
        network = from_torch(module, x)
        graph = read_graph(network.json(), 4, "forward")
        values = {"data": x}
        F = nn.functional
        for layer in graph.computed:
            args = [values[name] for name in layer.input_names if name in values]
            own = dict(module.named_modules()).get(layer.name)
            if layer.op == "pool":
                value = args[0].mean((2, 3), keepdim=True) if layer["global"] else \
                    F.max_pool2d(args[0], layer["kernel"], layer["stride"], layer["pad"])
            elif own is not None:
                value = own(args[0])
            else:
                value = {"relu": torch.relu, "sigmoid": torch.sigmoid, "dropout": lambda x: x,
                         "flatten": lambda x: x.flatten(1),
                         "power": lambda x: layer["scale"] * x + layer["shift"],
                         "add": lambda *xs: sum(xs), "multiply": lambda a, b: a * b,
                         "concat": lambda *xs: torch.cat(xs, 1),
                         "softmax_cross_entropy": lambda x: x}[layer.op](*args)
            values[layer.name] = value
        self.assertTrue(torch.allclose(values["head"], module(x), atol=1e-6))

    def test_a_stack_of_lstms_is_a_layer_each(self):
        network = from_torch(sequence(), torch.zeros(2, 5, dtype=torch.long))
        self.assertEqual(self.ops(network), ["input", "embedding", "lstm", "lstm", "flatten", "fc",
                                             "input", "softmax_cross_entropy"])
        self.assertEqual(network.layers[0]["fill"]["high"], 50)
        self.assertEqual(read_graph(network.json(), 2).by_name["head"].shape, (2, 3))

    def test_frozen_parameters_do_not_learn_and_begin_like_the_modules(self):
        module = nn.Sequential(nn.Linear(4, 300), nn.ReLU(), nn.Linear(300, 3))
        nn.init.normal_(module[0].weight, std=0.5)
        module[0].weight.requires_grad_(False)
        rule = from_torch(module, torch.zeros(2, 4)).layers[1]["weight"]
        self.assertEqual((rule["lr_mult"], rule["decay_mult"]), (0, 0))
        self.assertAlmostEqual(rule["fill"]["std"], 0.5, delta=0.05)

    def test_all_unsupported_ops_are_named_with_their_layers(self):
        module = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 3))
        with self.assertRaises(UnsupportedModule) as caught:
            from_torch(module, torch.zeros(2, 4))
        message = str(caught.exception)
        self.assertIn("Sequential: 2 ops have no form in tench: aten.gelu.default in 1; "
                      "aten.layer_norm.default in 2", message)
        self.assertIn("opaque=True", message)
        self.assertEqual(len(message.splitlines()), 1)

    def test_other_losses_have_a_target_of_the_outputs_shape(self):
        module = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 4))
        network = from_torch(module, torch.zeros(2, 4), loss="mean_squared_error")
        self.assertEqual(network.layers[-2]["shape"], [4])
        with self.assertRaisesRegex(UnsupportedModule, "unknown loss 'hinge'"):
            from_torch(module, torch.zeros(2, 4), loss="hinge")
        with self.assertRaisesRegex(UnsupportedModule, "the example must be a tensor"):
            from_torch(module, 3)

    def test_an_opaque_module_is_timed_without_parity(self):
        module = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 3))
        opaque = from_torch(module, torch.randn(6, 4), opaque=True)
        found = opaque.measure("train", fixed_steps=7, warmup_steps=2)
        self.assertEqual(found["parity"], "no parity")
        self.assertEqual((found["batch"], len(found["step_ns"]), len(found["loss"])), (6, 7, 9))
        self.assertLess(found["loss"][-1], found["loss"][0])

    def test_the_command_writes_the_file_and_refuses_bad_input(self):
        with tempfile.TemporaryDirectory() as folder:
            model, out = os.path.join(folder, "m.py"), os.path.join(folder, "net.json")
            with open(model, "w") as file:
                file.write("from torch import nn\n\ndef Net():\n    return nn.Linear(12, 2)\n"
                           "class Bad(nn.Module):\n    def forward(self, x):\n"
                           "        return nn.functional.gelu(x)\n")
            with open(os.devnull, "w") as null:
                import contextlib
                with contextlib.redirect_stdout(null), contextlib.redirect_stderr(null):
                    self.assertEqual(main([model + ":Net", "12", out]), 0)
                    self.assertEqual(main([model + ":Bad", "12", out]), 2)
                    self.assertEqual(main([model + ":Gone", "12", out]), 2)
                    self.assertEqual(main([model + ":Net", "3x", out]), 2)
                    self.assertEqual(main(["m.txt", "12", out]), 2)
                    self.assertEqual(main([]), 2)
            with open(out) as file:
                self.assertEqual(json.load(file)["layers"][1]["op"], "fc")


if __name__ == "__main__":
    unittest.main()
