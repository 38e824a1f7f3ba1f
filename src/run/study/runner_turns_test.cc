// SPDX-License-Identifier: Apache-2.0
// Studies in turns, with scripted workers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/study/test_runner.h"
#include "stats/slice.h"

namespace tench::runner_turns_test {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

class RunnerTurnsTest : public RunnerTest {
 protected:
  // Cells of one compared group, which differ in their options.
  StudyRequest InTurns(const std::vector<std::string>& behaviours, int64_t rounds) {
    StudyRequest request = Request("fake", {}, rounds);
    request.pairing = StudyPairing::kTurns;
    for (const std::string& behaviour : behaviours) {
      request.cells.push_back(FakeCell(behaviour));
      request.cells.back().budget.fixed_steps = 6;
    }
    return request;
  }

  // The runs of each set, by its id; 0 = not in turns.
  std::map<int64_t, std::vector<RunRecord>> Sets() {
    std::map<int64_t, std::vector<RunRecord>> sets;
    for (const RunRecord& run : Stored())
      sets[SliceSet::Decode(run.summary.slices)->id].push_back(run);
    return sets;
  }
};

TEST_F(RunnerTurnsTest, EveryRoundOfAGroupIsOneSet) {
  const auto result = Run(InTurns({"ok", "chatter"}, 3));
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->runs, 6);
  const auto sets = Sets();
  EXPECT_THAT(sets, SizeIs(3));
  for (const auto& [id, runs] : sets) {
    EXPECT_NE(id, 0);
    ASSERT_THAT(runs, SizeIs(2));
    EXPECT_EQ(runs[0].round, runs[1].round);
    for (const RunRecord& run : runs) {
      EXPECT_EQ(run.outcome, Outcome::kOk) << run.reason;
      EXPECT_THAT(SliceSet::Decode(run.summary.slices)->slices, SizeIs(3));
      EXPECT_EQ(run.summary.steps, 6);
    }
  }
  EXPECT_EQ(Studies()[0].pairing, StudyPairing::kTurns);
  EXPECT_EQ(Studies()[0].turn_plan.begin()->second.slices, 3);
  EXPECT_THAT(events_.in_rounds, IsEmpty());
}

TEST_F(RunnerTurnsTest, AFailedWorkerLeavesTheOthersPaired) {
  const auto result = Run(InTurns({"ok", "crash_in_slice", "chatter"}, 1));
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->runs, 3);
  EXPECT_THAT(Sets(), SizeIs(1));
  std::map<Outcome, int> outcomes;
  for (const RunRecord& run : Stored()) ++outcomes[run.outcome];
  EXPECT_EQ(outcomes[Outcome::kOk], 2);
  EXPECT_EQ(outcomes[Outcome::kCrashed], 1);
}

TEST_F(RunnerTurnsTest, AGroupWithAWorkerThatCannotPauseIsMeasuredInRounds) {
  setenv("TENCH_FAKE_TURNS", "no", 1);
  const auto result = Run(InTurns({"ok", "chatter"}, 2));
  unsetenv("TENCH_FAKE_TURNS");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->runs, 4);
  EXPECT_THAT(Sets(), SizeIs(1)) << "no run is in turns";
  ASSERT_THAT(events_.in_rounds, SizeIs(1));
  EXPECT_EQ(events_.in_rounds.begin()->second, "fake cannot pause between two steps");
  EXPECT_EQ(Studies()[0].turn_plan.begin()->second.reason, events_.in_rounds.begin()->second);
}

TEST_F(RunnerTurnsTest, AStoppedStudyIsResumedWithItsPlan) {
  const StudyRequest request = InTurns({"ok", "chatter"}, 3);
  stop_after_ = 2;
  EXPECT_TRUE(Run(request)->interrupted);
  stop_after_ = 0;
  stop_.Reset();
  const auto again = Run(request);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_FALSE(again->interrupted);
  EXPECT_THAT(Studies(), SizeIs(1));
  std::map<int64_t, int> ok;
  for (const RunRecord& run : Stored()) ok[run.round] += run.outcome == Outcome::kOk;
  EXPECT_EQ(ok, (std::map<int64_t, int>{{0, 2}, {1, 2}, {2, 2}}));
  EXPECT_THAT(Sets(), SizeIs(3));
}

TEST_F(RunnerTurnsTest, AStudyInRoundsHasNoSets) {
  StudyRequest request = InTurns({"ok", "chatter"}, 1);
  request.pairing = StudyPairing::kRounds;
  ASSERT_TRUE(Run(request));
  EXPECT_THAT(Sets(), SizeIs(1));
  EXPECT_EQ(Sets().begin()->first, 0);
}

}  // namespace
}  // namespace tench::runner_turns_test
