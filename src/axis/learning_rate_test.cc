// SPDX-License-Identifier: Apache-2.0
#include "axis/learning_rate.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tench::learning_rate_test {
namespace {

std::string ErrorOf(std::string_view text) {
  const auto rate = ParseRatePolicy(text);
  EXPECT_FALSE(rate.ok()) << text;
  return rate.ok() ? "" : rate.error().message;
}

TEST(LearningRateTest, EveryPolicyReadsBack) {
  for (const std::string text :
       {"fixed", "step,gamma=0.1,stepsize=1000", "exp,gamma=0.99", "inv,gamma=0.0001,power=0.75",
        "multistep,gamma=0.1,stepvalue=10/20", "poly,power=1,max_iter=500",
        "sigmoid,gamma=-0.01,stepsize=100"}) {
    const auto rate = ParseRatePolicy(text);
    ASSERT_TRUE(rate.ok()) << rate.error().message;
    EXPECT_EQ(RatePolicyText(*rate), text);
    EXPECT_EQ(*ParseRatePolicy(RatePolicyText(*rate)), *rate);
  }
}

TEST(LearningRateTest, ThePoliciesAreCaffes) {
  const auto at = [](std::string_view text, int64_t iteration) {
    LearningRate rate = *ParseRatePolicy(text);
    rate.base = 0.5;
    return rate.At(iteration);
  };
  EXPECT_EQ(at("fixed", 9), 0.5);
  EXPECT_DOUBLE_EQ(at("step,gamma=0.1,stepsize=10", 9), 0.5);
  EXPECT_DOUBLE_EQ(at("step,gamma=0.1,stepsize=10", 20), 0.005);
  EXPECT_DOUBLE_EQ(at("exp,gamma=0.5", 3), 0.0625);
  EXPECT_DOUBLE_EQ(at("inv,gamma=1,power=2", 1), 0.125);
  EXPECT_DOUBLE_EQ(at("multistep,gamma=0.1,stepvalue=2/4", 3), 0.05);
  EXPECT_DOUBLE_EQ(at("poly,power=2,max_iter=10", 5), 0.125);
  EXPECT_EQ(at("poly,power=2,max_iter=10", 50), 0);
  EXPECT_DOUBLE_EQ(at("sigmoid,gamma=1,stepsize=3", 3), 0.25);
}

TEST(LearningRateTest, AScheduleLeavesOutTrailingRepeats) {
  LearningRate rate = *ParseRatePolicy("step,gamma=0.5,stepsize=2");
  rate.base = 1;
  EXPECT_EQ(rate.Schedule(6), (std::vector<double>{1, 1, 0.5, 0.5, 0.25}));
  EXPECT_TRUE(LearningRate().Schedule(6).empty());
}

TEST(LearningRateTest, AMultistepWithoutStepsIsFixed) {
  LearningRate rate;
  rate.policy = RatePolicy::kMultistep;
  EXPECT_EQ(RatePolicyText(rate), "fixed");
}

TEST(LearningRateTest, WrongTextsAreErrorsThatNameThePart) {
  EXPECT_EQ(ErrorOf("stop"),
            "'stop' is not one of fixed, step, exp, inv, multistep, poly, sigmoid; did you mean "
            "'step'?");
  EXPECT_EQ(ErrorOf("inv"), "inv needs gamma and power");
  EXPECT_EQ(ErrorOf("fixed,gamma=1"), "fixed takes no 'gamma'");
  EXPECT_EQ(ErrorOf("exp,gamma=1,gamma=1"), "exp takes no second 'gamma'");
  EXPECT_EQ(ErrorOf("exp,gamma"), "'gamma' is not of the form KEY=VALUE");
  EXPECT_EQ(ErrorOf("step,gamma=1,stepsize=0"),
            "stepsize: '0' is not an integer from 1 to 2147483648");
  EXPECT_EQ(ErrorOf("exp,gamma=nan"), "gamma: 'nan' is not a number from -1000000 to 1000000");
  EXPECT_EQ(ErrorOf("multistep,gamma=1,stepvalue=20/10"), "stepvalue: '20/10' does not increase");
  ErrorOf("multistep,gamma=1,stepvalue=");
}

}  // namespace
}  // namespace tench::learning_rate_test
