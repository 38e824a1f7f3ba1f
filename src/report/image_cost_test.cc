// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "report/summary.h"

namespace tench::image_cost_test {
namespace {

TEST(ImageCostTest, AMillionImagesCostTheirShareOfThePricePerHour) {
  Ranking ranking;
  RankGroup group;
  ASSERT_TRUE(group.cell.Set("batch", "10"));
  RankRow row;
  EXPECT_FALSE(ranking.CostPerMillion(group, row));
  row.step_ns = Estimate{36e6, {}, {}};  // 3.6 ms per image: an hour per million images
  EXPECT_FALSE(ranking.CostPerMillion(group, row)) << "no price is known";
  ranking.price_per_hour = 2.5;
  EXPECT_DOUBLE_EQ(ranking.CostPerMillion(group, row).value(), 2.5);
}

}  // namespace
}  // namespace tench::image_cost_test
