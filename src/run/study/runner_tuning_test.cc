// SPDX-License-Identifier: Apache-2.0
// The tuned track of a study: tuning before round 1, frozen settings in every round.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "run/study/test_runner.h"
#include "store/merge.h"

namespace tench::runner_tuning_test {
namespace {

using testing::HasSubstr;

// Steps take 2 ms; 1.5 ms with the option `speed`, whose search reports what it found; a quarter of
// that with QUICK in its environment. One candidate crashes.
constexpr const char* kTunableWorker = R"(#!/bin/sh
description='{"protocol":1,"name":"tunable","version":"1","ops":[],"devices":["cpu"],
"precisions":["f32"],"options":[{"name":"speed"}],"tuning":[{"options":{"speed":"search"}},
{"environment":{"QUICK":"1"}},{"options":{"speed":"broken"}},
{"options":{"speed":"other"},"phases":["forward"]},{"options":{"speed":"other"},"ops":["conv"]}]}'
description=$(echo "$description" | tr -d '\n')
if [ "$1" = --describe ]; then echo "$description"; exit; fi
step=2000000 frozen=''
if grep -q broken "$2"; then exit 3; fi
if grep -q 'search"' "$2"; then frozen=',"frozen":{"speed":"plan7"}'; fi
if grep -q 'speed' "$2"; then step=1500000; fi
if [ -n "$QUICK" ]; then step=$((step / 4)); fi
cat >&3 <<END
{"type":"hello","worker":$description}
{"type":"build","build_ns":1$frozen}
{"type":"steps","first":0,"warmup":true,"step_ns":[$step],"loss":[3]}
{"type":"steps","first":1,"step_ns":[$step,$step,$step],"loss":[3,2,1]}
{"type":"result","converged":true}
END
)";

class RunnerTuningTest : public RunnerTest {
 protected:
  void SetUp() override {
    RunnerTest::SetUp();
    const std::filesystem::path path = workers_.folder() / "tench-worker-tunable";
    std::ofstream(path) << kTunableWorker;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    catalog_ = WorkerCatalog::Discover({workers_.folder()});
  }

  StudyRequest Tuned(int64_t rounds, const std::string& tuned = "yes") {
    StudyRequest request;
    request.suite = "test";
    request.suite_fingerprint = "0123";
    request.rounds = rounds;
    PlannedCell planned;
    for (const auto& [name, text] : std::vector<std::pair<std::string, std::string>>{
             {"worker", "tunable"}, {"network", "mlp"}, {"threads", "1"}, {"tuned", tuned}})
      EXPECT_TRUE(planned.cell.Set(name, text));
    planned.id = planned.cell.Id();
    request.cells.push_back(planned);
    return request;
  }
  std::vector<TuningRecord> Tunings(int64_t study) {
    return *Store::Open(database_, Store::Mode::kReadOnly)->Tunings(study);
  }
};

TEST_F(RunnerTuningTest, TunesOnceBeforeRoundOneAndEveryRoundUsesTheFrozenSettings) {
  const auto result = Run(Tuned(2));
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->tuned, 1);
  const std::vector<TuningRecord> tunings = Tunings(result->study);
  ASSERT_EQ(tunings.size(), 1u);
  const TuningRecord& tuning = tunings[0];
  EXPECT_EQ(tuning.settings, (CellSettings{{"speed", "plan7"}, {"env.QUICK", "1"}}));
  ASSERT_EQ(tuning.trials.size(), 6u) << "other phases and ops are not tried";
  EXPECT_EQ(tuning.trials[1].candidate, "speed=search");
  EXPECT_EQ(tuning.trials[3].outcome, Outcome::kCrashed);
  EXPECT_EQ(tuning.default_step_ns, 2e6);
  EXPECT_EQ(tuning.best_step_ns, 375e3);
  EXPECT_FALSE(tuning.build.empty());
  const std::vector<RunRecord> runs = Stored();
  ASSERT_EQ(runs.size(), 2u) << "trials are no runs of the study";
  for (const RunRecord& run : runs) {
    EXPECT_EQ(run.outcome, Outcome::kOk) << run.reason;
    EXPECT_EQ(run.settings, tuning.settings);
    EXPECT_EQ(run.cell, Tuned(1).cells[0].cell);
    EXPECT_EQ(run.summary.step_ns_min, 375e3);
    EXPECT_EQ(run.summary.tune_ns, tuning.spent_ns);
    EXPECT_EQ(run.summary.tune_pays_steps, tuning.PaysAfterSteps());
    EXPECT_GT(run.summary.first_step_ns.value_or(0), 0);
    EXPECT_THAT(run.reproducer, HasSubstr("--option speed=plan7 --env QUICK=1"));
    EXPECT_THAT(run.reproducer, testing::Not(HasSubstr("--tuned")));
  }
}

