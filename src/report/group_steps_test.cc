// SPDX-License-Identifier: Apache-2.0
#include "report/group_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/comparison.h"
#include "report/test_ranking.h"
#include "stats/stretch.h"

namespace tench::group_steps_test {
namespace {

using testing::SizeIs;

// Of ten-odd steps, one is short: "uneven" is the faster worker by shortest steps, and the slower
// one by longer stretches.
std::vector<int64_t> StepsOf(const std::string& worker) {
  if (worker == "uneven") {
    std::vector<int64_t> steps(16, 10'000'000);
    steps[3] = 5'000'000;
    return steps;
  }
  return std::vector<int64_t>(16, worker == "even" ? 9'000'000 : 1'000'000);
}

RunRecord RunOf(const std::string& worker, int64_t round, int64_t study = 1) {
  const std::vector<int64_t> steps = StepsOf(worker);
  RunRecord run = TimedRun(worker, static_cast<double>(steps[0]));
  run.summary.step_ns_min = static_cast<double>(*std::min_element(steps.begin(), steps.end()));
  run.summary.stretches = StretchProfile::Of(steps).Encode();
  run.study = study;
  run.round = round;
  static int64_t next_id = 1;
  run.id = next_id++;
  return run;
}

std::vector<RunRecord> StudyOf(const std::vector<std::string>& workers, int64_t study = 1) {
  std::vector<RunRecord> runs;
  for (int64_t round = 0; round < 5; ++round) {
    for (const std::string& worker : workers) runs.push_back(RunOf(worker, round, study));
  }
  return runs;
}

bool IsShort(const RunRecord& run) { return run.cell.Text(kAxisWorker) == "short"; }

// The ratio of "even" to "uneven" in a table that shows the workers with long steps, or all.
double RatioInTable(const std::vector<RunRecord>& runs, bool all) {
  RankingBuilder builder;
  for (const RunRecord& run : runs) {
    if (all || !IsShort(run)) {
      builder.Add(run);
    } else {
      builder.Observe(run);
    }
  }
  const Ranking ranking = std::move(builder).Finish();
  double even = 0, uneven = 0;
  for (const RankRow& row : ranking.groups.at(0).rows) {
    if (row.worker == "even") even = row.step_ns->value;
    if (row.worker == "uneven") uneven = row.step_ns->value;
  }
  return even / uneven;
}

Comparison Compared(const std::vector<RunRecord>& a, const std::vector<RunRecord>& b) {
  ComparisonBuilder builder({.axes = {"worker"}});
  for (const auto& [side, runs] : {std::pair(Side::kA, &a), {Side::kB, &b}}) {
    const char* worker = side == Side::kA ? "uneven" : "even";
    for (const RunRecord& run : *runs) {
      builder.Observe(side, run);
      if (run.cell.Text(kAxisWorker) == worker) builder.Add(side, run);
    }
  }
  return std::move(builder).Finish();
}

TEST(GroupStepsTest, APairHasOneRatioInEveryTableAndInAComparison) {
  const std::vector<RunRecord> alone = StudyOf({"even", "uneven"});
  EXPECT_NEAR(RatioInTable(alone, true), 1.8, 1e-9) << "by their shortest steps";
  const std::vector<RunRecord> runs = StudyOf({"even", "uneven", "short"});
  const double ratio = RatioInTable(runs, true);
  EXPECT_LT(ratio, 1) << "by stretches as long as those of the worker with short steps";
  EXPECT_NEAR(RatioInTable(runs, false), ratio, 1e-9) << "a filter leaves one worker out";
  const Comparison comparison = Compared(runs, runs);
  ASSERT_THAT(comparison.pairs, SizeIs(1));
  const CellPair& pair = comparison.pairs[0];
  EXPECT_NEAR(pair.test.ratio, ratio, 1e-9);
  EXPECT_NEAR(pair.b.compared_ns / pair.a.compared_ns, ratio, 1e-9);
}

TEST(GroupStepsTest, CellsOfDifferentStudiesAreComparedByThemselves) {
  const Comparison comparison =
      Compared(StudyOf({"even", "uneven", "short"}, 1), StudyOf({"even", "uneven", "short"}, 2));
  ASSERT_THAT(comparison.pairs, SizeIs(1));
  EXPECT_NEAR(comparison.pairs[0].test.ratio, 1.8, 1e-9);
}

TEST(GroupStepsTest, TheLastAttemptOfARoundCountsAndOtherNetworksDoNot) {
  GroupSteps steps;
  RunRecord first = TimedRun("native", 2e6), again = TimedRun("native", 3e6),
            other = TimedRun("torch", 7e6), oracle = TimedRun("reference", 9e6);
  for (RunRecord* run : {&first, &again, &other, &oracle}) run->study = 1;
  again.attempt = 1;
  other.fingerprint = "another";
  for (const RunRecord& run : {again, first, other, oracle}) steps.Add("group", run);
  const std::vector<GroupStep> found = steps.Of("group", first.fingerprint);
  ASSERT_THAT(found, SizeIs(2));
  for (const GroupStep& step : found) {
    EXPECT_EQ(step.median_ns, step.is_scale ? 9e6 : 3e6);
  }
  EXPECT_THAT(steps.Of("group", ""), SizeIs(3)) << "an unknown network matches any";
  EXPECT_THAT(steps.Of("nowhere", ""), SizeIs(0));
}

}  // namespace
}  // namespace tench::group_steps_test
