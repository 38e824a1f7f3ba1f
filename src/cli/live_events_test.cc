// SPDX-License-Identifier: Apache-2.0
#include "cli/live_events.h"

#include <gtest/gtest.h>

#include "cli/sweep_progress.h"

namespace tench::live_events_test {
namespace {

class LiveEventsTest : public testing::Test {
 protected:
  void SetUp() override {
    EXPECT_TRUE(cell_.cell.Set("worker", "native").ok());
    EXPECT_TRUE(cell_.cell.Set("network", "lenet").ok());
    progress_.study = 3;
    progress_.total = 4;
  }

  RunProgress Measuring(int64_t steps) {
    RunProgress run;
    run.stage = "measuring";
    run.steps = steps;
    run.loss = 1 / static_cast<double>(steps);
    return run;
  }

  std::optional<LiveProgress> Seen() const { return ReadLiveProgress(database_, 3); }

  const TemporaryFolder folder_ = *TemporaryFolder::Make("tench-events");
  const std::filesystem::path database_ = folder_.path() / "a.db";
  StudyProgress progress_;
  PlannedCell cell_;
};

TEST_F(LiveEventsTest, AnotherProcessSeesEachStageOfARun) {
  testing::internal::CaptureStderr();
  SweepProgress shown;
  {
    LiveEvents events(shown, database_, 5);
    EXPECT_FALSE(Seen()) << "the study is not known yet";
    events.OnStudy(progress_);
    ASSERT_TRUE(Seen());
    EXPECT_FALSE(Seen()->run);
    EXPECT_EQ(Seen()->rounds, 5);
    events.OnStart(progress_, cell_);
    EXPECT_EQ(Seen()->run->stage, "starting");
    EXPECT_EQ(Seen()->run->worker, "native");
    events.OnProgress(progress_, cell_, Measuring(5000));
    EXPECT_EQ(Seen()->run->stage, "measuring");
    EXPECT_EQ(Seen()->run->steps, 5000);
    ASSERT_EQ(Seen()->run->losses.size(), 1u);
    EXPECT_EQ(Seen()->run->losses[0].step, 5000);
    events.OnProgress(progress_, cell_, Measuring(5001));
    EXPECT_EQ(Seen()->run->steps, 5000) << "written at most once per second within a stage";
    RunRecord run;
    run.cell = cell_.cell;
    progress_.done = 1;
    events.OnFinish(progress_, run);
    EXPECT_FALSE(Seen()->run);
    EXPECT_EQ(Seen()->done, 1);
  }
  EXPECT_FALSE(Seen());
  shown.Close();
  EXPECT_NE(testing::internal::GetCapturedStderr().find("[1/4] round 1 native lenet"),
            std::string::npos)
      << "events reach the next listener";
  EXPECT_EQ(shown.outcomes().size(), 1u);
}

// Notes the names of the events that it hears.
class NotedEvents final : public RunnerEvents {
 public:
  void OnIdentify(const std::string& worker) override { noted_ += "identify " + worker + ";"; }
  void OnNewStudy(const std::string& reason) override { noted_ += "new, " + reason + ";"; }
  void OnRounds(const std::string& group, const std::string& reason) override {
    noted_ += group + " in rounds, " + reason + ";";
  }
  void OnStudy(const StudyProgress&) override { noted_ += "study;"; }
  void OnTuning(const StudyTuning&) override { noted_ += "tuning;"; }
  void OnStart(const StudyProgress&, const PlannedCell&) override { noted_ += "start;"; }
  void OnProgress(const StudyProgress&, const PlannedCell&, const RunProgress&) override {
    noted_ += "progress;";
  }
  void OnFinish(const StudyProgress&, const RunRecord&) override { noted_ += "finish;"; }
  const std::string& noted() const { return noted_; }

 private:
  std::string noted_;
};

TEST_F(LiveEventsTest, TheNextListenerHearsEveryEvent) {
  NotedEvents next;
  LiveEvents events(next, database_, 5);
  events.OnIdentify("torch");
  events.OnNewStudy("torch changed");
  events.OnStudy(progress_);
  events.OnTuning({});
  events.OnRounds("lenet", "caffe cannot pause");
  events.OnStart(progress_, cell_);
  events.OnProgress(progress_, cell_, Measuring(1));
  events.OnFinish(progress_, {});
  EXPECT_EQ(next.noted(),
            "identify torch;new, torch changed;study;tuning;lenet in rounds, caffe cannot pause;"
            "start;progress;finish;");
}

TEST_F(LiveEventsTest, ARunHasNoLossOfTheRunBefore) {
  NotedEvents next;
  LiveEvents events(next, database_, 5);
  events.OnStudy(progress_);
  events.OnStart(progress_, cell_);
  events.OnProgress(progress_, cell_, Measuring(5000));
  events.OnStart(progress_, cell_);
  events.OnProgress(progress_, cell_, Measuring(2));
  ASSERT_EQ(Seen()->run->losses.size(), 1u);
  EXPECT_EQ(Seen()->run->losses[0].step, 2);
}

TEST_F(LiveEventsTest, AnotherProcessSeesWhichCellIsTuned) {
  testing::internal::CaptureStderr();
  SweepProgress shown;
  LiveEvents events(shown, database_, 5);
  events.OnStudy(progress_);
  StudyTuning tuning;
  tuning.cells = 4;
  tuning.done = 1;
  tuning.cell = "torch lenet train b64";
  tuning.trial.trial = 3;
  events.OnTuning(tuning);
  ASSERT_TRUE(Seen()->run);
  EXPECT_EQ(Seen()->run->label, "torch lenet train b64");
  EXPECT_EQ(Seen()->run->stage, "tuning 2 of 4, trial 3");
  EXPECT_EQ(Seen()->total, 4);
  testing::internal::GetCapturedStderr();
}

TEST_F(LiveEventsTest, LossesOfALongRunAreThinnedAndReachFromItsFirstStepsToItsLast) {
  testing::internal::CaptureStderr();
  SweepProgress shown;
  LiveEvents events(shown, database_, 5);
  events.OnStudy(progress_);
  events.OnStart(progress_, cell_);
  for (int64_t steps = 10; steps <= 100'000; steps += 10)
    events.OnProgress(progress_, cell_, Measuring(steps));
  RunProgress last = Measuring(100'001);
  last.stage = "ending";
  events.OnProgress(progress_, cell_, last);
  const std::vector<LiveLoss> losses = Seen()->run->losses;
  EXPECT_GE(losses.size(), 30u);
  EXPECT_LE(losses.size(), 130u);
  EXPECT_EQ(losses.front().step, 10);
  EXPECT_EQ(losses.back().step, 100'001);
  for (size_t i = 1; i < losses.size(); ++i) {
    EXPECT_LT(losses[i - 1].step, losses[i].step);
    EXPECT_LT(losses[i].step - losses[i - 1].step, 10'000) << "no gap";
    EXPECT_EQ(losses[i].loss, 1 / static_cast<double>(losses[i].step));
  }
  testing::internal::GetCapturedStderr();
}

TEST_F(LiveEventsTest, AFileThatCannotBeWrittenStopsNothing) {
  testing::internal::CaptureStderr();
  SweepProgress shown;
  LiveEvents events(shown, folder_.path() / "missing" / "a.db", 5);
  events.OnStudy(progress_);
  events.OnStart(progress_, cell_);
  events.OnProgress(progress_, cell_, Measuring(5));
  EXPECT_NE(testing::internal::GetCapturedStderr().find("study 3: 4 runs"), std::string::npos);
}

}  // namespace
}  // namespace tench::live_events_test
