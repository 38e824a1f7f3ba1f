// SPDX-License-Identifier: Apache-2.0
#include "machine/cpu_use.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "machine/fixture_folder.h"

namespace tench::cpu_use_test {
namespace {

TEST(CpuUseTest, SumsTheBusyAndStolenTimeOfTheNamedCpus) {
  const FixtureFolder root;
  root.Write("stat",
             "cpu  100 100 100 900 0 0 0 100 0 0\n"
             "cpu0 1 2 3 400 5 6 7 8 0 0\n"
             "cpu1 10 20 30 400 50 60 70 80 0 0\n"
             "cpu12 1000 0 0 0 0 0 0 1000 0 0\n"
             "intr 1 2 3\n");
  const int64_t tick_ns = 1'000'000'000 / sysconf(_SC_CLK_TCK);
  const std::optional<CpuUse> one = ReadCpuUse({1}, root.path());
  ASSERT_TRUE(one);
  EXPECT_EQ(one->busy_ns, 190 * tick_ns);
  EXPECT_EQ(one->steal_ns, 80 * tick_ns);
  EXPECT_EQ(ReadCpuUse({0, 1}, root.path())->steal_ns, 88 * tick_ns);
}

TEST(CpuUseTest, AMissingOrStrangeFileIsNoReading) {
  const FixtureFolder root;
  EXPECT_FALSE(ReadCpuUse({0}, root.path()));
  root.Write("stat", "cpu0 one two\ncpu\ncpu1 1 2\n");
  EXPECT_FALSE(ReadCpuUse({0, 1}, root.path()));
}

TEST(CpuUseTest, ReadsThisMachine) { EXPECT_TRUE(ReadCpuUse({0, 1, 2, 3})); }

}  // namespace
}  // namespace tench::cpu_use_test
