// SPDX-License-Identifier: Apache-2.0
#include "report/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "base/file.h"
#include "report/test_ranking.h"

namespace tench::summary_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Ranking RankOf(const std::vector<RunRecord>& runs, std::optional<size_t> by = std::nullopt) {
  RankingBuilder builder(by);
  for (const RunRecord& run : runs) builder.Add(run);
  return std::move(builder).Finish();
}

std::vector<std::string> Workers(const RankGroup& group) {
  std::vector<std::string> names;
  for (const RankRow& row : group.rows) names.push_back(row.worker);
  return names;
}

TEST(SummaryTest, RanksComparableCellsByTimePerImage) {
  const Ranking ranking =
      RankOf({TimedRun("slow", 30e6), TimedRun("fast", 10e6), TimedRun("middle", 20e6)});
  ASSERT_EQ(ranking.groups.size(), 1u);
  const RankGroup& group = ranking.groups[0];
  EXPECT_THAT(Workers(group), ElementsAre("fast", "middle", "slow"));
  EXPECT_EQ(group.rows[2].rank, 3);
  EXPECT_DOUBLE_EQ(group.rows[0].ratio, 1);
  EXPECT_DOUBLE_EQ(group.rows[2].ratio, 3);
  EXPECT_DOUBLE_EQ(PerImage(ranking, group, group.rows[0]).value, 10e6 / 64);
  EXPECT_EQ(ranking.runs, 3);
  EXPECT_EQ(ranking.FailedRows(), 0);
}

TEST(SummaryTest, CellsThatDifferInAnyAxisButTheWorkerAreNotCompared) {
  for (size_t i = 0; i < Axes().size(); ++i) {
    RunRecord other = TimedRun("b", 20e6);
    const Axis& axis = Axes()[i];
    if (axis.kind == AxisKind::kChoice) {
      other.cell.values[i] = axis.choices.back() == axis.Print(other.cell.values[i])
                                 ? axis.choices.front()
                                 : axis.choices.back();
    } else if (axis.kind == AxisKind::kInteger) {
      other.cell.values[i] = std::get<int64_t>(other.cell.values[i]) + 1;
    } else if (axis.kind == AxisKind::kReal) {
      other.cell.values[i] = std::get<double>(other.cell.values[i]) + 0.5;
    } else {
      other.cell.values[i] = "other";
    }
    other.cell_id = other.cell.Id();
    EXPECT_EQ(RankOf({TimedRun("a", 10e6), other}).groups.size(), i == kAxisWorker ? 1u : 2u)
        << axis.name;
  }
}

TEST(SummaryTest, OptionsAndVersionsAreRowsOfOneGroup) {
  RunRecord tuned = TimedRun("a", 8e6);
  tuned.cell.options["layout"] = "nhwc";
  tuned.cell_id = tuned.cell.Id();
  RunRecord newer = TimedRun("a", 9e6);
  newer.worker_version = "2.0";
  const Ranking ranking = RankOf({TimedRun("a", 10e6), tuned, newer});
  ASSERT_EQ(ranking.groups.size(), 1u);
  ASSERT_EQ(ranking.groups[0].rows.size(), 3u);
  EXPECT_EQ(ranking.groups[0].rows[0].options.at("layout"), "nhwc");
  EXPECT_EQ(ranking.groups[0].rows[1].worker_version, "2.0");
  EXPECT_EQ(CellOf(ranking, ranking.groups[0], ranking.groups[0].rows[0]), tuned.cell);
}

TEST(SummaryTest, OtherMachinesAndOtherNetworksOfTheSameNameAreNotCompared) {
  RunRecord elsewhere = TimedRun("a", 5e6);
  elsewhere.machine = "lake", elsewhere.machine_id = "lake-id";
  RunRecord changed = TimedRun("b", 5e6);
  changed.fingerprint = "other";
  const Ranking ranking = RankOf({TimedRun("a", 10e6), elsewhere, changed});
  EXPECT_EQ(ranking.groups.size(), 3u);
  EXPECT_TRUE(ranking.several_machines);
}

