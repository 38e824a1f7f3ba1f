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
    may be None. `evaluate(steps)` sends an evaluation before the first step, after every
    `evaluate_every` steps and after the last one; true ends the run. `stopped()` asks whether to end after the current step. `next_turn()` waits for the
    next slice of a job in turns and returns None after the last; it is None for any other job.
    """

    def __init__(self, adapter, job, fixed_steps, emit, batch_of=None, after_step=None,
                 stopped=lambda: False, now_ns=process_facts.now_ns, next_turn=None,
                 evaluate=None, evaluate_every=1):
        self.adapter, self.job, self.fixed_steps, self.emit_line = adapter, job, fixed_steps, emit
        self.batch_of, self.after_step, self.stopped, self.now_ns = \
            batch_of, after_step, stopped, now_ns
        self.next_turn = next_turn
        self.evaluate, self.evaluate_every = evaluate, evaluate_every
        self.evaluated_at, self.reached = None, False
        self.step, self.rate = 0, None
        self.last_emit_ns, self.last_step_ns = 0, 0
        self.warmup = True
        self.compiled = adapter.compilations()
        self._clear()

    def _clear(self):
        self.step_ns, self.input_ns, self.loss = [], [], []

    def run(self):
        budget = self.job.budget
        self._evaluate()
        self._warm_up(budget.warmup_steps)
        self.adapter.restart_profile()
        rule = StopRule(budget, self.fixed_steps)
        result = LoopResult(False, 0, 0, 0, False)
        if self.next_turn is None:
            self._timed(rule, result)
        while self.next_turn is not None and not self.stopped():
            turn = self.next_turn()
            if turn is None:
                break
            self._warm_up(turn.warmup_steps)
            self._timed(rule, result, self.step + turn.steps)
        # Turns may end before the last step.
        result.converged = self.reached or \
            rule.converged and (self.next_turn is None or rule.finished)
        result.steps = self.step
        result.stopped = self.stopped() and not rule.finished and not self.reached
        if self.evaluated_at != self.step and not result.stopped:
            self._evaluate()
        return result

    def _warm_up(self, steps):
        self.last_emit_ns, self.warmup = self.now_ns(), True
        end = self.step + steps
        while self.step < end and not self.stopped():
            self._one_step()
        self._emit()
        self.warmup = False

    def _timed(self, rule, result, end=None):
        """Timed steps until the rule ends them, or until step `end`."""
        budget = self.job.budget
        cpu_start, start = process_facts.cpu_ns(), self.now_ns()
        self.reached = False  # a result has timed steps, even if the warm-up reached the target
        while not rule.finished and not self.stopped() and not self.reached and self.step != end:
            loss = self._one_step()
            rule.add(self.last_step_ns)
            # After divergence, more steps have no value for the stop rule.
            if self.fixed_steps == 0 and not math.isfinite(loss) and \
                    len(rule.steps) >= budget.min_steps:
                break
        result.cpu_ns += process_facts.cpu_ns() - cpu_start
        result.wall_ns += self.now_ns() - start
        self._emit()

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
        if self.step % self.evaluate_every == 0:
            self._evaluate()
        if end - self.last_emit_ns >= EMIT_EVERY_NS or len(self.step_ns) == STEPS_PER_LINE:
            self._emit()
        return loss

    def _evaluate(self):
        """The steps that it evaluates are emitted first."""
        if self.evaluate is None:
            return
        self._emit()
        self.reached = self.evaluate(self.step)
        self.evaluated_at = self.step
        self.compiled = self.adapter.compilations()  # no step contains those of an evaluation

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
