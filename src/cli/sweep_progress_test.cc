// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep_progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "cli/test_terminal.h"

namespace tench::sweep_progress_test {
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
            "study 3: 4 runs, 1 of them already done; resuming\n"
            "[2/4] round 1 native lenet train b16 ok (disturbed)\n"
            "[3/4] round 1 native lenet train b16 crashed: signal SIGSEGV\n"
            "[4/4] round 2 native lenet train b16 crashed\n");
  EXPECT_EQ(progress.outcomes(),
            (std::map<Outcome, int64_t>{{Outcome::kOk, 1}, {Outcome::kCrashed, 2}}));
}

TEST(SweepProgressTest, AnnouncesTheTuningWithItsShareAndIsSilentAboutTrialsWithoutATerminal) {
  testing::internal::CaptureStderr();
  SweepProgress progress;
  StudyTuning tuning;
  tuning.cells = 16;
  tuning.budget_ns = 80'000'000'000;
  tuning.share = 0.25;
  progress.OnTuning(tuning);
  tuning.share = 0;
  tuning.cells = 1;
  progress.OnTuning(tuning);
  tuning.cell = "torch lenet train b64";
  tuning.trial.candidate = "layout=channels_last";
  progress.OnTuning(tuning);
  progress.Close();
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "tuning 16 cells before round 1: at most 1 min 20 s, about 25 % of the study\n"
            "tuning 1 cell before round 1: at most 1 min 20 s\n");
}

TEST(SweepProgressTest, SaysInOneLineWhyAStudyIsNotContinued) {
  testing::internal::CaptureStderr();
  SweepProgress progress;
  progress.OnIdentify("native");
  progress.OnNewStudy("study 3 is not continued: native changed (1a2b3c4, now 5d6e7f8); …");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "study 3 is not continued: native changed (1a2b3c4, now 5d6e7f8); …\n");
}

// The line that Show writes on a terminal.
std::string Live(const std::string& text) { return "\r" + text + "\x1b[K"; }

TEST(SweepProgressTest, OnATerminalABarIsRewrittenAndOnlyFailedRunsLeaveALine) {
  setenv("TERM", "xterm", 1);
  const ReplacedDescriptor terminal(STDERR_FILENO, 200);
  SweepProgress progress;
  progress.OnIdentify("native");
  EXPECT_EQ(terminal.Read(), Live("identifying the build of native"));
  progress.OnStudy(At(0));
  EXPECT_EQ(terminal.Read(), "\r\x1b[Kstudy 3: 4 runs\r\n");

  PlannedCell cell;
  cell.cell = FinishedRun(Outcome::kOk).cell;
  progress.OnStart(At(1), cell);
  EXPECT_EQ(terminal.Read(), Live("[#####---------------] 1/4 | native lenet train b16 | last: -"));
  RunProgress run;
  run.stage = "building";
  progress.OnProgress(At(1), cell, run);
  EXPECT_EQ(terminal.Read(),
            Live("[#####---------------] 1/4 | native lenet train b16 building | last: -"));

  RunRecord timed = FinishedRun(Outcome::kOk);
  timed.summary.step_ns_median = 32e6;
  progress.OnFinish(At(2), timed);
  EXPECT_EQ(terminal.Read(), "") << "the result is on the next live line";
  StudyProgress late = At(2);
  late.disturbed = 1;
  late.repeats = 2;
  late.eta_ns = 90e9;
  run.steps = 7;
  progress.OnProgress(late, cell, run);
  EXPECT_EQ(terminal.Read(),
            Live("[##########----------] 2/4, 1 disturbed, repeating 2, 1 min 30 s left | "
                 "native lenet train b16 7 steps | last: native lenet train b16 2 ms/image"));

  progress.OnFinish(At(3), FinishedRun(Outcome::kTimeout, "10 min are over"));
  EXPECT_EQ(terminal.Read(),
            "\r\x1b[K[3/4] round 1 native lenet train b16 timeout: 10 min are "
            "over\r\n");
  progress.OnStart(At(3), cell);
  EXPECT_EQ(terminal.Read(),
            Live("[###############-----] 3/4 | native lenet train b16 | last: native lenet "
                 "train b16 timeout"));
  progress.Close();
  EXPECT_EQ(terminal.Read(), "\r\x1b[K");
}

TEST(SweepProgressTest, ACompleteStudySaysNothing) {
  testing::internal::CaptureStderr();
  SweepProgress progress;
  progress.OnStudy(At(4));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace tench::sweep_progress_test
