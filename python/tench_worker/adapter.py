# SPDX-License-Identifier: Apache-2.0
"""The contract of a framework: the operations of src/worker/adapter.h in Python.

A worker's file defines `class Worker(Adapter)`. It builds the framework's own graph as the
framework's documentation recommends, and never re-implements an op that the framework has. It
imports the framework in `load`, not at the top: `--describe` must not wait for it, and thread
counts are set before.

Order of calls: load, build, set_parameters, set_state, set_batch, step... An exception ends the
run with an `error` line; `Unsupported` names the layer or option that the framework lacks.

A job with an evaluation has a second instance in the same process, with the inference network.
`load` is called once, on the first instance; `build` of the second comes after the first's.
"""
import collections

# An option of this framework. Without choices any text is valid.
Option = collections.namedtuple("Option", "name help default choices")


# Settings that may be faster than the defaults (docs/protocol.md). `phases` and `ops` limit the
# networks on which tench tries them; empty = all.
Candidate = collections.namedtuple("Candidate", "options environment phases ops")


def candidate(options=None, environment=None, phases=(), ops=()):
    return Candidate(options or {}, environment or {}, phases, ops)


# For every framework: huge pages by glibc's malloc.
HUGE_PAGES = candidate(environment={"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"})
# For a framework that computes with libgomp: its threads spin shortly at a barrier, then sleep.
SHORT_SPIN = candidate(environment={"GOMP_SPINCOUNT": "30000"})


class BuildFacts(object):
    """What `build` reports besides its time."""

    def __init__(self, planned_bytes=0, choices=None, gradients_materialized=False):
        self.planned_bytes = planned_bytes  # the framework's own estimate; 0 = unknown
        self.choices = choices or {}        # what the worker selected by itself
        # Phase gradient: every step writes the gradient of every trained parameter to memory.
        self.gradients_materialized = gradients_materialized


class Adapter(object):
    name = ""              # the NAME of tench-worker-NAME
    role = "framework"     # or baseline, oracle: docs/protocol.md
    package = ""           # the package whose version is the worker's, or several
    serves = ()            # prefixes of its versions that the worker can run; () = any
    gpu = ""               # why the worker lists no GPU
    lone = ""              # why one process cannot hold a second network, for an evaluation
    ops = ()               # the abilities of docs/network.md
    updates = ("sgd",)     # of sgd, nesterov, adam, clip_gradients
    precisions = ("f32",)
    options = ()           # of type Option
    tuning = (HUGE_PAGES,)  # of type Candidate, the most promising first

    def facts(self):
        """Further facts for the description, without loading the framework: text to text."""
        return {"gpu": self.gpu} if self.gpu else {}

    def load(self, job):
        """Imports the framework and sets its threads. `job` is a job.Job."""

    def build(self, graph, job):
        """Builds `graph` (network.Graph, already reduced in phase forward). Returns BuildFacts.

        All one-time work belongs here, since build time is measured apart. With `job.observe` the
        outputs, gradients and state are read later, and fusion may be off.
        """
        raise NotImplementedError

    def set_parameters(self, source):
        """Sets every trained parameter to source(name), an array in the logical order and shape.

        Resets momenta and step counts.
        """
        raise NotImplementedError

    def parameters(self, sink):
        """Calls sink(name, array) for every trained parameter."""
        raise NotImplementedError

    def set_state(self, source):
        """Sets running statistics by their names and momenta by `NAME.momentum`."""
        raise NotImplementedError

    def state(self, sink):
        raise NotImplementedError

    def set_batch(self, inputs):
        """Takes {input layer: array}; called once, or before every step of cycled input."""
        raise NotImplementedError

    def set_learning_rate(self, rate):
        raise NotImplementedError

    def step(self, phase):
        """Returns the loss as a float, when all of the step's work is complete."""
        raise NotImplementedError

    def compilations(self):
        """The number of compilations by the framework so far, or None if it cannot be known."""
        return None

    def gradients(self, sink):
        """The gradients of the last step."""
        raise NotImplementedError

    def outputs(self, layers, sink):
        """The outputs of the last step in an observing build."""
        raise NotImplementedError

    def restart_profile(self):
        """Forgets the kernels of the steps so far. Called after the warm-up."""

    def profile(self):
        """Rows of the result's profile, after the last step."""
        from .errors import Unsupported
        raise Unsupported("%s has no profile" % self.name)
