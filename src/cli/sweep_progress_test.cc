// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep_progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tench {
namespace {

RunRecord FinishedRun(Outcome outcome, const std::string& reason = "") {
  RunRecord run;
  EXPECT_TRUE(run.cell.Set("worker", "native").ok());
  EXPECT_TRUE(run.cell.Set("network", "lenet").ok());
  run.outcome = outcome;
  run.reason = reason;
  return run;
}

StudyProgress At(int64_t done) {
  StudyProgress progress;
  progress.study = 3;
  progress.done = done;
  progress.total = 4;
  return progress;
}

TEST(SweepProgressTest, AwayFromATerminalEveryRunIsALineAndAReasonIsToldOnce) {
  testing::internal::CaptureStderr();
  SweepProgress progress;
  StudyProgress resumed = At(1);
  resumed.resumed = 1;
  progress.OnStudy(resumed);
  PlannedCell cell;
  cell.cell = FinishedRun(Outcome::kOk).cell;
  progress.OnStart(At(1), cell);
  progress.OnProgress(At(1), cell, RunProgress{});
  StudyProgress disturbed = At(2);
  disturbed.last_disturbed = true;
  progress.OnFinish(disturbed, FinishedRun(Outcome::kOk));
  progress.OnFinish(At(3), FinishedRun(Outcome::kCrashed, "signal SIGSEGV"));
  StudyProgress second = At(4);
  second.round = 1;
  progress.OnFinish(second, FinishedRun(Outcome::kCrashed, "signal SIGSEGV"));
  progress.Close();
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "study 3: 4 runs, 1 of them done before; going on\n"
            "[2/4] round 1 native lenet train b16 ok (disturbed)\n"
            "[3/4] round 1 native lenet train b16 crashed: signal SIGSEGV\n"
            "[4/4] round 2 native lenet train b16 crashed\n");
  EXPECT_EQ(progress.outcomes(),
            (std::map<Outcome, int64_t>{{Outcome::kOk, 1}, {Outcome::kCrashed, 2}}));
}

TEST(SweepProgressTest, ACompleteStudySaysNothing) {
  testing::internal::CaptureStderr();
  SweepProgress progress;
  progress.OnStudy(At(4));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace tench
