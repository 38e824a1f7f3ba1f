// SPDX-License-Identifier: Apache-2.0
#include "machine/load.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "machine/fixture_folder.h"

namespace tench::load_test {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

TEST(LoadTest, NamesTheBusiestOtherProcessesFirst) {
  const std::vector<ProcessTime> before = {
      {1, "init", 0, 5 * kSecond, 0}, {2, "compiler", 10, kSecond, 0}, {3, "tench", 20, 0, 0},
      {4, "browser", 30, 0, 0},       {5, "old", 40, 9 * kSecond, 0},
  };
  const std::vector<ProcessTime> after = {
      {1, "init", 0, 5 * kSecond, 0},
      {2, "compiler", 10, 3 * kSecond, 77},
      {3, "tench", 20, kSecond, 0},
      {4, "browser", 30, kSecond, 0},
      {5, "new with an old number", 50, kSecond / 2, 0},
      {6, "idle", 60, kSecond / 100, 0},
  };
  const auto busy = BusiestProcesses(before, after, kSecond, 10, 3);
  ASSERT_EQ(busy.size(), 3u);
  EXPECT_EQ(busy[0].name, "compiler");
  EXPECT_DOUBLE_EQ(busy[0].cpus, 2.0);
  EXPECT_EQ(busy[0].rss_bytes, 77);
  EXPECT_EQ(busy[1].name, "browser");
  EXPECT_EQ(busy[2].name, "new with an old number");
  EXPECT_DOUBLE_EQ(busy[2].cpus, 0.5);
  EXPECT_EQ(BusiestProcesses(before, after, kSecond, 1, 3).size(), 1u);
  EXPECT_TRUE(BusiestProcesses(before, after, 0, 10, 3).empty());
}

TEST(LoadTest, ReadsEveryProcessThatCanBeRead) {
  FixtureFolder proc;
  proc.Write("7/stat", "7 (a \x01 b) S 1 7 7 0 -1 0 0 0 0 0 12 8 100 100 20 0 1 0 333 0 10 0\n");
  proc.Write("8/stat", "8 (cut");
  proc.Write("9/cmdline", "vanished");
  proc.Write("meminfo", "MemTotal: 1 kB\n");
  const auto times = ReadProcessTimes(proc.path());
  ASSERT_EQ(times.size(), 1u);
  EXPECT_EQ(times[0].pid, 7);
  EXPECT_EQ(times[0].name, "a \\x01 b");
  EXPECT_EQ(times[0].start_ticks, 333);
  EXPECT_EQ(times[0].cpu_ns, 20 * (kSecond / sysconf(_SC_CLK_TCK)));
  EXPECT_EQ(times[0].rss_bytes, 10 * sysconf(_SC_PAGESIZE));
}

TEST(LoadTest, FindsItselfOnThisMachine) {
  bool found = false;
  for (const ProcessTime& time : ReadProcessTimes()) found |= time.pid == getpid();
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace tench::load_test
