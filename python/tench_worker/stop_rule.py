# SPDX-License-Identifier: Apache-2.0
"""The stop criterion of a run, the same as src/stats/stop_rule.h."""
import math

FEWEST_STEPS = 6  # with fewer values, even the whole range covers the median with less than 95 %
NORMAL_975 = 1.959963984540054
EXACT_LIMIT = 1000


def lower_rank(n):
    """The largest k for which the k-th and the (n+1-k)-th value bound the median with 95 %."""
    if n > EXACT_LIMIT:
        return int(n / 2.0 + 0.5 - NORMAL_975 / 2 * math.sqrt(n))
    probability = math.ldexp(1.0, -n)
    below, k = probability, 0
    while below <= 0.025:
        probability *= float(n - k) / (k + 1)
        below += probability
        k += 1
    return k


def interval_is_good(times, share):
    ordered = sorted(times)
    n = len(ordered)
    median = (ordered[(n - 1) // 2] + ordered[n // 2]) / 2.0
    skipped = max(lower_rank(n), 1) - 1
    allowed = share * median
    return ordered[n - 1 - skipped] - median <= allowed and median - ordered[skipped] <= allowed


def drifts(times, share):
    """Whether the medians of both halves differ by more than twice `share`."""
    half = len(times) // 2
    first, second = (sorted(part)[len(part) // 2] for part in (times[:half], times[half:]))
    return max(first, second) - min(first, second) > 2 * share * min(first, second)


class StopRule(object):
    def __init__(self, budget, fixed_steps):
        self.budget, self.fixed_steps = budget, fixed_steps
        self.steps, self.total_ns = [], 0
        self.finished, self.converged = False, fixed_steps > 0
        self.next_look = max(FEWEST_STEPS, budget.min_steps)

    def add(self, step_ns):
        self.steps.append(step_ns)
        self.total_ns += step_ns
        if self.finished:
            return
        count, budget = len(self.steps), self.budget
        if self.fixed_steps > 0:
            self.finished = count >= self.fixed_steps
            return
        out_of_time = self.total_ns >= budget.time_limit_ns and count >= budget.min_steps
        enough = count >= max(budget.min_steps, FEWEST_STEPS) and \
            self.total_ns >= budget.min_time_ns
        if enough and (out_of_time or count >= self.next_look):
            share = budget.relative_interval
            self.converged = interval_is_good(self.steps, share) and not drifts(self.steps, share)
            self.next_look = count + max(1, count // 10)
        self.finished = self.converged or out_of_time
