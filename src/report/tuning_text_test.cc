// SPDX-License-Identifier: Apache-2.0
#include "report/tuning_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tench::tuning_text_test {
namespace {

using testing::ElementsAre;

TuningRecord Tuned() {
  TuningRecord tuning;
  tuning.settings = {{"layout", "channels_last"}};
  tuning.spent_ns = 2'000'000'000;
  tuning.default_step_ns = 4e6;
  tuning.best_step_ns = 3e6;
  tuning.trials = {{"default", Outcome::kOk, "", 4e6, 1'000'000'000},
                   {"layout=channels_last", Outcome::kOk, "", 3e6, 1'000'000'000}};
  return tuning;
}

TEST(TuningTextTest, TellsSettingsGainAndTheStepsAfterWhichItPays) {
  EXPECT_THAT(TuningLines(Tuned()),
              ElementsAre("tuned in 2 s, 2 trials: layout=channels_last, 25 % less time per step "
                          "than the default; pays after 2000 steps"));
}

TEST(TuningTextTest, ListsTrialsThatFailedOrWereNotMade) {
  TuningRecord tuning = Tuned();
  tuning.settings.clear();
  tuning.best_step_ns = tuning.default_step_ns;
  tuning.trials[1].outcome = Outcome::kCrashed;
  tuning.trials[1].reason = "signal 11";
  tuning.trials.push_back({"a=1", Outcome::kInterrupted, "not tried: …", std::nullopt, 0});
  EXPECT_THAT(TuningLines(tuning),
              ElementsAre("tuned in 2 s, 2 trials: the default settings are the fastest",
                          "  layout=channels_last: crashed: signal 11", "  a=1: not tried: …"));
}

TEST(TuningTextTest, AnUntunedRunHasNoCost) {
  EXPECT_EQ(TuningCostText({}), "");
  RunSummary summary;
  summary.tune_ns = 2'000'000'000;
  EXPECT_EQ(TuningCostText(summary), "2 s; the default settings are the fastest");
  summary.tune_pays_steps = 1;
  EXPECT_EQ(TuningCostText(summary), "2 s; pays after 1 step");
}

}  // namespace
}  // namespace tench::tuning_text_test
