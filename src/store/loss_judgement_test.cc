// SPDX-License-Identifier: Apache-2.0
#include "store/loss_judgement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "record/run_flag.h"
#include "store/test_run.h"

namespace tench::loss_judgement_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

RunRecord Losses(int64_t id, const std::string& worker, double first, double second = 2) {
  RunRecord run = TestRun(1, 0, TestCell(worker));
  run.id = id;
  run.flags = {kFlagVerified, kFlagSwapped};
  run.summary.first_loss = first;
  run.summary.second_loss = second;
  run.summary.third_loss = std::nullopt;
  run.summary.losses_agree = std::nullopt;
  return run;
}

std::vector<int64_t> Wrong(const std::vector<RunRecord>& runs) {
  StudyLosses losses;
  for (const RunRecord& run : runs) losses.Add(run);
  std::vector<int64_t> wrong;
  for (const LossJudgement& judgement : losses.Judge()) {
    if (!judgement.reason.empty()) wrong.push_back(judgement.run);
  }
  return wrong;
}

// Changes one field of all runs.
std::vector<RunRecord> With(std::vector<RunRecord> runs,
                            const std::function<void(RunRecord&)>& change) {
  for (RunRecord& run : runs) change(run);
  return runs;
}

const std::vector<RunRecord> kTwo = {Losses(1, "torch", 3), Losses(2, "mxnet", 4)};

TEST(LossJudgementTest, RunsOfOneCellButForTheWorkerAreCompared) {
  EXPECT_THAT(Wrong(kTwo), ElementsAre(1, 2));
  RunRecord tuned = Losses(3, "torch@2.15", 3);
  tuned.cell.options["layout"] = "nhwc";
  tuned.worker_version = "2.15.0";
  EXPECT_THAT(Wrong({Losses(1, "mxnet", 4), Losses(2, "caffe", 4), tuned}), ElementsAre(3));
  RunRecord rebuilt = Losses(2, "torch", 4);
  rebuilt.build = "00112233445566ff";
  EXPECT_THAT(Wrong({Losses(1, "torch", 3), rebuilt}), ElementsAre(1, 2))
      << "two builds of one worker";
}

TEST(LossJudgementTest, RunsThatDifferInAnythingElseAreNot) {
  const auto other = [](const std::function<void(RunRecord&)>& change) {
    std::vector<RunRecord> runs = kTwo;
    change(runs[1]);
    return Wrong(runs);
  };
  EXPECT_THAT(other([](RunRecord& run) { run.study = 2; }), IsEmpty());
  EXPECT_THAT(other([](RunRecord& run) { run.fingerprint = "other"; }), IsEmpty());
  EXPECT_THAT(other([](RunRecord& run) { run.solver = "other"; }), IsEmpty());
  for (size_t axis = 0; axis < Axes().size(); ++axis) {
    if (axis == kAxisWorker) continue;
    EXPECT_THAT(other([&](RunRecord& run) {
                  AxisValue& value = run.cell.values[axis];
                  if (auto* text = std::get_if<std::string>(&value)) *text += "-other";
                  if (auto* integer = std::get_if<int64_t>(&value)) *integer += 1;
                  if (auto* real = std::get_if<double>(&value)) *real += 1;
                  // A valid phase.
                  if (axis == kAxisPhase) value = std::string("gradient");
                }),
                IsEmpty())
        << Axes()[axis].name;
  }
}

TEST(LossJudgementTest, LeavesOutWhatCannotBeCompared) {
  EXPECT_THAT(Wrong(With(kTwo, [](RunRecord& run) { run.study = 0; })), IsEmpty());
  EXPECT_THAT(Wrong(With(kTwo, [](RunRecord& run) { run.dropout = true; })), IsEmpty());
  EXPECT_THAT(Wrong(With(kTwo, [](RunRecord& run) { run.dropout = std::nullopt; })), IsEmpty());
  EXPECT_THAT(Wrong(With(kTwo, [](RunRecord& run) { run.outcome = Outcome::kDiverged; })),
              IsEmpty());
  EXPECT_THAT(
      Wrong(With(kTwo,
                 [](RunRecord& run) { run.cell.values[kAxisPrecision] = std::string("bf16"); })),
      IsEmpty());
}

TEST(LossJudgementTest, ALargeInferenceLossMayBeClampedAndIsNotCompared) {
  const auto forward = [](double a, double b) {
    return Wrong(With({Losses(1, "torch", a, a), Losses(2, "caffe", b, b)}, [](RunRecord& run) {
      run.cell.values[kAxisPhase] = std::string("forward");
    }));
  };
  EXPECT_THAT(forward(96.6, 87.3), IsEmpty());
  EXPECT_THAT(forward(7.7, 7.5), ElementsAre(1, 2));
  EXPECT_THAT(Wrong({Losses(1, "torch", 543), Losses(2, "caffe", 500)}), ElementsAre(1, 2));
}

