# SPDX-License-Identifier: Apache-2.0
"""A user's torch.nn.Module as a network of docs/network.md, to be trained in every framework.

    network = from_torch(MyNet(), torch.zeros(16, 3, 32, 32))
    network.save("mynet.json")          # tench run --network mynet.json --worker jax
    python -m tench_worker.torch_module model.py:MyNet 3x32x32 mynet.json

torch.export gives the graph; torch_conversion.py walks over it. The initial values are
tench's: Gaussian, with the standard deviation of the module's own weights.
"""
import argparse
import importlib.util
import json
import os
import sys

from .errors import WorkerError, last_line

LOSSES = ("softmax_cross_entropy", "sigmoid_cross_entropy", "mean_squared_error")
HINT = "from_torch(module, example, opaque=True) times it without parity"


class UnsupportedModule(WorkerError):
    """One line that names each op, and the layer of the module that uses it."""

    kind = "unsupported"


class Network(object):
    """A network in the form of docs/network.md."""

    def __init__(self, name, layers):
        self.name, self.layers = name, layers

    def json(self):
        return {"name": self.name, "layers": self.layers}

    def save(self, path):
        """Writes the file for `tench run --network PATH`. The path has a '/' or ends in .json."""
        lines = ",\n".join("    " + json.dumps(layer) for layer in self.layers)
        with open(path, "w") as file:
            file.write('{\n  "name": %s,\n  "layers": [\n%s\n  ]\n}\n' %
                       (json.dumps(self.name), lines))
        return path


def _export(module, example):
    torch = _import_torch()
    try:
        from torch.export import export
    except ImportError:
        raise UnsupportedModule("from_torch needs PyTorch 2.6 or newer, not %s: %s -m pip install "
                                "'torch>=2.6'" % (torch.__version__, sys.executable))
    if not isinstance(module, torch.nn.Module):
        raise UnsupportedModule("from_torch needs a torch.nn.Module, not %s" %
                                type(module).__name__)
    examples = tuple(example) if isinstance(example, (tuple, list)) else (example,)
    for one in examples:
        if not isinstance(one, torch.Tensor) or one.dim() == 0:
            raise UnsupportedModule("the example must be a tensor with the batch as its first "
                                    "dimension, or a tuple of such tensors")
    was_training = module.training
    try:
        return export(module.train(), examples), examples
    except Exception as error:
        text = str(error).strip().splitlines() or [""]
        raise UnsupportedModule("torch.export cannot read %s (%s: %s); %s" % (
            type(module).__name__, type(error).__name__, text[0], HINT))
    finally:
        module.train(was_training)


def from_torch(module, example, loss="softmax_cross_entropy", name=None, opaque=False):
    """The Network of `module`, followed by a loss; `example` is its input, with a batch.

    With `opaque`, an opaque.OpaqueModule: it is timed in PyTorch alone, and marked "no parity".
    Raises UnsupportedModule, which names all ops that docs/network.md lacks.
    """
    if loss not in LOSSES:
        raise UnsupportedModule("unknown loss '%s'; there are %s" % (loss, ", ".join(LOSSES)))
    if opaque:
        from .opaque import OpaqueModule
        return OpaqueModule(module, example, loss, name)
    from .torch_conversion import Conversion
    program, examples = _export(module, example)
    name = name or type(module).__name__
    conversion = Conversion(program, module, examples, loss)
    layers = conversion.run()
    if conversion.problems:
        count = len(conversion.problems)
        raise UnsupportedModule("%s: %s in tench: %s; %s" % (
            name, "1 op has no form" if count == 1 else "%d ops have no form" % count,
            "; ".join(conversion.problems), HINT))
    return Network(name, layers)