TEST(SummaryTest, ARowsTimeIsTheGeometricMeanOfItsRunsWithATIntervalOfTheirLogarithms) {
  const Ranking ranking =
      RankOf({TimedRun("a", 10e6), TimedRun("a", 10.2e6), TimedRun("a", 9.8e6)});
  const RankRow& row = ranking.groups[0].rows.at(0);
  EXPECT_EQ(row.runs_ok, 3);
  EXPECT_NEAR(row.step_ns->value, std::cbrt(9.8e6 * 10e6 * 10.2e6), 1);
  EXPECT_DOUBLE_EQ(row.median_step_ns->value, 10e6);
  // By hand: the logs of 9.8, 10, 10.2 have mean ln 10 - 0.000133 and deviation 0.020001, and t(2)
  // = 4.302653.
  EXPECT_NEAR(*row.step_ns->low, 9.5140e6, 2e3);
  EXPECT_NEAR(*row.step_ns->high, 10.5080e6, 2e3);
}

TEST(SummaryTest, TheMedianOfOneRunHasItsOwnInterval) {
  const RankRow row = RankOf({TimedRun("a", 10e6)}).groups[0].rows.at(0);
  EXPECT_DOUBLE_EQ(*row.median_step_ns->low, 9.9e6);
  EXPECT_DOUBLE_EQ(*row.median_step_ns->high, 10.1e6);
  EXPECT_FALSE(row.step_ns->low.has_value()) << "one shortest step has no interval";
}

TEST(SummaryTest, RanksTimesAndRatiosAreThoseOfTheShortestStep) {
  std::vector<RunRecord> runs;
  for (int64_t round = 0; round < 5; ++round) {
    RunRecord a = TimedRun("a", 10e6), b = TimedRun("b", 12e6);
    a.study = b.study = 1;
    a.round = b.round = round;
    a.summary.step_ns_median = 30e6 + 1e5 * static_cast<double>(round % 2);
    b.summary.step_ns_median = 31e6;
    runs.push_back(a);
    runs.push_back(b);
  }
  const Ranking ranking = RankOf(runs);
  const std::vector<RankRow>& rows = ranking.groups[0].rows;
  EXPECT_EQ(rows[0].worker, "a");
  EXPECT_NEAR(rows[1].ratio, 1.2, 1e-9);
  EXPECT_NEAR(rows[1].step_ns->value / rows[0].step_ns->value, rows[1].against_best->ratio, 1e-9);
  EXPECT_EQ(rows[1].verdict, RatioVerdict::kSlower);
  EXPECT_DOUBLE_EQ(rows[1].median_step_ns->value, 31e6);
  // The medians say the opposite with confidence.
  for (RunRecord& run : runs) {
    if (run.cell.Text(kAxisWorker) == "b") run.summary.step_ns_median = 20e6;
  }
  EXPECT_EQ(RankOf(runs).groups[0].rows[1].verdict, RatioVerdict::kAmbiguous);
}

TEST(SummaryTest, TheCorrectionCoversAllPairsFromWhichTheFastestWasPicked) {
  // The second row differs from the first with p = 0.02 or so; the others are far away and equal.
  const std::vector<double> noise = {1.10, 1.02, 1.12, 1.03, 1.09};
  std::vector<RunRecord> runs;
  const auto add = [&](const std::string& worker, int64_t round, double step_ns) {
    RunRecord run = TimedRun(worker, step_ns);
    run.study = 1;
    run.round = round;
    runs.push_back(run);
  };
  for (int64_t round = 0; round < 5; ++round) {
    add("a", round, 10e6);
    add("b", round, 10e6 * noise[static_cast<size_t>(round)]);
  }
  EXPECT_EQ(RankOf(runs).groups[0].rows[1].verdict, RatioVerdict::kSlower);
  const double p = RankOf(runs).groups[0].rows[1].against_best->p;
  EXPECT_GT(p * 4, kSignificance) << "four rows that are indistinguishable would exceed it";
  for (int64_t round = 0; round < 5; ++round) {
    const double mood = round % 2 == 0 ? 1.3 : 1.1;
    add("c", round, 12e6 * mood);
    add("d", round, 12e6 * (2.4 - mood));
  }
  EXPECT_EQ(RankOf(runs).groups[0].rows[1].verdict, RatioVerdict::kAmbiguous);
}

