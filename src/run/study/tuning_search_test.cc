// SPDX-License-Identifier: Apache-2.0
#include "run/study/tuning_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace tench::tuning_search_test {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

// A machine on which every trial takes a second.
class Trials final : public Clock {
 public:
  int64_t Now() override { return now_ns; }
  void SleepUntil(int64_t ns) override { now_ns = ns; }

  TrialEnd Make(const TrialPlan& plan) {
    plans.push_back(plan);
    now_ns += plans.size() == slow_trial ? 3 * kSecond / 2 : kSecond;
    TrialEnd end;
    end.step_ns = 100 * (plans.size() <= slowed ? 2 : 1);
    for (const auto& [key, value] : plan.settings) {
      const auto found = step_ns.find(key + "=" + value);
      if (found == step_ns.end()) continue;
      if (found->second == 0) return {Outcome::kCrashed, "signal 11", std::nullopt, {}};
      *end.step_ns += found->second;
    }
    if (plan.remaining_ns < kSecond && !plan.is_default)
      return {Outcome::kTimeout, "no result", std::nullopt, {}};
    if (plan.settings.contains("search")) end.frozen["search"] = "found";
    return end;
  }
  TuningRecord Search(const std::vector<CellSettings>& candidates, const Cell& cell = {},
                      int64_t budget_ns = 30 * kSecond) {
    return SearchSettings(
        cell, candidates, budget_ns, [this](const TrialPlan& plan) { return Make(plan); }, *this,
        stop.token());
  }

  int64_t now_ns = 0;
  std::map<std::string, double> step_ns;  // what a setting adds to 100 ns; 0 = it crashes
  std::vector<TrialPlan> plans;
  size_t slow_trial = 0;  // this one takes half a second longer
  size_t slowed = 0;      // so many first trials meet a machine of half the speed
  StopSource stop;
};

TEST(TuningSearchTest, TriesTheDefaultFirstAndEveryCandidateOnTopOfTheBest) {
  Trials trials;
  trials.step_ns = {{"a=1", -20}, {"b=1", 10}, {"c=1", -30}};
  const TuningRecord tuning = trials.Search({{{"a", "1"}}, {{"b", "1"}}, {{"c", "1"}}});
  EXPECT_EQ(tuning.settings, (CellSettings{{"a", "1"}, {"c", "1"}}));
  EXPECT_EQ(tuning.default_step_ns, 100);
  EXPECT_EQ(tuning.best_step_ns, 50);
  EXPECT_EQ(tuning.spent_ns, 6 * kSecond);
  ASSERT_EQ(trials.plans.size(), 6u);
  EXPECT_TRUE(trials.plans[0].is_default);
  EXPECT_EQ(trials.plans[2].settings, (CellSettings{{"a", "1"}, {"b", "1"}}));
  EXPECT_EQ(trials.plans[3].settings, (CellSettings{{"a", "1"}, {"c", "1"}}));
  EXPECT_EQ(tuning.trials[2].candidate, "b=1");
  // 6 s over 50 ns saved per step.
  EXPECT_EQ(tuning.PaysAfterSteps(), 120'000'000);
}

TEST(TuningSearchTest, ConfirmsTheSelectedSettingsAgainstTheDefault) {
  Trials trials;
  trials.step_ns = {{"a=1", -20}};
  const TuningRecord tuning = trials.Search({{{"a", "1"}}});
  ASSERT_EQ(trials.plans.size(), 4u);
  EXPECT_TRUE(trials.plans[2].settings.empty());
  EXPECT_FALSE(trials.plans[2].is_default) << "its time is limited by the budget";
  EXPECT_EQ(trials.plans[3].settings, (CellSettings{{"a", "1"}}));
  EXPECT_EQ(tuning.trials[2].candidate, "default, again");
  EXPECT_EQ(tuning.trials[3].candidate, "selected, again");
  EXPECT_EQ(tuning.settings, (CellSettings{{"a", "1"}}));
}

TEST(TuningSearchTest, ACandidateThatOnlyMetAFasterMachineIsGivenUp) {
  Trials trials;
  trials.slowed = 1;
  const TuningRecord tuning = trials.Search({{{"a", "1"}}});
  ASSERT_EQ(tuning.trials.size(), 4u);
  EXPECT_EQ(tuning.trials[0].step_ns, 200);
  EXPECT_EQ(tuning.trials[1].step_ns, 100) << "half of the default's time, by the machine alone";
  EXPECT_TRUE(tuning.settings.empty());
  EXPECT_EQ(tuning.default_step_ns, 100);
  EXPECT_EQ(tuning.best_step_ns, 100);
  EXPECT_FALSE(tuning.PaysAfterSteps());
}

TEST(TuningSearchTest, ABudgetWithoutRoomForBothTrialsConfirmsNothing) {
  Trials trials;
  trials.step_ns = {{"a=1", -20}};
  const TuningRecord tuning = trials.Search({{{"a", "1"}}}, {}, 4 * kSecond - 1);
  EXPECT_EQ(trials.plans.size(), 2u);
  EXPECT_EQ(tuning.settings, (CellSettings{{"a", "1"}}));
}

