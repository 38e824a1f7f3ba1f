# SPDX-License-Identifier: Apache-2.0
"""The tuned track's trial, the same as src/worker/option_trial.h.

Candidates are timed one after another and the one with the fastest step wins, because interference
only adds time. A later candidate must be strictly faster, so the default candidate goes first.
"""
from . import process_facts

WARMUP_STEPS, MIN_STEPS, MAX_STEPS = 2, 2, 10
CANDIDATE_NS = 300000000


class OptionTrial(object):
    def __init__(self, now_ns=process_facts.now_ns):
        self.now_ns, self.times, self.best_ns = now_ns, [], None

    def attempt(self, candidate, step):
        """Times step() and returns whether the candidate is the fastest so far."""
        for _ in range(WARMUP_STEPS):
            step()
        fastest, count, start = None, 0, self.now_ns()
        while count < MIN_STEPS or \
                (count < MAX_STEPS and self.now_ns() - start < CANDIDATE_NS):
            begin = self.now_ns()
            step()
            step_ns = self.now_ns() - begin
            fastest = step_ns if fastest is None else min(fastest, step_ns)
            count += 1
        self.times.append((candidate, fastest))
        if self.best_ns is not None and fastest >= self.best_ns:
            return False
        self.best_ns = fastest
        return True
