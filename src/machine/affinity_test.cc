// SPDX-License-Identifier: Apache-2.0
#include "machine/affinity.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <thread>

namespace tench::affinity_test {
namespace {

TEST(AffinityTest, AllowedCpusFollowTheMaskOfTheThread) {
  const std::vector<int> all = AllowedCpus();
  ASSERT_FALSE(all.empty());
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
  // In a separate thread, because the mask ends with the thread.
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<size_t>(all.back()), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    EXPECT_EQ(AllowedCpus(), std::vector<int>{all.back()});
  }).join();
  EXPECT_EQ(AllowedCpus(), all);
}

TEST(AffinityTest, ReadsAndPrintsListsOfCpus) {
  EXPECT_EQ(*ParseCpuList("0-3,8"), (std::vector<int>{0, 1, 2, 3, 8}));
  EXPECT_EQ(*ParseCpuList("8,0-1,1"), (std::vector<int>{0, 1, 8}));
  EXPECT_EQ(*ParseCpuList(""), std::vector<int>{});
  EXPECT_EQ(PrintCpuList({0, 1, 2, 3, 8, 10, 11}), "0-3,8,10-11");
  EXPECT_EQ(PrintCpuList({}), "");
}

TEST(AffinityTest, RefusesWhatIsNoListOfCpus) {
  for (const char* text : {"a", "3-1", "-1", "1-", "0-99999999999", "1 2"}) {
    EXPECT_FALSE(ParseCpuList(text).ok()) << text;
  }
  EXPECT_EQ(ParseCpuList("3-1").error().message, "'3-1' is not a list of CPUs such as 0-3,8");
}

}  // namespace
}  // namespace tench::affinity_test
