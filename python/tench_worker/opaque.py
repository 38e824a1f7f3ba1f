# SPDX-License-Identifier: Apache-2.0
"""A torch.nn.Module that tench has no form for: timed by the kit's loop, in PyTorch alone.

No other framework can compute it, and nothing checks what it computes, so a result is marked "no
parity" and belongs in no ranking.
"""
from .errors import WorkerError
from .job import BUDGET, Fields, PHASES
from .timed_loop import TimedLoop

PARITY = "no parity"


class _Work(object):
    """What the timed loop needs of a job."""

    def __init__(self, phase, budget):
        self.phase, self.budget, self.lr_schedule = phase, budget, []


class OpaqueModule(object):
    def __init__(self, module, example, loss):
        import torch
        import torch.nn.functional as F
        self._torch = torch
        self.module = module
        self.examples = tuple(example) if isinstance(example, (tuple, list)) else (example,)
        with torch.no_grad():
            output = module(*self.examples)
        if not isinstance(output, torch.Tensor):
            raise WorkerError("the module's output must be one tensor, not %s" %
                              type(output).__name__)
        if loss == "softmax_cross_entropy":
            shape = output.shape[:1] + output.shape[2:]
            self.target, self._loss = torch.zeros(shape, dtype=torch.long), F.cross_entropy
        else:
            self.target = torch.zeros_like(output)
            self._loss = F.mse_loss if "squared" in loss else F.binary_cross_entropy_with_logits

    def measure(self, phase="train", lr=0.01, momentum=0.9, **budget):
        """Times steps by the stop rule of a run; `budget` has the keys of a job's budget.

        Returns {"parity": "no parity", "phase", "batch", "step_ns": [timed steps],
        "step_ns_median", "images_per_s", "converged", "loss": [...], "torch"}.
        """
        if phase not in PHASES:
            raise WorkerError("unknown phase '%s'; there are %s" % (phase, ", ".join(PHASES)))
        limits = Fields(budget, BUDGET, "budget")
        self.module.train(phase != "forward")
        learning = [p for p in self.module.parameters() if p.requires_grad]
        self._optimizer = self._torch.optim.SGD(learning, lr=lr, momentum=momentum) \
            if phase == "train" and learning else None
        lines = []
        result = TimedLoop(self, _Work(phase, limits), limits.fixed_steps, lines.append).run()
        timed = [line for line in lines if not line["warmup"]]
        step_ns = [ns for line in timed for ns in line["step_ns"]]
        ordered = sorted(step_ns)
        middle = len(ordered) // 2
        median = (ordered[middle] + ordered[-middle - 1]) / 2.0
        batch = int(self.examples[0].shape[0])
        return {"parity": PARITY, "phase": phase, "batch": batch, "step_ns": step_ns,
                "step_ns_median": median, "images_per_s": batch / median * 1e9,
                "converged": result.converged,
                "loss": [loss for line in lines for loss in line["loss"]],
                "torch": self._torch.__version__}

    # --- what the timed loop calls ---

    def compilations(self):
        return None

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
