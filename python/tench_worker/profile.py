# SPDX-License-Identifier: Apache-2.0
"""Rows of a result's profile: time by layer, direction and kernel (docs/protocol.md)."""
import collections

from . import process_facts

DIRECTIONS = ("forward", "backward", "update")


class ProfileRows(object):
    """Sums over the timed steps."""

    def __init__(self):
        self._sums = collections.OrderedDict()

    def add(self, layer, direction, kernel, time_ns, calls=1):
        row = self._sums.setdefault((layer, direction, kernel), [0, 0])
        row[0] += calls
        row[1] += int(time_ns)

    def clear(self):
        self._sums.clear()

    def rows(self):
        return [{"layer": layer, "direction": direction, "kernel": kernel, "calls": calls,
                 "time_ns": time_ns}
                for (layer, direction, kernel), (calls, time_ns) in self._sums.items()]


class IntervalClock(object):
    """Times consecutive parts of an eager step: each part ends where the next one begins.

    For a framework that executes on the calling thread, op by op. `rows` gets the parts.
    """

    def __init__(self, rows, now_ns=process_facts.now_ns):
        self.rows, self.now_ns = rows, now_ns
        self._part, self._start = None, 0

    def begin(self, layer, direction, kernel):
        self.end()
        self._part, self._start = (layer, direction, kernel), self.now_ns()

    def end(self):
        if self._part is not None:
            self.rows.add(*self._part, time_ns=self.now_ns() - self._start)
        self._part = None
