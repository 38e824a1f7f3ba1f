// SPDX-License-Identifier: Apache-2.0
#include "report/training.h"

#include <gtest/gtest.h>

#include "report/terminal.h"
#include "report/test_ranking.h"

namespace tench::training_test {
namespace {

// A run of three evaluations; `seconds` is the time to the target, 0 = it was not reached.
RunRecord Tested(const std::string& worker, int64_t seed, double seconds, double top1) {
  RunRecord run = TimedRun(worker, 1e6);
  run.cell.values[kAxisSeed] = seed;
  run.cell_id = run.cell.Id();
  run.budget.test_data = "mnist:digits/test";
  run.budget.until = "accuracy >= 0.9";
  const auto at = [&](int64_t step, double share) {
    return Evaluation{step, 1000,      1 - share,         share,
                      1.0,  1'000'000, step * 10'000'000, static_cast<double>(step) / 62};
  };
  run.summary.evaluations = EncodeEvaluations({at(0, 0.1), at(62, 0.8), at(124, top1)});
  run.summary.test_top1 = top1;
  run.summary.test_top5 = 1.0;
  run.summary.test_loss = 1 - top1;
  run.summary.evaluation_ns = 3'000'000;
  if (seconds > 0) {
    run.summary.target_ns = static_cast<int64_t>(seconds * 1e9);
    run.summary.target_epochs = 2;
  }
  return run;
}

std::vector<TrainingRow> Rows(const std::vector<RunRecord>& runs) {
  TrainingTable table;
  for (const RunRecord& run : runs) table.Add(run);
  return std::move(table).Finish();
}

TEST(TrainingTest, TheRunsOfAllSeedsAreOneRowWithAnInterval) {
  const auto rows = Rows({Tested("torch", 1, 4, 0.95), Tested("torch", 2, 6, 0.93)});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].runs, 2);
  EXPECT_EQ(rows[0].seeds, 2);
  EXPECT_EQ(rows[0].reached, 2);
  EXPECT_DOUBLE_EQ(rows[0].target_ns->mean, 5e9);
  // Student's t of one degree of freedom is 12.71; the standard error is one second.
  EXPECT_NEAR(*rows[0].target_ns->high - 5e9, 12.706e9, 1e6);
  EXPECT_NEAR(rows[0].top1->mean, 0.94, 1e-12);
  EXPECT_EQ(rows[0].curve.size(), 3u);
}

TEST(TrainingTest, OnlyTheLastRepetitionOfARoundCounts) {
  RunRecord first = Tested("torch", 1, 4, 0.95), again = Tested("torch", 1, 6, 0.95);
  first.study = again.study = 1;
  again.repetition = 1;
  const auto rows = Rows({first, again, Tested("torch", 2, 8, 0.93)});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].runs, 2);
  EXPECT_DOUBLE_EQ(rows[0].target_ns->mean, 7e9);
  EXPECT_NEAR(rows[0].top1->mean, 0.94, 1e-12);
  // Single runs have no rounds, so all of them count.
  first.study = again.study = 0;
  again.repetition = 0;
  EXPECT_EQ(Rows({first, again})[0].runs, 2);
}

TEST(TrainingTest, TheFastestToTheTargetComesFirstAndThoseThatMissedItLast) {
  const auto rows = Rows(
      {Tested("native", 1, 0, 0.85), Tested("torch", 1, 6, 0.95), Tested("mxnet", 1, 4, 0.95)});
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].worker, "mxnet");
  EXPECT_EQ(rows[2].worker, "native");
  EXPECT_FALSE(rows[2].target_ns.has_value());
  EXPECT_EQ(TextOf(rows[2]).reached, "0/1");
  EXPECT_EQ(TextOf(rows[2]).seconds, "");
  EXPECT_FALSE(rows[0].target_ns->low.has_value());
  EXPECT_TRUE(SameTraining(rows[0], rows[2]));
}

TEST(TrainingTest, RunsWithoutATestSplitOrThatFailedAreLeftOut) {
  RunRecord wrong = Tested("torch", 1, 4, 0.95);
  wrong.outcome = Outcome::kWrong;
  EXPECT_TRUE(Rows({TimedRun("torch", 1e6), wrong}).empty());
}

TEST(TrainingTest, TheTerminalShowsTheTableBelowTheRanking) {
  RankingBuilder builder;
  builder.Add(Tested("torch", 1, 4, 0.95));
  builder.Add(Tested("mxnet", 1, 6, 0.955));
  const std::string text = RenderText(std::move(builder).Finish(), {});
  EXPECT_NE(text.find("accuracy >= 0.9 on mnist:digits/test, 1000 samples"), std::string::npos);
  EXPECT_NE(text.find("time to target"), std::string::npos);
  EXPECT_NE(text.find("95.50 %"), std::string::npos) << text;
}

}  // namespace
}  // namespace tench::training_test
