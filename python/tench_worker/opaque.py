# SPDX-License-Identifier: Apache-2.0
"""A torch.nn.Module that tench has no form for: timed by the kit's loop, in PyTorch alone.

No other framework can compute it, and nothing checks what it computes, so a result is marked "no
parity", and its network "no-parity:NAME", which no other worker's run has.
"""
import os
import time

from .errors import WorkerError, last_line
from .job import BUDGET, Fields, PHASES
from .timed_loop import TimedLoop

PARITY = "no parity"


class _Work(object):
    """What the timed loop needs of a job."""

    def __init__(self, phase, budget):
        self.phase, self.budget, self.lr_schedule = phase, budget, []


class OpaqueResult(dict):
    """What `measure` returns, and a log of it for `tench import --caffe-log`."""

    def save(self, path):
        """Writes the timed steps in the format of `tench train`, as a run of torch-python."""
        if self["phase"] != "train":
            raise WorkerError("only a result of phase train can be saved, not of '%s'" %
                              self["phase"])
        prefix = time.strftime("I%Y%m%d %H:%M:%S.000000 ") + "%5d " % os.getpid()
        lines = ["tench.cpp:1] tench train: worker torch-python, network %s:%s, device cpu, "
                 "batch %d, threads %d" % (PARITY.replace(" ", "-"), self["network"],
                                           self["batch"], self["threads"]),
                 "tench.cpp:2] base_lr: %g momentum: %g weight_decay: %g" %
                 (self["lr"], self["momentum"], self["weight_decay"]),
                 "solver.cpp:289] Solving %s:%s" % (PARITY.replace(" ", "-"), self["network"])]
        losses = self["loss"][-len(self["step_ns"]):]
        for step, (step_ns, loss) in enumerate(zip(self["step_ns"], losses)):
            lines.append("solver.cpp:239] Iteration %d (%.6g iter/s, %.9gs/1 iters), loss = %.9g" %
                         (step, 1e9 / step_ns, step_ns / 1e9, loss))
        lines.append("solver.cpp:332] Optimization Done.")
        with open(path, "w") as file:
            file.write("".join("%s%s\n" % (prefix, line) for line in lines))
        return path


class OpaqueModule(object):
    def __init__(self, module, example, loss, name=None):
        import torch
        import torch.nn.functional as F
        self._torch = torch
        self.name = name or type(module).__name__
        self.module = module
        self.examples = tuple(example) if isinstance(example, (tuple, list)) else (example,)
        try:
            with torch.no_grad():
                output = module(*self.examples)
        except Exception as error:
            raise WorkerError("%s fails on the example (%s)" % (self.name, last_line(error)))
        if not isinstance(output, torch.Tensor):
            raise WorkerError("the module's output must be one tensor, not %s" %
                              type(output).__name__)
        if loss == "softmax_cross_entropy":
            shape = output.shape[:1] + output.shape[2:]
            self.target, self._loss = torch.zeros(shape, dtype=torch.long), F.cross_entropy
        else:
            self.target = torch.zeros_like(output)
            self._loss = F.mse_loss if "squared" in loss else F.binary_cross_entropy_with_logits

    def measure(self, phase="train", lr=0.01, momentum=0.9, weight_decay=0.0005, **budget):
        """Times steps by the stop rule of a run; `budget` has the keys of a job's budget.

        Returns an OpaqueResult: {"parity": "no parity", "network", "phase", "batch", "threads",
        "step_ns": [timed steps], "step_ns_median", "images_per_s", "converged", "loss": [...],
        "lr", "momentum", "weight_decay", "torch"}.
        """
        if phase not in PHASES:
            raise WorkerError("unknown phase '%s'; there are %s" % (phase, ", ".join(PHASES)))
        limits = Fields(budget, BUDGET, "budget")
        self.module.train(phase != "forward")
        learning = [p for p in self.module.parameters() if p.requires_grad]
        if phase != "forward" and not learning:
            raise WorkerError("%s has no parameter that learns; measure(\"forward\") times it" %
                              self.name)
        self._optimizer = self._torch.optim.SGD(learning, lr=lr, momentum=momentum,
                                                weight_decay=weight_decay) \
            if phase == "train" else None
        lines = []
        result = TimedLoop(self, _Work(phase, limits), limits.fixed_steps, lines.append).run()
        timed = [line for line in lines if not line["warmup"]]
        step_ns = [ns for line in timed for ns in line["step_ns"]]
        ordered = sorted(step_ns)
        middle = len(ordered) // 2
        median = (ordered[middle] + ordered[-middle - 1]) / 2.0
        batch = int(self.examples[0].shape[0])
        return OpaqueResult({
            "parity": PARITY, "network": self.name, "phase": phase, "batch": batch,
            "threads": self._torch.get_num_threads(), "step_ns": step_ns,
            "step_ns_median": median, "images_per_s": batch / median * 1e9,
            "converged": result.converged,
            "loss": [loss for line in lines for loss in line["loss"]], "lr": lr,
            "momentum": momentum, "weight_decay": weight_decay,
            "torch": self._torch.__version__})

    # --- what the timed loop calls ---

    def compilations(self):
        return None

    def restart_profile(self):
        pass

    def step(self, phase):
        if phase == "forward":
            with self._torch.no_grad():
                return float(self._loss(self.module(*self.examples), self.target))
        for parameter in self.module.parameters():
            parameter.grad = None
        loss = self._loss(self.module(*self.examples), self.target)
        loss.backward()
        if self._optimizer is not None:
            self._optimizer.step()
        return float(loss.detach())
