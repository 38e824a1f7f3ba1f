// SPDX-License-Identifier: Apache-2.0
#include "cli/measure_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tench::measure_flags_test {
namespace {

using testing::HasSubstr;

MeasureFlags Parse(const std::string& line) {
  MeasureFlags flags;
  CLI::App app;
  flags.AddTo(app);
  app.parse(line);
  return flags;
}
std::string BudgetError(const std::string& line) {
  const Result<Budget> budget = Parse(line).ToBudget();
  return budget.ok() ? "no error" : budget.error().message;
}
std::string LimitsError(const std::string& line) {
  const Result<Limits> limits = Parse(line).ToLimits();
  return limits.ok() ? "no error" : limits.error().message;
}

TEST(MeasureFlagsTest, EveryFlagOfTheBudgetReachesItsField) {
  const Budget budget = *Parse(
                             "--warmup 7 --min-steps 11 --min-time 2s --interval 3% --time-limit "
                             "4m --epochs 5")
                             .ToBudget();
  EXPECT_EQ(budget.warmup_steps, 7);
  EXPECT_EQ(budget.min_steps, 11);
  EXPECT_EQ(budget.min_time_ns, 2'000'000'000);
  EXPECT_DOUBLE_EQ(budget.relative_interval, 0.03);
  EXPECT_EQ(budget.time_limit_ns, 240'000'000'000);
  EXPECT_EQ(budget.epochs, 5);
  EXPECT_EQ(Parse("--steps 6").ToBudget()->fixed_steps, 6);
  EXPECT_DOUBLE_EQ(Parse("--interval 0.02").ToBudget()->relative_interval, 0.02);
}

TEST(MeasureFlagsTest, WithoutFlagsTheDefaultsHold) {
  const Budget budget = *Parse("").ToBudget();
  EXPECT_EQ(budget.warmup_steps, Budget().warmup_steps);
  EXPECT_EQ(budget.fixed_steps, Budget().fixed_steps);
  EXPECT_EQ(Parse("").ToLimits()->timeout_ns, Limits().timeout_ns);
}

TEST(MeasureFlagsTest, RefusesWhatMakesNoSense) {
  EXPECT_EQ(BudgetError("--steps 1 --epochs 1"), "--steps and --epochs exclude each other");
  EXPECT_THAT(BudgetError("--steps 0"), HasSubstr("--steps: 0 is not from 1"));
  EXPECT_THAT(BudgetError("--warmup 2000000000"), HasSubstr("--warmup"));
  EXPECT_THAT(BudgetError("--interval 100%"), HasSubstr("--interval: '100%'"));
  EXPECT_THAT(BudgetError("--min-time 0s"), HasSubstr("--min-time: '0s'"));
  EXPECT_THAT(LimitsError("--swap maybe"), HasSubstr("--swap: 'maybe'"));
  EXPECT_THAT(LimitsError("--memory-limit 0"), HasSubstr("--memory-limit"));
  EXPECT_THAT(LimitsError("--timeout soon"), HasSubstr("--timeout"));
}

TEST(MeasureFlagsTest, EveryFlagOfTheLimitsReachesItsField) {
  const Limits limits = *Parse("--timeout 90s --memory-limit 2GiB --swap kill").ToLimits();
  EXPECT_EQ(limits.timeout_ns, 90'000'000'000);
  EXPECT_EQ(limits.memory_bytes, int64_t{2} << 30);
  EXPECT_EQ(limits.swap, SwapPolicy::kKill);
  EXPECT_EQ(Parse("--swap allow").ToLimits()->swap, SwapPolicy::kAllow);
}

}  // namespace
}  // namespace tench::measure_flags_test
