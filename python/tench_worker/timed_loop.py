# SPDX-License-Identifier: Apache-2.0
"""The measurement loop: warm-up steps, then timed steps until the stop rule finishes.

The same as src/worker/timed_loop.h. Not aware of JSON or descriptors; a test passes a clock.
"""
import math

from . import process_facts
from .stop_rule import StopRule

EMIT_EVERY_NS = 200000000
STEPS_PER_LINE = 16384


class LoopResult(object):
    def __init__(self, converged, steps, cpu_ns, wall_ns, stopped):
        self.converged, self.steps = converged, steps
        self.cpu_ns, self.wall_ns, self.stopped = cpu_ns, wall_ns, stopped


class TimedLoop(object):
    """`emit(steps)` gets the message `steps` as a dict, between steps and off the clock.

    `batch_of(step)` makes the samples of cycled input, None for fixed input. `after_step(steps)`
    may be None. `stopped()` asks whether to end after the current step.
    """

    def __init__(self, adapter, job, fixed_steps, emit, batch_of=None, after_step=None,
                 stopped=lambda: False, now_ns=process_facts.now_ns):
        self.adapter, self.job, self.fixed_steps, self.emit_line = adapter, job, fixed_steps, emit
        self.batch_of, self.after_step, self.stopped, self.now_ns = \
            batch_of, after_step, stopped, now_ns
        self.step, self.rate = 0, None
        self.last_emit_ns, self.last_step_ns = 0, 0
        self.warmup = True
        self.compiled = adapter.compilations()
        self._clear()

    def _clear(self):
        self.step_ns, self.input_ns, self.loss = [], [], []

    def run(self):
        budget = self.job.budget
        self.last_emit_ns = self.now_ns()
        while self.step < budget.warmup_steps and not self.stopped():
            self._one_step()
        self._emit()
        self.warmup = False
        self.adapter.restart_profile()
        rule = StopRule(budget, self.fixed_steps)
        cpu_start, start = process_facts.cpu_ns(), self.now_ns()
        while not rule.finished and not self.stopped():
            loss = self._one_step()
            rule.add(self.last_step_ns)
            # After divergence, more steps have no value for the stop rule.
            if self.fixed_steps == 0 and not math.isfinite(loss) and \
                    len(rule.steps) >= budget.min_steps:
                break
        result = LoopResult(rule.converged, self.step, process_facts.cpu_ns() - cpu_start,
                            self.now_ns() - start, self.stopped() and not rule.finished)
        self._emit()
        return result

    def _set_learning_rate(self):
        schedule = self.job.lr_schedule
        if not schedule:
            return
        rate = schedule[min(self.step, len(schedule) - 1)]
        if rate != self.rate:
            self.rate = rate
            self.adapter.set_learning_rate(rate)

    def _one_step(self):
        adapter, phase, now_ns = self.adapter, self.job.phase, self.now_ns
        self._set_learning_rate()
        if self.batch_of is not None:
            batch = self.batch_of(self.step)
            begin = now_ns()
            adapter.set_batch(batch)
            self.input_ns.append(now_ns() - begin)
        begin = now_ns()
        loss = float(adapter.step(phase))
        end = now_ns()
        self.last_step_ns = end - begin
        self.step_ns.append(self.last_step_ns)
        self.loss.append(loss)
        self.step += 1
        if self.after_step is not None:
            self.after_step(self.step)
        if end - self.last_emit_ns >= EMIT_EVERY_NS or len(self.step_ns) == STEPS_PER_LINE:
            self._emit()
        return loss

    def _emit(self):
        if not self.step_ns:
            return
        line = {"type": "steps", "first": self.step - len(self.step_ns), "warmup": self.warmup,
                "step_ns": self.step_ns}
        if self.batch_of is not None:
            line["input_ns"] = self.input_ns
        line["loss"] = self.loss
        compiled = self.adapter.compilations()
        if compiled is not None and compiled > self.compiled:
            line["compilations"] = compiled - self.compiled
        self.compiled = compiled
        self.emit_line(line)
        self._clear()
        self.last_emit_ns = self.now_ns()
