// SPDX-License-Identifier: Apache-2.0
// Sets of scripted workers in turns: what each failure costs, and that no process is left.
#include "run/session/turn_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "run/session/test_worker.h"
#include "stats/slice.h"

namespace tench::turn_set_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

class TurnSetTest : public testing::Test {
 protected:
  std::vector<RunResult> Run(const std::vector<std::string>& behaviours,
                             int64_t first_timeout_ns = 60'000'000'000) {
    std::vector<RunRequest> requests;
    for (const std::string& behaviour : behaviours) {
      RunRequest& request = requests.emplace_back();
      request.planned = FakeCell(behaviour);
      request.planned.budget.fixed_steps = 7;
      if (requests.size() == 1) request.planned.limits.timeout_ns = first_timeout_ns;
      request.turns = true;
    }
    TurnSetOptions options{3, 11, [this] {
                             if (++readings_ == stop_at_reading_) stop_.RequestStop();
                             return SentinelReading{readings_, 5};
                           }};
    return RunInTurns(
        workers_.catalog(), requests, options,
        [this](size_t, const RunProgress&) {
          if (on_progress_) on_progress_();
        },
        stop_.token());
  }
  void TearDown() override { EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child is left"; }

  TestWorkers workers_;
  StopSource stop_;
  std::function<void()> on_progress_;
  int64_t readings_ = 0, stop_at_reading_ = 0;
};

TEST_F(TurnSetTest, EveryRunHasTheSameSlicesOfItsSteps) {
  const std::vector<RunResult> runs = Run({"ok", "chatter", "materialize"});
  ASSERT_THAT(runs, SizeIs(3));
  std::vector<int64_t> ids;
  for (const RunResult& run : runs) {
    EXPECT_EQ(run.record.outcome, Outcome::kOk) << run.record.reason;
    EXPECT_THAT(run.series.step_ns, SizeIs(7));
    EXPECT_THAT(run.series.warmup_ns, SizeIs(1 + 3));
    const auto set = SliceSet::Decode(run.record.summary.slices);
    ASSERT_TRUE(set.ok()) << set.error().message;
    std::vector<int64_t> steps;
    for (const TimedSlice& slice : set->slices) {
      steps.push_back(slice.steps);
      EXPECT_EQ(slice.warmup_steps, 1);
    }
    EXPECT_THAT(steps, ElementsAre(2, 2, 3));
    // The first warm-up step, then one per slice: fake steps take 2 ms + 1 µs times their number.
    EXPECT_EQ(set->slices[0].median_ns, 2'002'500);
    EXPECT_EQ(set->slices[0].stretches.StepNs(0, 0), 2'002'000);
    EXPECT_EQ(set->slices[2].noise.sentinel.before.compute_ns, 3);
    EXPECT_EQ(set->slices[2].noise.sentinel.after.compute_ns, 4);
    EXPECT_EQ(run.record.summary.sentinel_before_compute_ns, 1);
    EXPECT_EQ(run.record.summary.sentinel_after_compute_ns, 4);
    ids.push_back(set->id);
  }
  EXPECT_THAT(ids, ElementsAre(ids[0], ids[0], ids[0]));
  EXPECT_NE(ids[0], 0);
}

TEST_F(TurnSetTest, AWorkerThatFailsCostsItsRunOnly) {
  const std::vector<RunResult> runs = Run({"crash_in_slice", "ok", "die_between_slices", "exit3",
                                           "ok", "ignore_go", "short_slice", "unsupported"});
  std::vector<Outcome> outcomes;
  for (const RunResult& run : runs) outcomes.push_back(run.record.outcome);
  EXPECT_THAT(outcomes, ElementsAre(Outcome::kCrashed, Outcome::kOk, Outcome::kCrashed,
                                    Outcome::kCrashed, Outcome::kOk, Outcome::kProtocolError,
                                    Outcome::kProtocolError, Outcome::kUnsupported));
  EXPECT_THAT(runs[0].record.reason, HasSubstr("SIGSEGV while measuring"));
  EXPECT_THAT(runs[2].record.reason, HasSubstr("SIGKILL"));
  EXPECT_THAT(runs[5].record.reason, HasSubstr("turn"));
  EXPECT_THAT(runs[6].record.reason, HasSubstr("requested were 1 and 2"));
  EXPECT_THAT(runs[4].series.step_ns, SizeIs(7));
  EXPECT_THAT(SliceSet::Decode(runs[0].record.summary.slices)->slices, SizeIs(1));
}

TEST_F(TurnSetTest, AWorkerThatHangsInItsSliceExceedsItsLimitAlone) {
  const int64_t begin_ns = NowNs();
  const std::vector<RunResult> runs = Run({"hang_in_slice", "ok"}, 1'000'000'000);
  EXPECT_EQ(runs[0].record.outcome, Outcome::kTimeout) << runs[0].record.reason;
  EXPECT_EQ(runs[1].record.outcome, Outcome::kOk) << runs[1].record.reason;
  // It waited while the other one hung, which is not part of its time.
  EXPECT_LE(runs[0].record.summary.wall_ns + runs[1].record.summary.wall_ns, NowNs() - begin_ns);
}

TEST_F(TurnSetTest, AStopEndsAllWorkers) {
  on_progress_ = [this] { stop_.RequestStop(); };
  for (const RunResult& run : Run({"ok", "hang_in_slice", "ok"}))
    EXPECT_EQ(run.record.outcome, Outcome::kInterrupted) << run.record.reason;
}

TEST_F(TurnSetTest, AStopBetweenTwoPassesEndsThePausedWorkers) {
  stop_at_reading_ = 2;
  for (const RunResult& run : Run({"ok", "chatter"})) {
    EXPECT_EQ(run.record.outcome, Outcome::kInterrupted);
    EXPECT_EQ(run.record.reason, "stopped between two slices");
  }
}

TEST_F(TurnSetTest, TheSentinelIsReadOncePerPassAndBeforeTheFirst) {
  Run({"ok", "ok"});
  EXPECT_EQ(readings_, 4);
}

}  // namespace
}  // namespace tench::turn_set_test
