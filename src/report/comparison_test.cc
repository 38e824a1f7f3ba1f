// SPDX-License-Identifier: Apache-2.0
#include "report/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/test_ranking.h"

namespace tench::comparison_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

int64_t next_run_id = 1;

RunRecord Measured(const std::string& worker, int64_t round, double step_ns, int64_t batch = 64,
                   int64_t study = 1) {
  RunRecord run = TimedRun(worker, step_ns, batch);
  run.study = study;
  run.round = round;
  run.id = next_run_id++;
  return run;
}

// Small deterministic noise.
double Wobble(int64_t round) { return 1 + 0.001 * static_cast<double>(round * 7 % 5 - 2); }

struct Sides {
  std::vector<RunRecord> a, b;
};

Comparison Compare(const Sides& sides, CompareOptions options) {
  ComparisonBuilder builder(std::move(options));
  for (const RunRecord& run : sides.a) builder.Add(Side::kA, run);
  for (const RunRecord& run : sides.b) builder.Add(Side::kB, run);
  return std::move(builder).Finish();
}

TEST(ComparisonTest, CellsThatAgreeInAllButTheWorkerArePairs) {
  Sides sides;
  for (int64_t round = 0; round < 5; ++round) {
    for (const int64_t batch : {16, 64}) {
      sides.a.push_back(Measured("old", round, 10e6 * Wobble(round), batch));
      sides.b.push_back(Measured("new", round, batch == 16 ? 10e6 : 5e6, batch));
    }
    sides.b.push_back(Measured("new", round, 1e6, 128));
  }
  const Comparison comparison = Compare(sides, {.axes = {"worker"}});
  ASSERT_THAT(comparison.pairs, SizeIs(2));
  EXPECT_EQ(comparison.pairs[0].a.cell.Integer(kAxisBatch), 16);
  EXPECT_EQ(comparison.pairs[0].verdict, RatioVerdict::kSame);
  EXPECT_EQ(comparison.pairs[1].verdict, RatioVerdict::kFaster);
  EXPECT_NEAR(comparison.pairs[1].test.ratio, 0.5, 0.001);
  EXPECT_THAT(comparison.only_a, IsEmpty());
  ASSERT_THAT(comparison.only_b, SizeIs(1));
  EXPECT_EQ(comparison.only_b[0].cell.Integer(kAxisBatch), 128);
  EXPECT_TRUE(comparison.interleaved());
  EXPECT_EQ(comparison.Count(RatioVerdict::kFaster), 1);
}

TEST(ComparisonTest, TimesArePerImageSoThatBatchesCanBeCompared) {
  Sides sides;
  for (int64_t round = 0; round < 6; ++round) {
    sides.a.push_back(Measured("w", round, 16e6 * Wobble(round), 16));
    sides.b.push_back(Measured("w", round, 32e6, 64));
  }
  const Comparison comparison = Compare(sides, {.axes = {"batch"}});
  ASSERT_THAT(comparison.pairs, SizeIs(1));
  EXPECT_NEAR(comparison.pairs[0].test.ratio, 0.5, 0.001);
}

TEST(ComparisonTest, AnOptionIsComparedWithinOneWorker) {
  Sides sides;
  for (int64_t round = 0; round < 5; ++round) {
    for (const char* worker : {"x", "y"}) {
      for (const char* layout : {"nchw", "nhwc"}) {
        RunRecord run =
            Measured(worker, round, layout == std::string("nchw") ? 10e6 * Wobble(round) : 11e6);
        run.cell.options = {{"layout", layout}, {"other", "1"}};
        run.cell_id = run.cell.Id();
        (layout == std::string("nchw") ? sides.a : sides.b).push_back(run);
      }
    }
  }
  const Comparison comparison = Compare(sides, {.axes = {"option.layout"}});
  ASSERT_THAT(comparison.pairs, SizeIs(2));
  for (const CellPair& pair : comparison.pairs) {
    EXPECT_EQ(pair.a.cell.Text(kAxisWorker), pair.b.cell.Text(kAxisWorker));
    EXPECT_EQ(pair.verdict, RatioVerdict::kSlower);
  }
}

