// SPDX-License-Identifier: Apache-2.0
#include "cli/class_scores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "data/data_set.h"

namespace tench::class_scores_test {
namespace {

TEST(ClassScoresTest, TheLargestScoresComeFirstWithTheirSoftmax) {
  const std::vector<float> scores = {0, std::log(6.0f), std::log(3.0f), NAN};
  const std::vector<ScoredClass> top = TopClasses(scores, 2);
  ASSERT_EQ(top.size(), 2u);
  EXPECT_EQ(top[0].index, 1);
  EXPECT_NEAR(top[0].probability, 0.6, 1e-6);
  EXPECT_EQ(top[1].index, 2);
  EXPECT_NEAR(top[1].probability, 0.3, 1e-6);
  EXPECT_EQ(TopClasses(scores, 9).size(), 4u);
}

TEST(ClassScoresTest, ALabelIsAmongTheTopAsCaffeCountsIt) {
  const std::vector<float> scores = {0.5f, 2, 1, 2};
  EXPECT_TRUE(IsAmongTop(scores, 2, 3));
  EXPECT_FALSE(IsAmongTop(scores, 2, 2));
  EXPECT_FALSE(IsAmongTop(scores, 1, 1)) << "another class has the same score";
  EXPECT_TRUE(IsAmongTop(scores, 3, 2));
  EXPECT_FALSE(IsAmongTop(scores, 4, 4));
  EXPECT_FALSE(IsAmongTop(std::vector<float>{NAN, NAN}, 0, 1));
}

TEST(ClassScoresTest, TheScoresAreTheInputOfTheMainLoss) {
  const Result<std::string> scores = ScoresLayer(*LoadNetwork("googlenet", "", 0));
  ASSERT_TRUE(scores.ok()) << scores.error().message;
  EXPECT_THAT(*scores, testing::Not(testing::HasSubstr("aux")));
}

}  // namespace
}  // namespace tench::class_scores_test