TEST_F(RunnerTuningTest, AResumedStudyKeepsItsTuning) {
  const int64_t study = Run(Tuned(1))->study;
  const std::string tuned_utc = Tunings(study)[0].tuned_utc;
  const auto more = Run(Tuned(2));
  EXPECT_EQ(more->study, study);
  EXPECT_EQ(more->tuned, 0);
  EXPECT_TRUE(events_.tunings.empty());
  EXPECT_EQ(Tunings(study)[0].tuned_utc, tuned_utc);
  EXPECT_EQ(Stored()[1].settings, Stored()[0].settings);
}

TEST_F(RunnerTuningTest, ANewStudyRemembersNothing) {
  const int64_t first = Run(Tuned(1))->study;
  StudyRequest request = Tuned(1);
  request.fresh = true;
  const auto second = Run(request);
  EXPECT_NE(second->study, first);
  EXPECT_EQ(second->tuned, 1);
}

TEST_F(RunnerTuningTest, TheUntunedTrackMakesNoTrial) {
  const auto result = Run(Tuned(1, "no"));
  EXPECT_EQ(result->tuned, 0);
  EXPECT_TRUE(Tunings(result->study).empty());
  EXPECT_TRUE(Stored()[0].settings.empty());
  EXPECT_EQ(Stored()[0].summary.step_ns_min, 2e6);
  EXPECT_FALSE(Stored()[0].summary.tune_ns);
}

TEST_F(RunnerTuningTest, AnnouncesTheTuningWithItsShareAndShowsEachTrial) {
  StudyRequest request = Tuned(1);
  request.cells[0].limits.tune_budget_ns = 10'000'000'000;
  request.cells[0].budget.time_limit_ns = 29'000'000'000;
  ASSERT_TRUE(Run(request));
  ASSERT_GE(events_.tunings.size(), 2u);
  EXPECT_EQ(events_.tunings.front().cells, 1u);
  EXPECT_EQ(events_.tunings.front().share, 0.25) << "a run has a second of overhead";
  EXPECT_EQ(events_.tunings.back().done, 1u);
  EXPECT_EQ(events_.tunings.back().trial.trials, 6u);
}

TEST_F(RunnerTuningTest, MergingKeepsTheTuningOfEachStudy) {
  ASSERT_TRUE(Run(Tuned(1)));
  const std::filesystem::path merged = workers_.folder() / "merged.db";
  Store into = *Store::Open(merged, Store::Mode::kReadWrite);
  Store from = *Store::Open(database_, Store::Mode::kReadOnly);
  ASSERT_TRUE(MergeStore(into, from, std::nullopt).ok());
  ASSERT_EQ(into.Tunings(1)->size(), 1u);
  EXPECT_EQ(into.Tunings(1)->front().settings, from.Tunings(1)->front().settings);
  ASSERT_TRUE(MergeStore(into, from, std::nullopt).ok()) << "a second merge adds nothing";
}

}  // namespace
}  // namespace tench::runner_tuning_test
