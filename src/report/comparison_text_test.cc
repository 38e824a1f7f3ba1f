// SPDX-License-Identifier: Apache-2.0
#include "report/comparison_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/test_ranking.h"
#include "report/text_table.h"

namespace tench::comparison_text_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

int64_t next_run_id = 1;

RunRecord Timed(const std::string& worker, int64_t study, int64_t round, double step_ns,
                int64_t batch = 64) {
  RunRecord run = TimedRun(worker, step_ns, batch);
  run.study = study;
  run.round = round;
  run.id = next_run_id++;
  return run;
}

Comparison Workers() {
  ComparisonBuilder builder({.axes = {"worker"}});
  for (int64_t round = 0; round < 6; ++round) {
    const double wobble = 1 + 0.001 * static_cast<double>(round % 3);
    builder.Add(Side::kA, Timed("old", 1, round, 64e6));
    builder.Add(Side::kB, Timed("new", 1, round, (round == 4 ? 200e6 : 32e6) * wobble));
    builder.Add(Side::kA, Timed("old", 1, round, 64e6, 1));
    builder.Add(Side::kB, Timed("new", 1, round, 64e6 * wobble, 1));
  }
  builder.Add(Side::kB, Timed("new", 1, 0, 1e6, 7));
  return std::move(builder).Finish();
}

TEST(ComparisonTextTest, TheTableSaysRatioIntervalAndVerdict) {
  const std::string text = RenderComparison(Workers(), {"worker=old", "worker=new"});
  EXPECT_THAT(text, HasSubstr("A: worker=old\nB: worker=new\n"));
  EXPECT_THAT(text, HasSubstr("within 1 %, same"));
  EXPECT_THAT(text, HasSubstr("lenet on mnist, batch 1, train"));
  EXPECT_THAT(text, HasSubstr("old 1.0+1a2b3c4"));
  EXPECT_THAT(text, HasSubstr("1.001  1.000 … 1.002    100       6     64 ms   64.1 ms  same"));
  EXPECT_THAT(text, HasSubstr("2 pairs: B is 1 same, 1 ambiguous"));
  EXPECT_THAT(text, HasSubstr("note: 1 cell of B without a partner"));
}

TEST(ComparisonTextTest, ANarrowTerminalStacksTheTableAndNamesOmittedColumns) {
  const std::string text = RenderComparison(Workers(), {"worker=old", "worker=new"}, 80);
  EXPECT_THAT(text, HasSubstr("\n  lenet on mnist, batch 64, train\n"));
  EXPECT_THAT(text, HasSubstr("ambiguous"));
  EXPECT_THAT(text, HasSubstr("omitted: "));
  size_t start = 0;
  for (size_t end = 0; (end = text.find('\n', start)) != std::string::npos; start = end + 1)
    EXPECT_LE(TextWidth(text.substr(start, end - start)), 80u) << text.substr(start, end - start);
  EXPECT_THAT(RenderComparison(Workers(), {"a", "b"}), Not(HasSubstr("omitted")));
}

TEST(ComparisonTextTest, OutlierRoundsAreShown) {
  const std::string text = RenderComparison(Workers(), {"a", "b"});
  EXPECT_THAT(text, AllOf(HasSubstr("they still count"), HasSubstr("round 5: B ÷ A 3.128")));
}

TEST(ComparisonTextTest, WhatWasNotInterleavedIsSaid) {
  ComparisonBuilder builder({.axes = {kVersionAxis}});
  for (int64_t round = 0; round < 5; ++round) {
    builder.Add(Side::kA, Timed("w", 1, round, 10e6));
    builder.Add(Side::kB, Timed("w", 2, round, 10e6));
  }
  const Comparison comparison = std::move(builder).Finish();
  EXPECT_THAT(RenderComparison(comparison, {"1", "2"}),
              HasSubstr("note: A and B were not interleaved"));
  EXPECT_THAT(RenderComparison(Workers(), {"a", "b"}), Not(HasSubstr("interleaved")));
  EXPECT_EQ(ComparisonToJson(comparison, {"1", "2"})["interleaved"], false);
}

TEST(ComparisonTextTest, BuildsAndOtherRulesAreNamed) {
  ComparisonBuilder builder({.axes = {kVersionAxis}});
  for (int64_t round = 0; round < 5; ++round) {
    RunRecord before = Timed("w", 1, round, 10e6), after = Timed("w", 2, round, 10e6);
    before.rules = kUnnumberedRules;
    after.build = "ffff00001111aaaa";
    builder.Add(Side::kA, before);
    builder.Add(Side::kB, after);
  }
  const Comparison comparison = std::move(builder).Finish();
  EXPECT_THAT(RenderComparison(comparison, {"1", "2"}),
              AllOf(HasSubstr(" 1.0+1a2b3c4  1.0+ffff000 "),
                    HasSubstr("note: A was measured by rules 1 and B by rules 4")));
  const Json pair = ComparisonToJson(comparison, {"1", "2"})["pairs"][0];
  EXPECT_EQ(pair["a"]["rules"], 1);
  EXPECT_EQ(pair["b"]["worker_version"], "1.0+ffff000");
  EXPECT_EQ(pair["b"]["build"], "ffff00001111aaaa");
  EXPECT_THAT(RenderComparison(Workers(), {"a", "b"}), Not(HasSubstr("by rules")));
}

TEST(ComparisonTextTest, JsonHasEveryRound) {
  const Json json = ComparisonToJson(Workers(), {"worker=old", "worker=new"});
  EXPECT_EQ(json["compared"], Json::array({"worker"}));
  EXPECT_EQ(json["counts"]["same"], 1);
  ASSERT_EQ(json["pairs"].size(), 2u);
  const Json& pair = json["pairs"][1];
  EXPECT_EQ(pair["a"]["worker"], "old");
  EXPECT_EQ(pair["b"]["batch"], 64);
  EXPECT_EQ(pair["verdict"], "ambiguous");
  EXPECT_EQ(pair["reason"], "the interval is too wide");
  ASSERT_EQ(pair["rounds"].size(), 6u);
  EXPECT_EQ(pair["rounds"][4]["outlier"], true);
  EXPECT_NEAR(pair["rounds"][0]["ratio"].get<double>(), 0.5, 1e-12);
  EXPECT_EQ(json["only_b"][0]["batch"], 7);
}

TEST(ComparisonTextTest, ControlCharactersNeverReachTheTerminal) {
  ComparisonBuilder builder({.axes = {"worker"}});
  builder.Add(Side::kA, Timed("evil\033[2J", 1, 0, 10e6));
  builder.Add(Side::kB, Timed("b", 1, 0, 10e6));
  EXPECT_THAT(RenderComparison(std::move(builder).Finish(), {"a\033", "b"}),
              Not(HasSubstr("\033")));
}

}  // namespace
}  // namespace tench::comparison_text_test