TEST(ComparisonTest, TwoStudiesAreComparedByRoundAndAreNotInterleaved) {
  Sides sides;
  for (int64_t round = 0; round < 5; ++round) {
    sides.a.push_back(Measured("w", round, 10e6 * Wobble(round), 64, 1));
    sides.b.push_back(Measured("w", round, 20e6, 64, 2));
    sides.b.back().worker_version = "2.0";
  }
  const Comparison comparison = Compare(sides, {.axes = {kVersionAxis}});
  ASSERT_THAT(comparison.pairs, SizeIs(1));
  EXPECT_FALSE(comparison.interleaved());
  EXPECT_EQ(comparison.pairs[0].verdict, RatioVerdict::kSlower);
  EXPECT_EQ(comparison.pairs[0].b.worker_version, "2.0");
}

TEST(ComparisonTest, BuildsMeetOnlyWhereVersionsMayDiffer) {
  Sides sides;
  for (int64_t round = 0; round < 5; ++round) {
    sides.a.push_back(Measured("w", round, 10e6 * Wobble(round), 16));
    sides.b.push_back(Measured("w", round, 20e6, 64));
    sides.b.back().build = "ffff00001111aaaa";
  }
  EXPECT_THAT(Compare(sides, {.axes = {"batch"}}).pairs, IsEmpty());
  const Comparison comparison = Compare(sides, {.axes = {"batch", kVersionAxis}});
  ASSERT_THAT(comparison.pairs, SizeIs(1));
  EXPECT_EQ(comparison.pairs[0].b.build, "ffff00001111aaaa");
}

TEST(ComparisonTest, TwoBuildsOrRulesOfOneSideAreTwoCells) {
  Sides sides;
  for (int64_t round = 0; round < 5; ++round) {
    sides.a.push_back(Measured("old", round, 10e6 * Wobble(round)));
    sides.b.push_back(Measured("new", round, 20e6));
    sides.b.push_back(Measured("new", round, 5e6));
    sides.b.back().build = "ffff00001111aaaa";
    sides.b.push_back(Measured("new", round, 1e6));
    sides.b.back().rules = kUnnumberedRules;
  }
  EXPECT_THAT(Compare(sides, {.axes = {"worker"}}).pairs, SizeIs(3));
}

TEST(ComparisonTest, ARunIsNeverComparedWithItself) {
  Sides sides;
  for (int64_t round = 0; round < 5; ++round) sides.a.push_back(Measured("w", round, 10e6));
  sides.b = sides.a;
  EXPECT_THAT(Compare(sides, {.axes = {"worker"}}).pairs, IsEmpty());
}

TEST(ComparisonTest, MachinesMeetOnlyWhenTheyAreWhatIsCompared) {
  Sides sides;
  for (int64_t round = 0; round < 5; ++round) {
    sides.a.push_back(Measured("w", round, 10e6 * Wobble(round), 64, 1));
    sides.b.push_back(Measured("w", round, 5e6, 64, 2));
    sides.b.back().machine = "lake";
    sides.b.back().machine_id = "lake-id";
  }
  EXPECT_THAT(Compare(sides, {}).pairs, IsEmpty());
  const Comparison comparison = Compare(sides, {.axes = {kMachineAxis}});
  ASSERT_THAT(comparison.pairs, SizeIs(1));
  EXPECT_EQ(comparison.pairs[0].verdict, RatioVerdict::kFaster);
  EXPECT_FALSE(comparison.pairs[0].interleaved);
  EXPECT_THAT(Compare(sides, {.axes = {kMachineAxis, kVersionAxis},
                              .rule = {.source = Source::kOtherStore}})
                  .pairs,
              SizeIs(1));
}

