# SPDX-License-Identifier: Apache-2.0
"""A user's torch.nn.Module as a network of docs/network.md, to be trained in every framework.

    network = from_torch(MyNet(), torch.zeros(16, 3, 32, 32))
    network.save("mynet.json")          # tench run --network mynet.json --worker jax
    python -m tench_worker.torch_module model.py:MyNet 3x32x32 mynet.json

torch.export gives the graph; torch_ops.py has a method per op of ATen. The initial values are
tench's: Gaussian, with the standard deviation of the module's own weights.
"""
import importlib.util
import json
import sys

from .errors import WorkerError

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
    try:
        import torch
        from torch.export import export
    except ImportError as error:
        raise UnsupportedModule("from_torch needs PyTorch 2.6 or newer (%s): "
                                "python -m pip install 'torch>=2.6'" % error)
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
        return OpaqueModule(module, example, loss)
    from .torch_ops import Conversion
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
    spec = importlib.util.spec_from_file_location("users_model", path)
    holder = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(holder)
    except FileNotFoundError:
        raise UnsupportedModule("%s: no such file" % path)
    except Exception as error:
        raise UnsupportedModule("%s: %s: %s" % (path, type(error).__name__, error))
    found = getattr(holder, name, None)
    if found is None:
        raise UnsupportedModule("%s defines no '%s'" % (path, name))
    return found if hasattr(found, "state_dict") and not isinstance(found, type) else found()


def main(arguments):
    """python -m tench_worker.torch_module FILE.py:NAME SHAPE NETWORK.json"""
    if len(arguments) != 3:
        sys.stderr.write("usage: %s\n" % main.__doc__)
        return 2
    try:
        import torch
        sizes = [int(word) for word in arguments[1].split("x")]
        from_torch(_load(arguments[0]), torch.zeros(2, *sizes)).save(arguments[2])
    except ValueError:
        sys.stderr.write("from_torch: '%s' is not the shape of a sample, such as 3x32x32\n" %
                         arguments[1])
        return 2
    except ImportError:
        sys.stderr.write("from_torch: PyTorch is not installed: %s -m pip install torch\n" %
                         sys.executable)
        return 2
    except WorkerError as error:
        sys.stderr.write("from_torch: %s\n" % error)
        return 2
    print("tench run --network %s --worker torch-python" % arguments[2])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