TEST(SummaryTest, ARoundWithADisturbedRunHasNoPair) {
  std::vector<RunRecord> runs;
  for (int64_t round = 0; round < 6; ++round) {
    for (const char* worker : {"a", "b"}) {
      RunRecord run = TimedRun(worker, worker[0] == 'a' ? 10e6 : 12e6);
      run.study = 1;
      run.round = round;
      run.summary.disturbed = worker[0] == 'b' && round == 2;
      runs.push_back(run);
    }
  }
  const Ranking ranking = RankOf(runs);
  const std::vector<RankRow>& rows = ranking.groups[0].rows;
  EXPECT_EQ(rows[1].against_best->rounds, 5);
  EXPECT_THAT(rows[1].flags, testing::Contains("disturbed"));
  EXPECT_EQ(rows[1].verdict, RatioVerdict::kSlower);
}

// The machine slows down by half in every round; the runs of `worker` in `round` are disturbed.
Ranking RankWithDrift(double b_over_a, const std::string& worker, std::set<int64_t> rounds) {
  std::vector<RunRecord> runs;
  double mood = 1;
  for (int64_t round = 0; round < 8; ++round, mood *= 1.5) {
    for (const char* name : {"a", "b"}) {
      RunRecord run = TimedRun(name, 10e6 * mood * (name[0] == 'b' ? b_over_a : 1));
      run.study = 1;
      run.round = round;
      run.step_flops = 1000;
      run.summary.disturbed = name == worker && rounds.contains(round);
      runs.push_back(run);
    }
  }
  return RankOf(runs);
}

TEST(SummaryTest, TheQuotientOfTwoTimesIsTheirRatioEvenIfSomeRoundsHaveNoPair) {
  const Ranking ranking = RankWithDrift(1.2, "b", {6, 7});
  const std::vector<RankRow>& rows = ranking.groups[0].rows;
  EXPECT_EQ(rows[0].worker, "a");
  EXPECT_EQ(rows[1].against_best->rounds, 6);
  EXPECT_NEAR(rows[1].against_best->ratio, 1.2, 1e-9);
  EXPECT_NEAR(rows[1].ratio, 1.2, 1e-9);
  EXPECT_NEAR(rows[1].step_ns->value / rows[0].step_ns->value, 1.2, 1e-9);
  EXPECT_NEAR(*rows[0].flops_per_s / *rows[1].flops_per_s, 1.2, 1e-9);
  EXPECT_LT(*rows[1].step_ns->low, rows[1].step_ns->value);
  EXPECT_GT(*rows[1].step_ns->high, rows[1].step_ns->value);
}

TEST(SummaryTest, ARowThatIsFasterInTheCommonRoundsComesFirst) {
  // By its own rounds, the fast ones, b has the shorter time.
  const Ranking ranking = RankWithDrift(1.2, "b", {5, 6, 7});
  const std::vector<RankRow>& rows = ranking.groups[0].rows;
  EXPECT_LT(MeanComparedNs(rows[1].times), MeanComparedNs(rows[0].times));
  EXPECT_EQ(rows[0].worker, "a");
  EXPECT_EQ(rows[0].rank, 1);
  EXPECT_FALSE(rows[0].against_best.has_value());
  EXPECT_EQ(rows[1].rank, 2);
  EXPECT_NEAR(rows[1].ratio, 1.2, 1e-9);
  EXPECT_EQ(rows[1].verdict, RatioVerdict::kSlower);
}

