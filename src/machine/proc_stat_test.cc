// SPDX-License-Identifier: Apache-2.0
#include "machine/proc_stat.h"

#include <gtest/gtest.h>

#include <string>

namespace tench::proc_stat_test {
namespace {

constexpr std::string_view kRest =
    " S 10 11 12 34816 13 4194560 201 202 3 4 50 60 7 8 20 0 9 0 987654 10000000 321 "
    "18446744073709551615 1 1 0\n";

TEST(ProcStatTest, ReadsTheFieldsThatMatter) {
  const std::string line = "42 (tench-worker)" + std::string(kRest);
  const auto stat = ParseProcStat(line);
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->pid, 42);
  EXPECT_EQ(stat->name, "tench-worker");
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->parent, 10);
  EXPECT_EQ(stat->group, 11);
  EXPECT_EQ(stat->session, 12);
  EXPECT_EQ(stat->minor_faults, 201);
  EXPECT_EQ(stat->waited_minor_faults, 202);
  EXPECT_EQ(stat->major_faults, 3);
  EXPECT_EQ(stat->waited_major_faults, 4);
  EXPECT_EQ(stat->cpu_ticks, 110);
  EXPECT_EQ(stat->waited_cpu_ticks, 15);
  EXPECT_EQ(stat->threads, 9);
  EXPECT_EQ(stat->start_ticks, 987654);
  EXPECT_EQ(stat->rss_pages, 321);
}

TEST(ProcStatTest, ANameMayHoldSpacesAndParentheses) {
  for (const std::string name : {"a b", "(sd-pam)", ") R 1 2 3 (", "x) S 10 (", "", ")"}) {
    const std::string line = "7 (" + name + ")" + std::string(kRest);
    const auto stat = ParseProcStat(line);
    ASSERT_TRUE(stat) << name;
    EXPECT_EQ(stat->name, name);
    EXPECT_EQ(stat->parent, 10) << name;
    EXPECT_EQ(stat->start_ticks, 987654) << name;
  }
}

TEST(ProcStatTest, ALineThatIsCutShortIsNothing) {
  const std::string line = "42 (tench-worker)" + std::string(kRest);
  const size_t last_needed = line.find(" 321 ") + 2;
  for (size_t size = 0; size < last_needed; ++size)
    EXPECT_FALSE(ParseProcStat(line.substr(0, size))) << size;
  EXPECT_FALSE(ParseProcStat("x (y) S 1 2 3"));
  EXPECT_FALSE(ParseProcStat(")("));
}

}  // namespace
}  // namespace tench::proc_stat_test
