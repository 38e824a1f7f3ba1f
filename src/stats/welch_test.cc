// SPDX-License-Identifier: Apache-2.0
#include "stats/welch.h"

#include <gtest/gtest.h>

#include <vector>

namespace tench::welch_test {
namespace {

using Values = std::vector<double>;

// Variances 1 and 4, five values each: s = 1, t with 5.88 (5) degrees of freedom is 2.571.
TEST(WelchTest, TheIntervalHasTheDegreesOfFreedomOfWelchAndSatterthwaite) {
  const Values a = {-1.2649110640673518, -0.6324555320336759, 0, 0.6324555320336759,
                    1.2649110640673518};
  Values b;
  for (const double value : a) b.push_back(10 + 2 * value);
  const auto interval = MeanDifference(a, b);
  ASSERT_TRUE(interval);
  EXPECT_NEAR(interval->low, 10 - 2.5706, 1e-3);
  EXPECT_NEAR(interval->high, 10 + 2.5706, 1e-3);
}

TEST(WelchTest, OneValueHasNoInterval) {
  EXPECT_FALSE(MeanDifference(Values{1}, Values{1, 2}));
  EXPECT_FALSE(MeanDifference(Values{1, 2}, Values{}));
}

TEST(WelchTest, EqualValuesGiveAPoint) {
  const auto interval = MeanDifference(Values{1, 1}, Values{3, 3});
  ASSERT_TRUE(interval);
  EXPECT_EQ(interval->low, 2);
  EXPECT_EQ(interval->high, 2);
}

}  // namespace
}  // namespace tench::welch_test
