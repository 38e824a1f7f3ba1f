# SPDX-License-Identifier: Apache-2.0
"""The worker kit: everything of a tench worker but the framework (docs/workers.md).

A worker is one file with a class `Worker(Adapter)`. The kit reads the job, generates weights and
data, times the steps and writes the answers of docs/protocol.md. It needs numpy and Python 3.6 or
newer. Importing this package imports no framework and no numpy, so that `serve` can set thread
counts first.
"""
from .adapter import HUGE_PAGES, SHORT_SPIN, Adapter, BuildFacts, Option, candidate
from .errors import Failed, OutOfMemory, Unsupported

PROTOCOL = 1


def from_torch(module, example, loss="softmax_cross_entropy", name=None, opaque=False):
    """A torch.nn.Module as a network that every framework can train (torch_module)."""
    from .torch_module import from_torch as convert
    return convert(module, example, loss, name, opaque)


__all__ = ["HUGE_PAGES", "SHORT_SPIN", "Adapter", "BuildFacts", "Option", "candidate", "Failed",
           "OutOfMemory", "Unsupported", "PROTOCOL", "from_torch"]
