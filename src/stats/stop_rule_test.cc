// SPDX-License-Identifier: Apache-2.0
#include "stats/stop_rule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "stats/stats.h"

namespace tench::stop_rule_test {
namespace {

constexpr int64_t kMs = 1'000'000;

// A rule without limits other than those that a test sets.
Budget Free() {
  Budget budget;
  budget.min_steps = 0;
  budget.min_time_ns = 0;
  budget.time_limit_ns = std::numeric_limits<int64_t>::max();
  return budget;
}

// The number of steps until the rule finished, or -1.
int64_t StepsUntilFinished(StopRule& rule, int64_t most,
                           const std::function<int64_t(int64_t)>& step_ns) {
  for (int64_t i = 0; i < most; ++i) {
    rule.Add(step_ns(i));
    if (rule.Finished()) return i + 1;
  }
  return -1;
}

int64_t Constant(int64_t) { return kMs; }
// Spread evenly over ±10 % in an order without a trend.
int64_t Noisy(int64_t i) { return 90'000'000 + i * 7919 % 2001 * 10'000; }
// Half of the steps take twice as long: the interval contains both for any number of steps.
int64_t Restless(int64_t i) { return i % 2 == 0 ? kMs : 2 * kMs; }

TEST(StopRuleTest, CountsFixedStepsAndLooksAtNothingElse) {
  Budget budget;
  budget.fixed_steps = 7;
  budget.time_limit_ns = 1;
  StopRule rule(budget);
  EXPECT_TRUE(rule.Converged());
  EXPECT_EQ(StepsUntilFinished(rule, 100, Restless), 7);
  EXPECT_TRUE(rule.Converged());
  EXPECT_EQ(rule.steps().size(), 7u);
}

TEST(StopRuleTest, MakesTheLeastNumberOfSteps) {
  Budget budget = Free();
  budget.min_steps = 23;
  StopRule rule(budget);
  EXPECT_EQ(StepsUntilFinished(rule, 100, Constant), 23);
  EXPECT_TRUE(rule.Converged());
}

TEST(StopRuleTest, MeasuresForTheLeastTime) {
  Budget budget = Free();
  budget.min_time_ns = 500 * kMs;
  StopRule rule(budget);
  EXPECT_EQ(StepsUntilFinished(rule, 1000, Constant), 500);
  EXPECT_TRUE(rule.Converged());
}

TEST(StopRuleTest, NeverTrustsFewerStepsThanAnIntervalNeeds) {
  StopRule rule(Free());
  EXPECT_EQ(StepsUntilFinished(rule, 100, Constant), 6);
}

TEST(StopRuleTest, GoesOnUntilTheIntervalIsGood) {
  Budget budget = Free();
  budget.relative_interval = 0.01;
  StopRule rule(budget);
  // 0.98 sqrt(n) ranks of a spread of 20 % over n values are 1 % at about 400 steps.
  const int64_t steps = StepsUntilFinished(rule, 10000, Noisy);
  EXPECT_GT(steps, 200);
  EXPECT_LT(steps, 800);
  EXPECT_TRUE(rule.Converged());
  std::vector<int64_t> sorted = rule.steps();
  std::sort(sorted.begin(), sorted.end());
  const Interval interval = MedianInterval(sorted);
  EXPECT_LE(interval.high - interval.low, 2.05 * 0.01 * 100'000'000);
}

TEST(StopRuleTest, AWiderIntervalIsReachedSooner) {
  Budget narrow = Free(), wide = Free();
  narrow.relative_interval = 0.01;
  wide.relative_interval = 0.03;
  StopRule narrow_rule(narrow), wide_rule(wide);
  EXPECT_GT(StepsUntilFinished(narrow_rule, 10000, Noisy),
            3 * StepsUntilFinished(wide_rule, 10000, Noisy));
}

TEST(StopRuleTest, TheTimeLimitEndsARestlessRunAsUnconverged) {
  Budget budget = Free();
  budget.time_limit_ns = 300 * kMs;
  StopRule rule(budget);
  EXPECT_EQ(StepsUntilFinished(rule, 1000, Restless), 200);
  EXPECT_FALSE(rule.Converged());
}

TEST(StopRuleTest, TheTimeLimitDoesNotOverrideTheLeastNumberOfSteps) {
  Budget budget = Free();
  budget.min_steps = 10;
  budget.time_limit_ns = 3 * kMs;
  StopRule rule(budget);
  EXPECT_EQ(StepsUntilFinished(rule, 100, Restless), 10);
  EXPECT_FALSE(rule.Converged());
}

TEST(StopRuleTest, ARunThatIsSettledAtTheTimeLimitHasConverged) {
  Budget budget = Free();
  budget.min_steps = 20;
  budget.time_limit_ns = 20 * kMs;
  StopRule rule(budget);
  EXPECT_EQ(StepsUntilFinished(rule, 100, Constant), 20);
  EXPECT_TRUE(rule.Converged());
}

TEST(StopRuleTest, DoesNotTakeAMachineThatSlowsDownForAPreciseOne) {
  Budget budget = Free();
  budget.relative_interval = 0.03;
  budget.min_steps = 600;
  StopRule rule(budget);
  // 15 % slower after the minimum of steps, 25 % at the end.
  EXPECT_EQ(StepsUntilFinished(rule, 1000, [](int64_t i) { return 100'000 + 25 * i; }), -1);
  std::vector<int64_t> sorted = rule.steps();
  std::sort(sorted.begin(), sorted.end());
  const Interval interval = MedianInterval(sorted);
  EXPECT_LT((interval.high - interval.low) / interval.low, 0.03)
      << "the interval alone would have been good";
}

TEST(StopRuleTest, SettlesOnceADriftHasEnded) {
  Budget budget = Free();
  budget.min_steps = 60;
  StopRule rule(budget);
  const auto warming_up = [](int64_t i) { return i < 100 ? 150'000 - 500 * i : 100'000; };
  // The earlier half must be stationary for most of its length: about four times the hundred
  // warm-up steps.
  const int64_t steps = StepsUntilFinished(rule, 100'000, warming_up);
  EXPECT_GT(steps, 300);
  EXPECT_LT(steps, 450);
  EXPECT_TRUE(rule.Converged());
}

TEST(StopRuleTest, LooksAgainOnlyAfterTheSampleGrewByATenth) {
  Budget budget = Free();
  budget.min_steps = 100;
  StopRule rule(budget);
  // Drifts up to step 100 and is stationary afterwards: the first evaluation that can see it is at
  // 110 or later.
  int64_t first = 0;
  for (int64_t i = 0; !rule.Finished() && i < 10'000; ++i) {
    rule.Add(i < 50 ? 2 * kMs : kMs);
    first = i + 1;
  }
  EXPECT_TRUE(rule.Converged());
  int64_t look = 100;
  while (look < first) look += look / 10;
  EXPECT_EQ(look, first);
}

TEST(StopRuleTest, AMillionStepsCostLittle) {
  // Evaluating after every step would take hours; the test's timeout is the assertion.
  StopRule rule(Free());
  EXPECT_EQ(StepsUntilFinished(rule, 1'000'000, Restless), -1);
  EXPECT_EQ(rule.steps().size(), 1'000'000u);
}

}  // namespace
}  // namespace tench::stop_rule_test