def _load(text):
    """The module of FILE.py:NAME; NAME is a class, a function, or a module."""
    path, colon, name = text.rpartition(":")
    if not colon or not path.endswith(".py"):
        raise UnsupportedModule("'%s' is not of the form FILE.py:NAME" % text)
    if not os.path.isfile(path):
        raise UnsupportedModule("%s: no such file" % path)
    spec = importlib.util.spec_from_file_location("users_model", path)
    holder = importlib.util.module_from_spec(spec)
    # As `python model.py`: its imports may be beside it.
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    try:
        spec.loader.exec_module(holder)
    except Exception as error:
        raise UnsupportedModule("%s: %s" % (path, last_line(error)))
    found = getattr(holder, name, None)
    if found is None:
        raise UnsupportedModule("%s defines no '%s'" % (path, name))
    if hasattr(found, "state_dict") and not isinstance(found, type):
        return found
    if not callable(found):
        raise UnsupportedModule("%s: '%s' is no class, function or module" % (path, name))
    try:
        return found()
    except Exception as error:
        raise UnsupportedModule("%s: %s() fails (%s); name a function without arguments that "
                                "returns the module" % (path, name, last_line(error)))


def _import_torch():
    try:
        import torch
    # A wheel without its CUDA libraries raises OSError or ValueError.
    except Exception as error:
        if isinstance(error, ImportError) and getattr(error, "name", "") == "torch":
            raise UnsupportedModule("PyTorch is not installed: %s -m pip install torch" %
                                    sys.executable)
        raise UnsupportedModule("PyTorch does not load (%s); to install it again: %s -m pip "
                                "install --force-reinstall torch" %
                                (last_line(error), sys.executable))
    return torch


def _example(torch, text, tokens, batch):
    try:
        sizes = [int(word) for word in text.split("x")]
    except ValueError:
        sizes = [0]
    if min(sizes) < 1 or (tokens and len(sizes) != 1):
        raise UnsupportedModule("'%s' is not the shape of a sample, such as %s" %
                                (text, "100" if tokens else "3x32x32"))
    return torch.zeros(batch, *sizes, dtype=torch.long if tokens else torch.float32)


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(2, "from_torch: %s; --help lists the arguments\n" % message)


def _parse(arguments):
    parser = _Parser(
        prog="python -m tench_worker.torch_module", description=
        "Converts a module of PyTorch to a network for `tench run --network NETWORK.json`.")
    parser.add_argument("module", metavar="FILE.py:NAME",
                        help="a class, a function that returns the module, or the module")
    parser.add_argument("shape", metavar="SHAPE", help="of a sample, such as 3x32x32")
    parser.add_argument("network", metavar="NETWORK.json", help="the file to write")
    parser.add_argument("--tokens", action="store_true",
                        help="a sample is word indices; SHAPE is their number")
    parser.add_argument("--loss", default=LOSSES[0], choices=LOSSES)
    parser.add_argument("--opaque", action="store_true",
                        help="time the module in PyTorch, without parity, and write a log that "
                        "`tench import --caffe-log` reads instead of a network")
    parser.add_argument("--batch", type=int, default=0, help="of an opaque module")
    parser.add_argument("--threads", type=int, default=0, help="of an opaque module; 0 = all")
    parsed = parser.parse_args(arguments)
    for name in ("batch", "threads"):
        value = getattr(parsed, name)
        if value < 0 or (value and not parsed.opaque):
            parser.error("--%s %d: %s" % (name, value, "must not be negative" if value < 0 else
                                          "only an opaque module has it; else `tench run` does"))
    return parsed


def main(arguments):
    """The command line; returns the exit code."""
    try:
        parsed = _parse(arguments)
    except SystemExit as end:
        return end.code
    try:
        torch = _import_torch()
        if parsed.threads:
            torch.set_num_threads(parsed.threads)
        example = _example(torch, parsed.shape, parsed.tokens, parsed.batch or 2)
        made = from_torch(_load(parsed.module), example, parsed.loss, opaque=parsed.opaque)
        if parsed.opaque:
            made.measure("train").save(parsed.network)
        else:
            made.save(parsed.network)
    except OSError as error:
        sys.stderr.write("from_torch: %s: %s\n" % (parsed.network, error.strerror))
        return 2
    except WorkerError as error:
        sys.stderr.write("from_torch: %s\n" % error)
        return 2
    print("tench import --here --caffe-log %s" % parsed.network if parsed.opaque else
          "tench run --network %s --worker torch-python" % parsed.network)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