TEST(SummaryTest, DerivesRatesAndKeepsTheLargestPeakAndTheNewestLoss) {
  RunRecord first = TimedRun("a", 10e6), second = TimedRun("a", 10e6);
  first.summary.sampled_peak_rss_bytes = 900 << 20;  // includes Build
  first.summary.steps_peak_rss_bytes = 700 << 20;
  first.summary.rss_before_build_bytes = 90 << 20;
  second.summary.last_loss = 0.0625;
  second.id = 1;
  const RankRow row = RankOf({first, second}).groups[0].rows.at(0);
  EXPECT_DOUBLE_EQ(*row.flops_per_s, 880'512'000 / 10e-3);
  EXPECT_EQ(row.peak_rss_bytes, 700 << 20);
  EXPECT_EQ(row.rss_before_build_bytes, 90 << 20);
  EXPECT_EQ(row.loss, 0.0625);
}

TEST(SummaryTest, FailedCellsHaveNoRankButKeepReasonAndReproducer) {
  const Ranking ranking =
      RankOf({FailedRun("a", Outcome::kOutOfMemory, "9 GiB were not enough"), TimedRun("b", 10e6)});
  ASSERT_EQ(ranking.groups.size(), 1u);
  EXPECT_THAT(Workers(ranking.groups[0]), ElementsAre("b", "a"));
  const RankRow& row = ranking.groups[0].rows[1];
  EXPECT_EQ(row.rank, 0);
  EXPECT_EQ(row.outcome, Outcome::kOutOfMemory);
  EXPECT_EQ(row.reason, "9 GiB were not enough");
  EXPECT_THAT(row.reproducer, HasSubstr("tench run --worker a"));
  EXPECT_EQ(ranking.FailedRows(), 1);
}

TEST(SummaryTest, TheMostFrequentOutcomeCountsAndTheFailureWhenEven) {
  const RunRecord ok = TimedRun("a", 10e6), timeout = FailedRun("a", Outcome::kTimeout, "too slow");
  const RankRow mostly_ok = RankOf({ok, timeout, ok}).groups[0].rows.at(0);
  EXPECT_EQ(mostly_ok.outcome, Outcome::kOk);
  EXPECT_EQ(mostly_ok.rank, 1);
  EXPECT_EQ(mostly_ok.failure, Outcome::kTimeout);
  EXPECT_EQ(mostly_ok.runs_failed, 1);
  EXPECT_TRUE(mostly_ok.HasFailed());
  const RankRow even = RankOf({ok, timeout}).groups[0].rows.at(0);
  EXPECT_EQ(even.outcome, Outcome::kTimeout);
  EXPECT_EQ(even.rank, 0);
}

TEST(SummaryTest, OneWrongRunIsEnoughNotToRank) {
  const RunRecord ok = TimedRun("a", 10e6);
  const RankRow row =
      RankOf({ok, ok, ok, FailedRun("a", Outcome::kWrong, "conv1 differs")}).groups[0].rows.at(0);
  EXPECT_EQ(row.outcome, Outcome::kWrong);
  EXPECT_EQ(row.rank, 0);
}

TEST(SummaryTest, InterruptedRunsCountOnlyWhereThereIsNothingElse) {
  const RunRecord interrupted = FailedRun("a", Outcome::kInterrupted, "stopped by the user");
  const RankRow with_ok = RankOf({interrupted, TimedRun("a", 10e6)}).groups[0].rows.at(0);
  EXPECT_EQ(with_ok.rank, 1);
  EXPECT_FALSE(with_ok.HasFailed());
  EXPECT_EQ(RankOf({interrupted}).groups[0].rows.at(0).outcome, Outcome::kInterrupted);
}

