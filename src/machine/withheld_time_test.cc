// SPDX-License-Identifier: Apache-2.0
#include "machine/withheld_time.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "machine/affinity.h"
#include "machine/fixture_folder.h"

namespace tench::withheld_time_test {
namespace {

TEST(WithheldTimeTest, StealIsThatOfTheRunsCpusOnly) {
  const int64_t tick_ns = 1'000'000'000 / sysconf(_SC_CLK_TCK);
  FixtureFolder root;
  root.Write("proc/stat",
             "cpu  9 9 9 9 9 9 9 99 0 0\ncpu0 1 2 3 4 5 6 7 30 0 0\ncpu1 1 2 3 4 5 6 7 20 0 0\n"
             "cpu10 1 2 3 4 5 6 7 500 0 0\nintr 5\n");
  EXPECT_EQ(ReadWithheldTime({0, 1}, root.path()).steal_ns, 50 * tick_ns);
  EXPECT_EQ(ReadWithheldTime({10}, root.path()).steal_ns, 500 * tick_ns);
  EXPECT_FALSE(ReadWithheldTime({2}, root.path()).steal_ns.has_value());
  EXPECT_FALSE(ReadWithheldTime({0}, root.path()).throttled_ns.has_value());
}

TEST(WithheldTimeTest, SharesAreOfTheTimeOfAllCpus) {
  const int64_t tick_ns = 1'000'000'000 / sysconf(_SC_CLK_TCK);
  const WithheldTime begin{1, 100, 50}, end{1 + 100 * tick_ns, 100 + 52 * tick_ns, 50};
  const WithheldShares shares = SharesBetween(begin, end, 2);
  EXPECT_DOUBLE_EQ(shares.steal.value_or(-1), 0.25);
  EXPECT_DOUBLE_EQ(shares.throttled.value_or(-1), 0);
  EXPECT_EQ(SharesBetween(begin, {1 + tick_ns, 100 + tick_ns, 50}, 1).steal, 0)
      << "one tick is the resolution";
  EXPECT_FALSE(SharesBetween(begin, {2'000, {}, {}}, 2).steal.has_value());
  EXPECT_FALSE(SharesBetween(begin, begin, 2).steal.has_value()) << "no time has passed";
  // A counter that was reset, as after a migration of the machine.
  EXPECT_EQ(SharesBetween({1'000, 500, {}}, {2'000, 100, {}}, 1).steal, 0);
}

TEST(WithheldTimeTest, ThisMachineReportsItsStealTime) {
  EXPECT_TRUE(ReadWithheldTime(AllowedCpus()).steal_ns.has_value());
}

}  // namespace
}  // namespace tench::withheld_time_test
