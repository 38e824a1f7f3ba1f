# SPDX-License-Identifier: Apache-2.0
"""Modules of PyTorch as networks. The losses of a converted network and of the module agree."""
import contextlib
import io
import json
import os
import tempfile
import unittest

import tench_worker
from tench_worker.errors import WorkerError
from tench_worker.network import read_graph
from tench_worker.torch_module import UnsupportedModule, from_torch, main

try:
    import torch
    import torch.export
    from torch import nn
except ImportError:  # older releases have no torch.export
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


class LastStep(object if torch is None else nn.Module):
    """A classifier by the last state of an LSTM, with log-probabilities."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 6, batch_first=True)
        self.head = nn.Linear(6 + 6 + 6 + 5, 3)

    def forward(self, x):
        x, (last, _) = self.lstm(x)
        x = torch.cat([x[:, -1], last[-1], x.mean(1), x.max(2)[0]], 1)
        return nn.functional.log_softmax(self.head(x), 1)


def evaluate(network, module, inputs):
    """{layer: value} of the layers that PyTorch's functions compute, by docs/network.md."""
    graph = read_graph(network.json(), inputs.shape[0], "forward")
    values, F = {"data": inputs}, nn.functional
    modules = dict(module.named_modules())
    for layer in graph.computed:
        args = [values[name] for name in layer.input_names if name in values]
        if layer.op in ("conv", "fc", "batch_norm", "embedding"):
            value = modules[layer.name](args[0])
        elif layer.op == "lstm":
            value = modules[layer.name](args[0])[0]
        elif layer.op == "pool" and layer["mode"] == "max":
            value = F.max_pool2d(args[0], layer["kernel"], layer["stride"], layer["pad"])
        elif layer.op == "pool":
            value = args[0].mean((2, 3), keepdim=True) if layer["global"] else \
                F.avg_pool2d(args[0], layer["kernel"], layer["stride"], layer["pad"])
        else:
            value = {"relu": lambda x: F.leaky_relu(x, layer["negative_slope"]),
                     "sigmoid": torch.sigmoid, "dropout": lambda x: x, "tanh": torch.tanh,
                     "flatten": lambda x: x.flatten(1),
                     "reshape": lambda x: x.reshape([x.shape[0]] + list(layer["shape"])),
                     "slice": lambda x: x[:, layer["begin"]:layer["end"]],
                     "power": lambda x: (layer["scale"] * x + layer["shift"]) ** layer["power"],
                     "add": lambda *xs: sum(f * x for f, x in zip(
                         layer["coefficients"] or [1] * len(xs), xs)),
                     "multiply": lambda a, b: a * b, "maximum": torch.maximum,
                     "concat": lambda *xs: torch.cat(xs, 1),
                     "softmax_cross_entropy": lambda x: x,
                     "mean_squared_error": lambda x: x}[layer.op](*args)
        values[layer.name] = value
    return values