TEST(SummaryTest, ARunThatFailedBeforeItsVersionWasKnownJoinsItsCell) {
  // Neither version nor fingerprint.
  const RunRecord early = FailedRun("a", Outcome::kCrashed, "died at once");
  for (const auto& runs : {std::vector{early, TimedRun("a", 10e6), TimedRun("a", 10e6)},
                           {TimedRun("a", 10e6), TimedRun("a", 10e6), early}}) {
    const Ranking ranking = RankOf(runs);
    ASSERT_EQ(ranking.groups.size(), 1u);
    ASSERT_EQ(ranking.groups[0].rows.size(), 1u);
    EXPECT_EQ(ranking.groups[0].rows[0].worker_version, "1.0");
    EXPECT_EQ(ranking.groups[0].rows[0].runs_failed, 1);
  }
}

TEST(SummaryTest, TwoBuildsOfOneVersionAreTwoRows) {
  RunRecord rebuilt = TimedRun("a", 5e6);
  rebuilt.build = "ffff00001111aaaa";
  const Ranking ranking = RankOf({TimedRun("a", 10e6), rebuilt, TimedRun("a", 10e6), rebuilt});
  ASSERT_EQ(ranking.groups.size(), 1u);
  ASSERT_EQ(ranking.groups[0].rows.size(), 2u);
  EXPECT_EQ(ranking.groups[0].rows[0].build, rebuilt.build);
  EXPECT_EQ(ranking.groups[0].rows[0].runs_ok, 2);
  EXPECT_DOUBLE_EQ(ranking.groups[0].rows[0].step_ns->value, 5e6);
  EXPECT_DOUBLE_EQ(ranking.groups[0].rows[1].step_ns->value, 10e6);
  const Ranking by_batch = RankOf({TimedRun("a", 10e6), rebuilt}, kAxisBatch);
  EXPECT_EQ(by_batch.groups.size(), 2u) << "one table per build";
}

TEST(SummaryTest, ARunOfAnOlderFileWhoseBuildIsUnknownJoinsNoBuild) {
  RunRecord old = TimedRun("a", 20e6);
  old.build = "";
  for (const auto& runs : {std::vector{old, TimedRun("a", 10e6)}, {TimedRun("a", 10e6), old}}) {
    const Ranking ranking = RankOf(runs);
    ASSERT_EQ(ranking.groups.at(0).rows.size(), 2u);
    EXPECT_EQ(ranking.groups[0].rows[1].build, "");
  }
  EXPECT_EQ(RankOf({old, old}).groups.at(0).rows.size(), 1u);
}

TEST(SummaryTest, ARunThatFailedBeforeItsVersionWasKnownJoinsItsOwnBuildOnly) {
  RunRecord rebuilt = FailedRun("a", Outcome::kCrashed, "died at once");
  rebuilt.build = "ffff00001111aaaa";
  const Ranking ranking = RankOf({TimedRun("a", 10e6), rebuilt});
  ASSERT_EQ(ranking.groups.at(0).rows.size(), 2u);
  EXPECT_EQ(ranking.groups[0].rows[0].runs_failed, 0);
  EXPECT_EQ(ranking.groups[0].rows[1].build, rebuilt.build);
}

TEST(SummaryTest, OtherRulesAndOtherSolversAreOtherRows) {
  RunRecord old = TimedRun("a", 20e6), nesterov = TimedRun("a", 30e6);
  old.rules = kUnnumberedRules;
  nesterov.solver = "nesterov";
  const Ranking ranking = RankOf({TimedRun("a", 10e6), old, nesterov});
  ASSERT_EQ(ranking.groups.at(0).rows.size(), 3u);
  EXPECT_TRUE(ranking.several_rules);
  EXPECT_EQ(ranking.groups[0].rows[1].rules, kUnnumberedRules);
  EXPECT_EQ(ranking.groups[0].rows[2].solver, "nesterov");
  EXPECT_FALSE(RankOf({TimedRun("a", 10e6)}).several_rules);
  RunRecord imported = TimedRun("b", 10e6);
  imported.rules = kNoRules;
  EXPECT_FALSE(RankOf({TimedRun("a", 10e6), imported}).several_rules);
}