TEST(ComparisonTest, SaysHowTheMachineItselfChanged) {
  Sides sides;
  for (int64_t round = 0; round < 5; ++round) {
    for (const int64_t study : {1, 2}) {
      RunRecord run = Measured("w", round, 10e6 * Wobble(round), 64, study);
      const int64_t taken = study == 1 ? 1'000'000 : 1'100'000;
      run.summary.sentinel_before_compute_ns = run.summary.sentinel_after_compute_ns = taken;
      run.summary.sentinel_before_memory_ns = run.summary.sentinel_after_memory_ns = taken;
      (study == 1 ? sides.a : sides.b).push_back(run);
    }
  }
  EXPECT_NEAR(Compare(sides, {.axes = {kVersionAxis}}).sentinel_ratio.value(), 1.1, 1e-9);
  for (RunRecord& run : sides.b) run.machine_id = "elsewhere";
  EXPECT_FALSE(Compare(sides, {.axes = {kMachineAxis}}).sentinel_ratio.has_value());
}

TEST(ComparisonTest, AnotherNetworkOfTheSameNameIsNoPartner) {
  Sides sides;
  sides.a.push_back(Measured("x", 0, 10e6));
  sides.b.push_back(Measured("y", 0, 10e6));
  sides.b.back().fingerprint = "another";
  const Comparison comparison = Compare(sides, {.axes = {"worker"}});
  EXPECT_THAT(comparison.pairs, IsEmpty());
  EXPECT_THAT(comparison.only_a, SizeIs(1));
  EXPECT_THAT(comparison.only_b, SizeIs(1));
}

TEST(ComparisonTest, ACellThatNowFailsIsAmbiguousAndSaysWhy) {
  Sides sides;
  for (int64_t round = 0; round < 5; ++round) {
    sides.a.push_back(Measured("w", round, 10e6, 64, 1));
    sides.b.push_back(FailedRun("w", Outcome::kCrashed, "signal 11"));
    sides.b.back().study = 2;
    sides.b.back().round = round;
  }
  const Comparison comparison = Compare(sides, {});
  ASSERT_THAT(comparison.pairs, SizeIs(1));
  EXPECT_EQ(comparison.pairs[0].verdict, RatioVerdict::kAmbiguous);
  EXPECT_THAT(comparison.pairs[0].reason, HasSubstr("B failed: crashed: signal 11"));
}

TEST(ComparisonTest, FewRoundsAreAmbiguousAndSayHowManyAreNeeded) {
  Sides sides;
  for (int64_t round = 0; round < 4; ++round) {
    sides.a.push_back(Measured("x", round, 10e6));
    sides.b.push_back(Measured("y", round, 30e6));
  }
  const Comparison comparison = Compare(sides, {.axes = {"worker"}});
  ASSERT_THAT(comparison.pairs, SizeIs(1));
  EXPECT_EQ(comparison.pairs[0].reason, "4 rounds; a verdict needs 5");
}

TEST(ComparisonTest, TheTableIsCorrectedForItsSize) {
  Sides sides;
  for (int64_t round = 0; round < 5; ++round) {
    sides.a.push_back(Measured("x", round, 10e6, 1));
    sides.b.push_back(
        Measured("y", round, 10e6 * (1.02 + 0.02 * static_cast<double>(round % 3)), 1));
    for (int64_t batch = 2; batch < 9; ++batch) {
      sides.a.push_back(Measured("x", round, 10e6, batch));
      sides.b.push_back(Measured(
          "y", round, 10e6 * (1 + 0.1 * static_cast<double>((round + batch) % 3 - 1)), batch));
    }
  }
  const Comparison comparison = Compare(sides, {.axes = {"worker"}});
  ASSERT_THAT(comparison.pairs, SizeIs(8));
  const CellPair& clear = comparison.pairs[0];
  ASSERT_LE(clear.test.p, 0.05);
  EXPECT_NEAR(clear.corrected_p, clear.test.p * 8, 1e-12);
  EXPECT_EQ(clear.verdict, RatioVerdict::kAmbiguous);
  EXPECT_THAT(clear.reason, HasSubstr("not significant after the correction"));
}

}  // namespace
}  // namespace tench::comparison_test