@unittest.skipIf(torch is None, "no PyTorch with torch.export: make workers W=torch-python@2.15")
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
        values = evaluate(network, module, x)
        self.assertTrue(torch.allclose(values["head"], module(x), atol=1e-6))

    def test_a_stack_of_lstms_is_a_layer_each(self):
        network = from_torch(sequence(), torch.zeros(2, 5, dtype=torch.long))
        self.assertEqual(self.ops(network), ["input", "embedding", "lstm", "lstm", "flatten", "fc",
                                             "input", "softmax_cross_entropy"])
        self.assertEqual(network.layers[0]["fill"]["high"], 50)
        self.assertEqual(read_graph(network.json(), 2).by_name["head"].shape, (2, 3))

    def test_steps_of_a_sequence_are_slices_and_pools(self):
        module, x = LastStep().eval(), torch.randn(2, 5, 4)
        network = from_torch(module, x)
        values = evaluate(network, module, x)
        log_probabilities = nn.functional.log_softmax(values["head"], 1)
        self.assertTrue(torch.allclose(log_probabilities, module(x), atol=1e-6))
        self.assertEqual(self.ops(network)[-3:], ["fc", "input", "softmax_cross_entropy"])

    def test_element_wise_ops_are_powers_and_sums(self):
        class Many(nn.Module):
            def forward(self, x):
                y = 1 - nn.functional.leaky_relu(x, 0.2)
                z = torch.cat([y[:, 1:3], (x * x + 1).sqrt()[:, :4]], 1)
                w = z.clamp(min=0).amax(2, keepdim=True) + torch.square(z).mean(2, keepdim=True)
                return torch.rsub(z[:, :1], z[:, 2:3]).flatten(1) / 4 + \
                    w.flatten(1)[:, 2:]

        module, x = Many(), torch.randn(3, 5, 4)
        network = from_torch(module, x, loss="mean_squared_error")
        output = evaluate(network, module, x)[network.layers[-1]["inputs"][0]]
        self.assertTrue(torch.allclose(output, module(x), atol=1e-6))

    def test_a_shared_parameter_is_named(self):
        class Twice(nn.Module):
            def __init__(self):
                super().__init__()
                self.one, self.head = nn.Linear(4, 4), nn.Linear(4, 2)

            def forward(self, x):
                return self.head(self.one(self.one(x)))

        with self.assertRaisesRegex(UnsupportedModule, r"in one \(it shares one.weight with "
                                    "another op"):
            from_torch(Twice(), torch.zeros(2, 4))
        tied = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))
        tied[1].weight = tied[0].weight
        with self.assertRaisesRegex(UnsupportedModule, "in 1 .it shares 1.weight with"):
            from_torch(tied, torch.zeros(2, 4))

    def test_a_mean_of_weights_is_kept_if_it_is_no_chance(self):
        module = nn.Sequential(nn.Linear(4, 300), nn.BatchNorm1d(300), nn.Linear(300, 3))
        nn.init.normal_(module[1].weight, mean=0.3, std=0.1)
        layers = from_torch(module, torch.zeros(2, 4)).layers
        self.assertEqual(layers[1]["weight"]["fill"]["mean"], 0)
        self.assertAlmostEqual(layers[2]["weight"]["fill"]["mean"], 0.3, delta=0.05)

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
        with tempfile.TemporaryDirectory() as folder:
            with open(found.save(os.path.join(folder, "gelu.log"))) as file:
                lines = file.read().splitlines()
        self.assertIn("worker torch-python, network no-parity:Sequential, device cpu, batch 6",
                      lines[0])
        steps = [line for line in lines if "] Iteration " in line]
        self.assertEqual(len(steps), 7)
        self.assertIn("%.9gs/1 iters), loss = %.9g" % (found["step_ns"][6] / 1e9,
                                                      found["loss"][8]), steps[6])
        with self.assertRaisesRegex(WorkerError, "only a result of phase train"):
            opaque.measure("forward", fixed_steps=2).save("never.log")
        with self.assertRaisesRegex(WorkerError, "Sequential fails on the example .RuntimeError"):
            from_torch(module, torch.randn(6, 5), opaque=True)

    def command(self, *arguments):
        """(exit code, standard output and error)"""
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            code = main(list(arguments))
        return code, out.getvalue()

    def test_the_command_writes_the_file_and_refuses_bad_input_in_one_line(self):
        with tempfile.TemporaryDirectory() as folder:
            model, out = os.path.join(folder, "m.py"), os.path.join(folder, "net.json")
            with open(os.path.join(folder, "beside_the_model.py"), "w") as file:
                file.write("CLASSES = 2\n")
            with open(model, "w") as file:
                file.write("from torch import nn\nfrom beside_the_model import CLASSES\n\n"
                           "def Net():\n    return nn.Linear(12, CLASSES)\n"
                           "def Words():\n"
                           "    return nn.Sequential(nn.Embedding(9, 4), nn.Flatten(),\n"
                           "                         nn.Linear(20, 3))\n"
                           "def Gelu():\n    return nn.Sequential(nn.Linear(12, 2), nn.GELU())\n"
                           "class Bad(nn.Module):\n    def forward(self, x):\n"
                           "        return nn.functional.gelu(x)\n"
                           "str = lambda: 'text'\n"
                           "class Sized(Bad):\n    def __init__(self, size):\n        pass\n"
                           "def Broken():\n    raise ValueError('no\\nluck')\n")
            self.assertEqual(self.command(model + ":Net", "12", out)[0], 0)
            with open(out) as file:
                self.assertEqual(json.load(file)["layers"][1]["op"], "fc")
            self.assertEqual(self.command(model + ":Words", "5", out, "--tokens")[0], 0)
            with open(out) as file:
                self.assertEqual(json.load(file)["layers"][0]["role"], "tokens")
            log = os.path.join(folder, "net.log")
            code, text = self.command(model + ":Gelu", "12", log, "--opaque", "--batch", "3")
            self.assertEqual((code, text), (0, "tench import --here --caffe-log %s\n" % log))
            for words, arguments in (
                    ("aten.gelu.default", [model + ":Bad", "12", out]),
                    ("defines no 'Gone'", [model + ":Gone", "12", out]),
                    ("'3x' is not the shape of a sample", [model + ":Net", "3x", out]),
                    ("'0' is not the shape of a sample", [model + ":Net", "0", out]),
                    ("such as 100", [model + ":Words", "3x4", out, "--tokens"]),
                    ("Sized() fails (TypeError", [model + ":Sized", "12", out]),
                    ("Broken() fails (ValueError: no)", [model + ":Broken", "12", out]),
                    ("no such file", [os.path.join(folder, "gone.py") + ":Net", "12", out]),
                    ("is no class", [model + ":CLASSES", "12", out]),
                    ("needs a torch.nn.Module, not", [model + ":str", "12", out]),
                    ("not of the form FILE.py:NAME", ["m.txt", "12", out]),
                    ("invalid choice: 'hinge'", [model + ":Net", "12", out, "--loss", "hinge"]),
                    ("only an opaque module", [model + ":Net", "12", out, "--batch", "3"]),
                    ("Bad has no parameter that learns", [model + ":Bad", "12", log, "--opaque"]),
                    ("No such file", [model + ":Net", "12", os.path.join(folder, "no", "f")]),
                    ("the following arguments are required", [])):
                code, text = self.command(*arguments)
                self.assertEqual(code, 2, text)
                self.assertIn(words, text)
                self.assertEqual(len(text.splitlines()), 1, text)


if __name__ == "__main__":
    unittest.main()