TEST(SummaryTest, ByAnAxisGivesOneTablePerWorkerInTheOrderOfTheAxis) {
  std::vector<RunRecord> runs;
  for (const char* worker : {"b", "a"}) {
    for (const int64_t batch : {64, 8, 256, 16})
      runs.push_back(TimedRun(worker, 1e6 + 1e5 * static_cast<double>(batch), batch));
  }
  const Ranking ranking = RankOf(runs, kAxisBatch);
  ASSERT_EQ(ranking.groups.size(), 2u);
  EXPECT_EQ(ranking.groups[0].cell.Text(kAxisWorker), "a");
  std::vector<int64_t> batches;
  for (const RankRow& row : ranking.groups[0].rows) batches.push_back(std::get<int64_t>(row.by));
  EXPECT_THAT(batches, ElementsAre(8, 16, 64, 256));
  EXPECT_EQ(ranking.groups[0].rows[3].rank, 1);  // the largest batch has the least time per image
  EXPECT_NEAR(ranking.groups[0].rows[0].ratio, (1e6 + 8e5) / 8 / ((1e6 + 256e5) / 256), 1e-9);
  EXPECT_EQ(CellOf(ranking, ranking.groups[0], ranking.groups[0].rows[1]).Integer(kAxisBatch), 16);
}

TEST(SummaryTest, ByWorkerIsTheRankingInTheOrderOfNames) {
  const Ranking ranking = RankOf({TimedRun("b", 10e6), TimedRun("a", 20e6)}, kAxisWorker);
  ASSERT_EQ(ranking.groups.size(), 1u);
  EXPECT_THAT(Workers(ranking.groups[0]), ElementsAre("a", "b"));
}

TEST(SummaryTest, ReadsAStoreByStudyAndFilter) {
  const TemporaryFolder folder = *TemporaryFolder::Make("summary-test");
  Store store = *Store::Open(folder.path() / "results.db", Store::Mode::kReadWrite);
  const int64_t study = *store.AddStudy(TestStudy());
  for (const char* worker : {"a", "b"}) {
    RunRecord run = TimedRun(worker, 10e6);
    ASSERT_TRUE(store.AddRun(run, {}).ok());
    run.study = study;
    ASSERT_TRUE(store.AddRun(run, {}).ok());
  }
  EXPECT_EQ(Rank(store, {})->runs, 4);
  RankOptions options;
  options.studies = {study};
  EXPECT_EQ(Rank(store, options)->runs, 2);
  EXPECT_EQ(Rank(store, options)->studies.size(), 1u);
  options.only = *ParseSelector(std::vector<std::string>{"worker=a"});
  EXPECT_EQ(Rank(store, options)->runs, 1);
  options.studies = {9};
  EXPECT_THAT(Rank(store, options).error().message,
              HasSubstr("there is no study 9; the newest is 1"));
}

RunRecord InRound(RunRecord run, int64_t study, int64_t round, int64_t attempt = 0) {
  run.study = study;
  run.round = round;
  run.attempt = attempt;
  return run;
}

TEST(SummaryTest, RowsHaveAVerdictAgainstTheFastestFromCommonRounds) {
  std::vector<RunRecord> runs;
  // The machine becomes twice as slow from round to round; the ratios stay constant.
  for (int64_t round = 0; round < 6; ++round) {
    const double mood = static_cast<double>(int64_t{1} << round);
    runs.push_back(InRound(TimedRun("fast", 1e6 * mood), 1, round));
    runs.push_back(InRound(TimedRun("equal", 1.001e6 * mood), 1, round));
    runs.push_back(InRound(TimedRun("slow", 1.1e6 * mood), 1, round));
    if (round < 4) runs.push_back(InRound(TimedRun("rare", 50e6 * mood), 1, round));
  }
  const Ranking ranking = RankOf(runs);
  ASSERT_EQ(ranking.groups.size(), 1u);
  const std::vector<RankRow>& rows = ranking.groups[0].rows;
  EXPECT_FALSE(rows[0].against_best.has_value());
  EXPECT_EQ(rows[1].worker, "equal");
  EXPECT_EQ(rows[1].verdict, RatioVerdict::kSame);
  EXPECT_EQ(rows[2].worker, "slow");
  EXPECT_EQ(rows[2].verdict, RatioVerdict::kSlower);
  EXPECT_NEAR(rows[2].against_best->ratio, 1.1, 1e-9);
  EXPECT_EQ(rows[3].verdict, RatioVerdict::kAmbiguous);
  EXPECT_EQ(rows[3].against_best->rounds, 4);
}

