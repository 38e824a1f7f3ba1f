# SPDX-License-Identifier: Apache-2.0
import unittest

from tench_worker.profile import IntervalClock, ProfileRows


class ProfileTest(unittest.TestCase):
    def test_sums_calls_of_one_kernel(self):
        rows = ProfileRows()
        rows.add("conv1", "forward", "Conv2D", 30)
        rows.add("conv1", "forward", "BiasAdd", 5)
        rows.add("conv1", "forward", "Conv2D", 20)
        self.assertEqual(rows.rows(), [
            {"layer": "conv1", "direction": "forward", "kernel": "Conv2D", "calls": 2,
             "time_ns": 50},
            {"layer": "conv1", "direction": "forward", "kernel": "BiasAdd", "calls": 1,
             "time_ns": 5}])

    def test_a_part_ends_where_the_next_one_begins(self):
        times = iter([100, 130, 130, 190, 500])
        rows = ProfileRows()
        clock = IntervalClock(rows, lambda: next(times))
        clock.begin("a", "forward", "conv")
        clock.begin("b", "forward", "relu")
        clock.end()
        clock.end()  # nothing runs: no row, no look at the clock
        self.assertEqual([(row["layer"], row["time_ns"]) for row in rows.rows()],
                         [("a", 30), ("b", 60)])
        self.assertEqual(next(times), 500)


if __name__ == "__main__":
    unittest.main()
