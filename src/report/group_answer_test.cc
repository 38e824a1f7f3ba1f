// SPDX-License-Identifier: Apache-2.0
#include "report/group_answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/terminal.h"
#include "report/test_ranking.h"

namespace tench::group_answer_test {
namespace {

using testing::HasSubstr;
using testing::Not;

// One study; each worker has the same step time in every round.
Ranking RankOf(const std::vector<std::pair<std::string, double>>& workers, int64_t rounds,
               bool all_roles = false) {
  RankingBuilder builder(std::nullopt, all_roles);
  for (int64_t round = 0; round < rounds; ++round) {
    for (const auto& [worker, step_ns] : workers) {
      RunRecord run = TimedRun(worker, step_ns * (1 + 0.001 * static_cast<double>(round)));
      run.study = 1;
      run.round = round;
      builder.Add(run);
    }
  }
  return std::move(builder).Finish();
}

TEST(AnswerTest, TheFastestFrameworkWinsAndTheBaselineIsALine) {
  const Ranking ranking =
      RankOf({{"native", 3.2e6}, {"torch", 6.4e6}, {"mxnet", 12.8e6}, {"reference", 640e6}}, 5);
  const RankGroup& group = ranking.groups.at(0);
  ASSERT_EQ(group.rows.size(), 4u);
  EXPECT_EQ(group.rows[0].worker, "torch");
  EXPECT_EQ(group.rows[0].rank, 1);
  EXPECT_EQ(group.rows[1].worker, "mxnet");
  EXPECT_EQ(group.rows[2].worker, "native");
  EXPECT_EQ(group.rows[2].rank, 0);
  EXPECT_NEAR(group.rows[2].ratio, 0.5, 1e-9);
  EXPECT_EQ(group.rows[2].verdict, RatioVerdict::kFaster);
  EXPECT_EQ(group.rows[3].worker, "reference");
  const GroupAnswer answer = AnswerOf(group);
  EXPECT_TRUE(answer.won());
  EXPECT_EQ(answer.fastest->worker, "torch");
  EXPECT_EQ(answer.next->worker, "mxnet");
  EXPECT_EQ(answer.baseline->worker, "native");
  EXPECT_NEAR(answer.lead, 2, 1e-9);
  EXPECT_EQ(AnswerText(ranking, group),
            "torch 1.0+1a2b3c4 is the fastest framework: 2.00× the speed of mxnet 1.0+1a2b3c4 "
            "(95 %: 2.00 … 2.00), faster; 50 % of native's speed");
  EXPECT_THAT(RenderText(ranking, {}), HasSubstr("native 1.0+1a2b3c4 (baseline)"));
}

TEST(AnswerTest, AllRolesAreRankedTogetherOnRequest) {
  const Ranking ranking = RankOf({{"native", 3.2e6}, {"torch", 6.4e6}}, 5, true);
  const GroupAnswer answer = AnswerOf(ranking.groups.at(0));
  EXPECT_EQ(answer.fastest->worker, "native");
  EXPECT_EQ(answer.baseline, nullptr);
  EXPECT_THAT(AnswerText(ranking, ranking.groups[0]),
              HasSubstr("native 1.0+1a2b3c4 is the fastest:"));
}

TEST(AnswerTest, AGroupWithoutFrameworksRanksItsRoles) {
  const Ranking ranking = RankOf({{"native", 3.2e6}, {"reference", 640e6}}, 5);
  EXPECT_EQ(AnswerOf(ranking.groups.at(0)).fastest->worker, "native");
}

TEST(AnswerTest, TooFewRoundsHaveNoWinnerAndNoInterval) {
  const Ranking ranking = RankOf({{"torch", 6.4e6}, {"mxnet", 12.8e6}}, 4);
  const GroupAnswer answer = AnswerOf(ranking.groups.at(0));
  EXPECT_EQ(answer.kind, AnswerKind::kTooFew);
  EXPECT_FALSE(answer.won());
  EXPECT_FALSE(answer.interval);
  EXPECT_EQ(AnswerText(ranking, ranking.groups[0]),
            "no winner: 4 paired rounds; a verdict needs 5");
  EXPECT_THAT(RenderText(ranking, {}), Not(HasSubstr(" … ")));
}

TEST(AnswerTest, EqualWorkersAreTheSame) {
  const Ranking ranking = RankOf({{"torch", 6.4e6}, {"mxnet", 6.41e6}}, 5);
  EXPECT_THAT(AnswerText(ranking, ranking.groups.at(0)),
              HasSubstr("torch 1.0+1a2b3c4 and mxnet 1.0+1a2b3c4 are the fastest frameworks, "
                        "the same: 1.00×"));
}

TEST(AnswerTest, OneFrameworkIsComparedWithTheBaselineOnly) {
  const Ranking ranking = RankOf({{"torch", 6.4e6}, {"native", 3.2e6}}, 5);
  EXPECT_EQ(AnswerText(ranking, ranking.groups.at(0)),
            "torch 1.0+1a2b3c4 is the only framework measured; 50 % of native's speed");
}

TEST(AnswerTest, AStatedRoleCountsMoreThanTheName) {
  RankingBuilder builder;
  RunRecord rebuilt = TimedRun("native", 3.2e6);
  rebuilt.role = Role::kFramework;
  builder.Add(rebuilt);
  builder.Add(TimedRun("torch", 6.4e6));
  const Ranking ranking = std::move(builder).Finish();
  EXPECT_EQ(AnswerOf(ranking.groups.at(0)).fastest->worker, "native");
}

TEST(AnswerTest, LinesCountTheComparisonsThatDoNotFit) {
  RankingBuilder builder;
  for (const int64_t batch : {1, 2, 4}) builder.Add(TimedRun("torch", 6.4e6, batch));
  const std::vector<std::string> lines = AnswerLines(std::move(builder).Finish(), 2);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0],
            "lenet on mnist, batch 1, train: torch 1.0+1a2b3c4 is the only framework measured");
  EXPECT_EQ(lines[2], "and 1 more comparison");
}

TEST(AnswerTest, AFlagOfAllRowsIsShownOnceAndARowShowsItsOwn) {
  RankingBuilder builder;
  for (const auto& [worker, flags] : std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"torch", {"unconverged", "verified"}}, {"mxnet", {"swapped", "verified"}}}) {
    RunRecord run = TimedRun(worker, 6.4e6);
    run.flags = flags;
    builder.Add(run);
  }
  builder.Add(FailedRun("caffe", Outcome::kCrashed, "signal"));
  const Ranking ranking = std::move(builder).Finish();
  EXPECT_THAT(ranking.common_flags, testing::ElementsAre("verified"));
  const std::string text = RenderText(ranking, {});
  EXPECT_THAT(text, HasSubstr("all measured rows: verified\n"));
  EXPECT_THAT(text, Not(HasSubstr("unconverged, verified")));
  EXPECT_THAT(text, HasSubstr("swapped"));
}

}  // namespace
}  // namespace tench::group_answer_test