TEST(SummaryTest, OnlyTheLastAttemptAtARoundCounts) {
  const Ranking ranking =
      RankOf({InRound(TimedRun("a", 90e6), 1, 0), InRound(TimedRun("a", 10e6), 1, 1),
              InRound(TimedRun("a", 10e6), 1, 0, 1)});
  ASSERT_EQ(ranking.groups.size(), 1u);
  EXPECT_EQ(ranking.groups[0].rows[0].runs_ok, 2);
  EXPECT_DOUBLE_EQ(ranking.groups[0].rows[0].step_ns->value, 10e6);
  EXPECT_DOUBLE_EQ(*ranking.groups[0].rows[0].step_ns->high, 10e6);
}

RunRecord WithSteps(RunRecord run, int64_t id, int64_t steps, double last_loss) {
  run.id = id;
  run.summary.warmup_steps = 2;
  run.summary.steps = steps - 2;
  run.summary.last_loss = last_loss;
  return run;
}

TEST(SummaryTest, LossesAreThoseOfTheSmallestCommonStepOfCountedAttempts) {
  const Ranking ranking = RankOf({
      WithSteps(InRound(TimedRun("a", 10e6), 1, 0), 1, 40, 0.4),
      // An attempt that does not count, and a run that is not ranked, are no reason to stop early.
      WithSteps(InRound(TimedRun("b", 20e6), 1, 0), 2, 4, 2.0),
      WithSteps(InRound(TimedRun("b", 20e6), 1, 0, 1), 3, 12, 1.2),
      WithSteps(InRound(TimedRun("b", 20e6), 1, 1), 4, 30, 0.3),
      WithSteps(InRound(FailedRun("c", Outcome::kWrong, "conv1"), 1, 0), 5, 3, 3.0),
  });
  const RankGroup& group = ranking.groups.at(0);
  EXPECT_EQ(group.loss_step, 12);
  EXPECT_EQ(group.rows[0].loss_run, 1);
  EXPECT_EQ(group.rows[0].loss, std::nullopt) << "only the series has it";
  EXPECT_EQ(group.rows[1].loss_run, 4) << "the newest of its attempts";
  EXPECT_EQ(group.rows[1].loss, std::nullopt);
  EXPECT_EQ(group.rows[2].loss_run, 0) << "not ranked";
  const Ranking equal = RankOf(
      {WithSteps(TimedRun("a", 10e6), 1, 12, 1.1), WithSteps(TimedRun("b", 20e6), 2, 12, 1.2)});
  EXPECT_EQ(equal.groups[0].loss_step, 12);
  EXPECT_EQ(equal.groups[0].rows[0].loss, 1.1) << "the last step of both";
  EXPECT_EQ(equal.groups[0].rows[1].loss, 1.2);
}

