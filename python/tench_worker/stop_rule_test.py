# SPDX-License-Identifier: Apache-2.0
import unittest

from tench_worker.job import BUDGET, Fields
from tench_worker.stop_rule import StopRule, lower_rank


def rule(fixed_steps=0, **budget):
    return StopRule(Fields(budget, BUDGET, "budget"), fixed_steps)


def feed(stop, times):
    """The number of steps after which the rule finished."""
    for count, time in enumerate(times, 1):
        stop.add(time)
        if stop.finished:
            return count
    return None


class StopRuleTest(unittest.TestCase):
    def test_ranks_are_those_of_the_binomial_distribution(self):
        # Known ranks of the 95 % interval of a median.
        self.assertEqual([lower_rank(n) for n in (5, 6, 8, 9, 10, 25, 100)],
                         [0, 1, 1, 2, 2, 8, 40])
        self.assertEqual(lower_rank(1001), 469)

    def test_fixed_steps_are_only_counted(self):
        stop = rule(fixed_steps=4)
        self.assertEqual(feed(stop, [1, 100, 1, 100, 1]), 4)
        self.assertTrue(stop.converged)

    def test_constant_steps_converge_after_the_minimum(self):
        stop = rule(min_steps=10, min_time_ns=0)
        self.assertEqual(feed(stop, [1000] * 50), 10)
        self.assertTrue(stop.converged)

    def test_the_minimum_time_counts(self):
        self.assertEqual(feed(rule(min_steps=1, min_time_ns=20000), [1000] * 50), 20)

    def test_noise_ends_at_the_time_limit_unconverged(self):
        stop = rule(min_steps=10, min_time_ns=0, time_limit_ns=100000)
        self.assertIsNotNone(feed(stop, [1000, 3000] * 100))
        self.assertFalse(stop.converged)

    def test_the_time_limit_does_not_override_the_minimum_of_steps(self):
        stop = rule(min_steps=10, min_time_ns=0, time_limit_ns=3000)
        self.assertEqual(feed(stop, [1000, 3000] * 100), 10)
        self.assertFalse(stop.converged)

    def test_drifting_steps_do_not_converge(self):
        # The interval of the median alone would be narrow enough.
        times = [100000] * 40 + [104000] * 42
        stop = rule(min_steps=82, min_time_ns=0, relative_interval=0.019,
                    time_limit_ns=10 ** 12)
        self.assertIsNone(feed(stop, times))


if __name__ == "__main__":
    unittest.main()
