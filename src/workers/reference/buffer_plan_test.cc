// SPDX-License-Identifier: Apache-2.0
#include "workers/reference/buffer_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tench::buffer_plan_test {
namespace {

TEST(BufferPlanTest, SharesMemoryBetweenTensorsThatNeverMeet) {
  const std::vector<Lifetime> chain = {{10, 0, 1}, {20, 1, 2}, {10, 2, 3}, {20, 3, 4}};
  const BufferPlan plan = PlanBuffers(chain);
  EXPECT_EQ(plan.TotalElements(), 30);
  EXPECT_EQ(plan.buffer[0], plan.buffer[2]);
  EXPECT_EQ(plan.buffer[1], plan.buffer[3]);
}

TEST(BufferPlanTest, NeverSharesMemoryBetweenTensorsThatMeet) {
  std::vector<Lifetime> lifetimes;
  for (int64_t i = 0; i < 60; ++i)
    lifetimes.push_back({1 + i * 7 % 13, i * 5 % 31, i * 5 % 31 + i % 6});
  const BufferPlan plan = PlanBuffers(lifetimes);
  for (size_t a = 0; a < lifetimes.size(); ++a) {
    EXPECT_GE(plan.sizes[plan.buffer[a]], lifetimes[a].elements);
    for (size_t b = 0; b < a; ++b) {
      const bool meet =
          lifetimes[a].first <= lifetimes[b].last && lifetimes[b].first <= lifetimes[a].last;
      EXPECT_FALSE(meet && plan.buffer[a] == plan.buffer[b]) << a << " and " << b;
    }
  }
}

TEST(BufferPlanTest, GivesEmptyTensorsNothing) {
  EXPECT_THAT(PlanBuffers(std::vector<Lifetime>{{0, 0, 9}, {0, 3, 4}}).sizes, testing::IsEmpty());
}

}  // namespace
}  // namespace tench::buffer_plan_test