TEST(SummaryTest, ReadsLossesInTheMiddleOfARunAndParityFromTheStore) {
  const TemporaryFolder folder = *TemporaryFolder::Make("summary-test");
  Store store = *Store::Open(folder.path() / "results.db", Store::Mode::kReadWrite);
  const int64_t study = *store.AddStudy(TestStudy());
  RunSeries series;
  for (int i = 1; i <= 40; ++i) series.loss.push_back(i);
  ASSERT_TRUE(
      store.AddRun(WithSteps(InRound(TimedRun("a", 10e6), study, 0), 0, 40, 40), series).ok());
  ASSERT_TRUE(store.AddRun(WithSteps(InRound(TimedRun("b", 20e6), study, 0), 0, 12, 1.2), {}).ok());
  ParityRecord parity;
  parity.key = {"a",
                "1.0",
                TimedRun("a", 1).build,
                "Fish 9000",
                "avx2",
                "00000000deadbeef",
                fmt::format("rules={} device=cpu precision=f32", kRules)};
  parity.worst = 0.25;
  parity.worst_tensor = "ops: conv1";
  ASSERT_TRUE(store.SetParity(parity).ok());
  const Ranking ranking = *Rank(store, {});
  const RankGroup& group = ranking.groups.at(0);
  EXPECT_EQ(group.loss_step, 12);
  EXPECT_EQ(group.rows[0].loss, 12);
  EXPECT_EQ(group.rows[0].parity_error, 0.25);
  EXPECT_EQ(group.rows[0].parity_tensor, "ops: conv1");
  EXPECT_EQ(group.rows[1].loss, 1.2);
  EXPECT_EQ(group.rows[1].parity_error, std::nullopt);
}

TEST(SummaryTest, FlopsAboveTheMeasuredPeakOrByWinogradAreEffective) {
  RunRecord fast = TimedRun("fast", 6.4e6), slow = TimedRun("slow", 64e6),
            winograd = TimedRun("winograd", 64e6), other = TimedRun("other", 6.4e6);
  winograd.choices_json = R"({"conv1.forward":"winograd/0 winograd:avx2"})";
  other.threads = 4;
  Ranking ranking = RankOf({fast, slow, winograd, other});
  StudyRecord study = TestStudy();
  study.host_json = R"({"peak":[{"threads":2,"flops_per_s":1e11}]})";
  ranking.SetStudies({study});
  std::map<std::string, bool> effective;
  for (const RankRow& row : ranking.groups.at(0).rows) effective[row.worker] = row.flops_effective;
  EXPECT_EQ(effective, (std::map<std::string, bool>{{"fast", true},   // 137.6 GFLOP/s
                                                    {"slow", false},  // 13.8
                                                    {"winograd", true},
                                                    {"other", false}}));  // no peak of 4 threads
  // The peak is one of f32 on the CPU.
  for (const auto& [axis, value] :
       {std::pair(kAxisDevice, "gpu:0"), std::pair(kAxisPrecision, "bf16")}) {
    RunRecord run = TimedRun("fast", 6.4e6);
    run.cell.values[axis] = std::string(value);
    Ranking one = RankOf({run});
    one.SetStudies({study});
    EXPECT_FALSE(one.groups.at(0).rows.at(0).flops_effective) << value;
  }
}

TEST(SummaryTest, MachinesAreRowsOfOneGroupWhenAskedFor) {
  std::vector<RunRecord> runs;
  for (int64_t round = 0; round < 5; ++round) {
    RunRecord here = InRound(TimedRun("a", 10e6), 1, round),
              there = InRound(TimedRun("a", 5e6), 2, round);
    there.machine = "lake";
    there.machine_id = "lake-id";
    there.worker_version = "2.0";
    runs.push_back(here);
    runs.push_back(there);
  }
  const Ranking ranking = RankOf(runs, kByMachine);
  ASSERT_EQ(ranking.groups.size(), 1u);
  ASSERT_EQ(ranking.groups[0].rows.size(), 2u);
  const RankRow& lake = ranking.groups[0].rows[0];
  EXPECT_EQ(lake.by, AxisValue("lake"));
  EXPECT_EQ(lake.machine_id, "lake-id");
  EXPECT_EQ(lake.rank, 1);
  const RankRow& pond = ranking.groups[0].rows[1];
  EXPECT_EQ(pond.verdict, RatioVerdict::kSlower);
  EXPECT_FALSE(pond.interleaved);
  EXPECT_NEAR(pond.ratio, 2, 1e-12);
  EXPECT_EQ(CellOf(ranking, ranking.groups[0], pond), runs[0].cell);
}

}  // namespace
}  // namespace tench::summary_test