TEST(TuningSearchTest, TheEndOfTheBudgetDuringTheConfirmationGivesNothingUp) {
  Trials trials;
  trials.step_ns = {{"a=1", -20}};
  trials.slow_trial = 3;
  const TuningRecord tuning = trials.Search({{{"a", "1"}}}, {}, 4 * kSecond);
  ASSERT_EQ(tuning.trials.size(), 4u);
  EXPECT_EQ(tuning.trials[3].outcome, Outcome::kTimeout);
  EXPECT_EQ(tuning.settings, (CellSettings{{"a", "1"}}));
  EXPECT_EQ(tuning.best_step_ns, 80);
}

TEST(TuningSearchTest, ASelectionWhoseConfirmationFailsIsGivenUp) {
  Trials trials;
  trials.step_ns = {{"search=yes", -20}, {"search=found", 0}};
  EXPECT_TRUE(trials.Search({{{"search", "yes"}}}).settings.empty());
}

TEST(TuningSearchTest, ACandidateWithinTheMarginDoesNotReplaceTheDefault) {
  Trials trials;
  trials.step_ns = {{"a=1", -1.9}};
  const TuningRecord tuning = trials.Search({{{"a", "1"}}});
  EXPECT_TRUE(tuning.settings.empty());
  EXPECT_EQ(tuning.best_step_ns, 100);
  EXPECT_FALSE(tuning.PaysAfterSteps());
}

TEST(TuningSearchTest, TheResultOfASearchIsFrozen) {
  Trials trials;
  trials.step_ns = {{"search=yes", -20}, {"search=found", -20}, {"b=1", -10}};
  const TuningRecord tuning = trials.Search({{{"search", "yes"}}, {{"b", "1"}}});
  EXPECT_EQ(tuning.settings, (CellSettings{{"search", "found"}, {"b", "1"}}));
  EXPECT_EQ(trials.plans[2].settings.at("search"), "found") << "later trials repeat no search";
}

TEST(TuningSearchTest, LeavesOutWhatTheCellSetsAndWhatChangesNothing) {
  Trials trials;
  trials.step_ns = {{"a=1", -20}};
  Cell cell;
  ASSERT_TRUE(cell.Set("option.b", "2"));
  ASSERT_TRUE(cell.Set("env.X", "2"));
  const TuningRecord tuning =
      trials.Search({{{"a", "1"}}, {{"a", "1"}}, {{"b", "1"}}, {{"env.X", "1"}, {"c", "1"}}}, cell);
  EXPECT_EQ(trials.plans.size(), 4u) << "the default, one candidate, and both again";
  EXPECT_EQ(tuning.settings, (CellSettings{{"a", "1"}}));
}

TEST(TuningSearchTest, ACandidateThatFailsIsRecordedAndNotTaken) {
  Trials trials;
  trials.step_ns = {{"a=1", 0}, {"b=1", -20}};
  const TuningRecord tuning = trials.Search({{{"a", "1"}}, {{"b", "1"}}});
  EXPECT_EQ(tuning.settings, (CellSettings{{"b", "1"}}));
  EXPECT_EQ(tuning.trials[1].outcome, Outcome::kCrashed);
  EXPECT_EQ(tuning.trials[1].reason, "signal 11");
}

TEST(TuningSearchTest, StartsNoTrialForWhichTheBudgetIsTooSmall) {
  Trials trials;
  const std::vector<CellSettings> candidates = {{{"a", "1"}}, {{"b", "1"}}, {{"c", "1"}}};
  const TuningRecord tuning = trials.Search(candidates, {}, 5 * kSecond / 2);
  EXPECT_EQ(trials.plans.size(), 2u);
  EXPECT_EQ(trials.plans[1].remaining_ns, 3 * kSecond / 2);
  ASSERT_EQ(tuning.trials.size(), 4u);
  EXPECT_EQ(tuning.trials[3].candidate, "c=1");
  EXPECT_EQ(tuning.trials[3].wall_ns, 0);
  EXPECT_EQ(tuning.trials[3].reason, "not tried: the budget was spent");
  EXPECT_LE(tuning.spent_ns, tuning.budget_ns);
}

TEST(TuningSearchTest, ADefaultLongerThanTheBudgetIsTheOnlyTrial) {
  Trials trials;
  const TuningRecord tuning = trials.Search({{{"a", "1"}}}, {}, kSecond / 2);
  EXPECT_EQ(trials.plans.size(), 1u);
  EXPECT_TRUE(tuning.settings.empty());
  EXPECT_EQ(tuning.default_step_ns, 100);
}

TEST(TuningSearchTest, AStopEndsTheSearch) {
  Trials trials;
  trials.stop.RequestStop();
  trials.Search({{{"a", "1"}}, {{"b", "1"}}});
  EXPECT_EQ(trials.plans.size(), 1u);
}

}  // namespace
}  // namespace tench::tuning_search_test