TEST(LossJudgementTest, OfGradientsOfCycledInputOnlyTheFirstLossIsCompared) {
  const auto cycled = [](RunRecord& run) {
    run.cell.values[kAxisInput] = std::string("cycled");
    run.cell.values[kAxisPhase] = std::string("gradient");
  };
  EXPECT_THAT(Wrong(With({Losses(1, "torch", 3, 3.5), Losses(2, "caffe", 3, 3)}, cycled)),
              IsEmpty());
  EXPECT_THAT(Wrong(With(kTwo, cycled)), ElementsAre(1, 2));
}

TEST(LossJudgementTest, AStoredJudgementIsEvidenceAndStays) {
  std::vector<RunRecord> runs = {Losses(1, "torch", 3), Losses(2, "mxnet", 3),
                                 Losses(3, "caffe", 4)};
  runs[0].summary.losses_agree = true;
  runs[1].summary.losses_agree = true;
  EXPECT_THAT(Wrong(runs), ElementsAre(3));
  Apply({3, "because"}, runs[2]);
  EXPECT_THAT(Wrong(runs), IsEmpty()) << "judged already";
  runs.push_back(Losses(4, "caffe", 4));
  EXPECT_THAT(Wrong(runs), ElementsAre(4));
}

TEST(LossJudgementTest, ADisagreementMakesARunWrong) {
  RunRecord run = Losses(1, "torch", 3);
  Apply({1, ""}, run);
  EXPECT_EQ(run.outcome, Outcome::kOk);
  EXPECT_EQ(run.summary.losses_agree, true);
  EXPECT_THAT(run.flags, ElementsAre(kFlagVerified, kFlagSwapped));
  Apply({1, "loss 3 at step 1"}, run);
  EXPECT_EQ(run.outcome, Outcome::kWrong);
  EXPECT_EQ(run.reason, "losses: loss 3 at step 1");
  EXPECT_EQ(run.summary.losses_agree, false);
  EXPECT_THAT(run.flags, ElementsAre(kFlagSwapped));
}

TEST(LossJudgementTest, AReaderJudgesTheRunsOfAKilledSweep) {
  const TemporaryFolder folder = *TemporaryFolder::Make("losses-test");
  Store store = *Store::Open(folder.path() / "r.db", Store::Mode::kReadWrite);
  ASSERT_EQ(*store.AddStudy(TestStudy()), 1);
  for (const RunRecord& run :
       {Losses(0, "torch", 3), Losses(0, "mxnet", 3), Losses(0, "native", 4)})
    ASSERT_TRUE(store.AddRun(run, {}).ok());
  std::vector<RunRecord> runs;
  ASSERT_TRUE(ForEachJudgedRun(store, std::nullopt, [&](const RunRecord& run) {
                runs.push_back(run);
                return true;
              }).ok());
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[0].outcome, Outcome::kOk);
  EXPECT_EQ(runs[1].outcome, Outcome::kOk);
  EXPECT_EQ(runs[2].outcome, Outcome::kWrong);
  EXPECT_THAT(runs[2].reason, HasSubstr("with mxnet 1.0+1a2b3c4, torch 1.0+1a2b3c4"));
  EXPECT_TRUE(*store.HasUnjudgedLosses()) << "a reader changes nothing";
}

TEST(LossJudgementTest, AReaderDoesNotSeeProfiledRuns) {
  const TemporaryFolder folder = *TemporaryFolder::Make("losses-test");
  Store store = *Store::Open(folder.path() / "r.db", Store::Mode::kReadWrite);
  ASSERT_EQ(*store.AddStudy(TestStudy()), 1);
  RunRecord profiled = Losses(0, "torch", 3);
  profiled.flags.push_back(kFlagProfiled);
  for (const RunRecord& run : {profiled, Losses(0, "mxnet", 3)})
    ASSERT_TRUE(store.AddRun(run, {}).ok());
  std::vector<std::string> seen;
  ASSERT_TRUE(ForEachJudgedRun(store, std::nullopt, [&](const RunRecord& run) {
                seen.push_back(run.cell.Text(kAxisWorker));
                return true;
              }).ok());
  EXPECT_THAT(seen, ElementsAre("mxnet"));
}

}  // namespace
}  // namespace tench::loss_judgement_test
