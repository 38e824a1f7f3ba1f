// SPDX-License-Identifier: Apache-2.0
#include "report/round_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "stats/stats.h"
#include "stats/stretch.h"
#include "store/test_run.h"

namespace tench::round_time_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

RoundTime Time(int64_t study, int64_t round, double image_ns, int64_t attempt = 0) {
  RoundTime time;
  time.study = study;
  time.round = round;
  time.attempt = attempt;
  time.image_ns = time.shortest_ns = time.compared_ns = image_ns;
  return time;
}

std::vector<double> Ratios(const Pairing& pairing) {
  std::vector<double> ratios;
  for (const RoundPair& round : pairing.rounds) ratios.push_back(round.ratio);
  return ratios;
}

TEST(RoundTimeTest, CellsOfOneStudyMeetWithinTheirRounds) {
  const std::vector<RoundTime> a = {Time(1, 0, 10), Time(1, 1, 20), Time(2, 0, 40)};
  const std::vector<RoundTime> b = {Time(1, 1, 30), Time(2, 0, 20), Time(2, 1, 7)};
  const Pairing pairing = PairRounds(a, b);
  EXPECT_TRUE(pairing.interleaved);
  EXPECT_THAT(Ratios(pairing), ElementsAre(1.5, 0.5));
}

TEST(RoundTimeTest, CellsThatShareNoStudyMeetByNumberAndSaySo) {
  const std::vector<RoundTime> a = {Time(3, 0, 10), Time(3, 1, 20), Time(5, 0, 10)};
  const std::vector<RoundTime> b = {Time(4, 0, 20), Time(4, 1, 60), Time(9, 0, 40)};
  const Pairing pairing = PairRounds(a, b);
  EXPECT_FALSE(pairing.interleaved);
  EXPECT_THAT(Ratios(pairing), ElementsAre(2, 3, 4));
}

TEST(RoundTimeTest, EqualStudyNumbersOfTwoStoresMeanNothing) {
  const std::vector<RoundTime> a = {Time(1, 0, 10)}, b = {Time(1, 0, 20)};
  EXPECT_TRUE(PairRounds(a, b).interleaved);
  EXPECT_FALSE(PairRounds(a, b, {.source = Source::kOtherStore}).interleaved);
}

TEST(RoundTimeTest, SingleRunsPairWithNothing) {
  const std::vector<RoundTime> a = {Time(0, 0, 10), Time(0, 0, 11)}, b = {Time(0, 0, 20)};
  EXPECT_EQ(CountedTimes(a).size(), 2u);
  EXPECT_THAT(PairRounds(a, b).rounds, IsEmpty());
}

TEST(RoundTimeTest, TheLastAttemptAtARoundCounts) {
  const std::vector<RoundTime> times =
      CountedTimes({Time(1, 1, 20, 1), Time(1, 0, 10), Time(1, 1, 30, 0)});
  ASSERT_EQ(times.size(), 2u);
  EXPECT_EQ(times[0].image_ns, 10);
  EXPECT_EQ(times[1].image_ns, 20);
}

TEST(RoundTimeTest, TheLastAttemptCountsWhateverItsTime) {
  RoundTime again = Time(1, 0, 30, 1);
  again.disturbed = true;
  EXPECT_EQ(CountedTimes({Time(1, 0, 20, 0), again})[0].image_ns, 30);
}

TEST(RoundTimeTest, APairWithADisturbedRunOrOfTwoRepetitionsIsDropped) {
  std::vector<RoundTime> a, b;
  for (int64_t round = 0; round < 5; ++round) {
    a.push_back(Time(1, round, 100));
    b.push_back(Time(1, round, 200));
  }
  a[1].disturbed = true;
  b[2].repetition = 1;
  a[3].repetition = b[3].repetition = 1;
  const Pairing pairing = PairRounds(a, b);
  EXPECT_EQ(pairing.dropped, 2);
  ASSERT_EQ(pairing.rounds.size(), 3u);
  EXPECT_EQ(pairing.rounds[1].a.round, 3);
  a[1].drops_if_disturbed = false;
  EXPECT_EQ(PairRounds(a, b).dropped, 1) << "earlier rules called slow runs disturbed";
  for (RoundTime& time : a) time.disturbed = time.drops_if_disturbed = true;
  const Pairing none = PairRounds(a, b);
  EXPECT_THAT(none.rounds, IsEmpty());
  EXPECT_EQ(none.dropped, 5);
  EXPECT_TRUE(none.interleaved) << "and they are not paired by number instead";
}

TEST(RoundTimeTest, AStoredJudgementStands) {
  RunRecord run = TestRun(1, 0);
  run.outcome = Outcome::kOk;
  run.summary.disturbed = true;
  std::vector<RoundTime> times = {*RoundTimeOf(run)};
  StudyNoise().MarkDisturbed(times);
  EXPECT_TRUE(times[0].disturbed);
  EXPECT_TRUE(times[0].dropped());
  run.rules = 2;
  EXPECT_FALSE(RoundTimeOf(run)->dropped());
}

TEST(RoundTimeTest, RunsAreDisturbedByTheMeasureOfTheirStudy) {
  StudyNoise noise;
  std::vector<RoundTime> times;
  for (int64_t round = 0; round < 9; ++round) {
    for (const int64_t study : {1, 2}) {
      RunRecord run = TestRun(study, round);
      // The second study's machine is always three times slower, which is not a disturbance.
      const int64_t usual = study == 1 ? 1'000'000 : 3'000'000;
      run.summary.sentinel_before_compute_ns = run.summary.sentinel_after_compute_ns = usual;
      run.summary.sentinel_before_memory_ns = usual;
      run.summary.sentinel_after_memory_ns = round == 4 ? usual * 2 : usual;
      noise.Add(run);
      times.push_back(*RoundTimeOf(run));
    }
  }
  noise.MarkDisturbed(times);
  for (const RoundTime& time : times)
    EXPECT_EQ(time.disturbed, time.round == 4) << time.study << " " << time.round;
  const auto summaries = noise.Summaries();
  ASSERT_EQ(summaries.size(), 2u);
  EXPECT_EQ(summaries.at(1).runs, 9);
  EXPECT_EQ(summaries.at(1).disturbed, 1);
}

TEST(RoundTimeTest, StolenTimeDisturbsARunThatHasNoStoredJudgement) {
  StudyNoise noise;
  std::vector<RoundTime> times;
  for (int64_t round = 0; round < 9; ++round) {
    RunRecord run = TestRun(1, round);
    run.summary.steal_share = round == 3 ? 0.3 : 0.01;
    noise.Add(run);
    times.push_back(*RoundTimeOf(run));
  }
  noise.MarkDisturbed(times);
  for (const RoundTime& time : times) EXPECT_EQ(time.disturbed, time.round == 3);
}

// A run of steps of `work_ns` on a machine whose speed alternates between 1 and 2 every 100 ms.
RoundTime Alternating(int64_t round, int64_t work_ns, int64_t steps) {
  RunRecord run = TestRun(1, round);
  std::vector<int64_t> step_ns;
  int64_t now_ns = 0;
  for (int64_t i = 0; i < steps; ++i) {
    const int64_t slowdown = now_ns / 100'000'000 % 2 == 0 ? 1 : 2;
    step_ns.push_back(work_ns < 100'000'000 ? work_ns * slowdown : work_ns * 4 / 3);
    now_ns += step_ns.back();
  }
  const Summary summary = Summarize(step_ns);
  run.summary.steps = steps;
  run.summary.step_ns_median = summary.median;
  run.summary.step_ns_min = summary.min;
  run.summary.step_ns_mean = summary.mean;
  run.summary.stretches = StretchProfile::Of(step_ns).Encode();
  return *RoundTimeOf(run);
}

TEST(RoundTimeTest, StepsOfUnequalLengthAreComparedByStretchesOfEqualDuration) {
  // Both do the same work per image: 8 ms and 800 ms per step of 1 and 100 images.
  std::vector<RoundTime> a, b;
  for (int64_t round = 0; round < 5; ++round) {
    a.push_back(Alternating(round, 8'000'000, 600));
    b.push_back(Alternating(round, 800'000'000, 600));
    a.back().images = 1;
    b.back().images = 100;
    for (RoundTime* time : {&a.back(), &b.back()}) {
      const double factor = 64 / time->images;  // TestRun has 64 images per step
      time->image_ns *= factor, time->shortest_ns *= factor, time->compared_ns *= factor;
    }
  }
  EXPECT_NEAR(PairRounds(a, b).test.ratio, 4.0 / 3, 1e-6)
      << "the shortest step favours the short one";
  SetComparedTimes(std::array{ComparedTimes{a}, ComparedTimes{b}});
  EXPECT_NEAR(PairRounds(a, b).test.ratio, 1, 0.05);
  EXPECT_NEAR(MeanComparedNs(b) / MeanComparedNs(a), PairRounds(a, b).test.ratio, 1e-9);
  // A scale's steps leave the others' shortest steps as they are.
  SetComparedTimes(std::array{ComparedTimes{a}, ComparedTimes{b, true}});
  EXPECT_EQ(a[0].compared_ns, a[0].shortest_ns);
}

TEST(RoundTimeTest, TheMeanLeavesOutDroppedRoundsUnlessNoneIsLeft) {
  std::vector<RoundTime> times = {Time(1, 0, 100), Time(1, 1, 400), Time(1, 2, 100)};
  times[1].disturbed = true;
  EXPECT_NEAR(MeanComparedNs(times), 100, 1e-9);
  for (RoundTime& time : times) time.disturbed = true;
  EXPECT_NEAR(MeanComparedNs(times), std::cbrt(4e6), 1e-9);
  EXPECT_EQ(MeanComparedNs({}), 0);
}

TEST(RoundTimeTest, ShortestStepsAreComparedUnlessMediansAreAskedFor) {
  RunRecord a = TestRun(1, 0), b = TestRun(1, 0);
  a.summary.step_ns_median = 20e6, a.summary.step_ns_min = 10e6;
  b.summary.step_ns_median = 80e6, b.summary.step_ns_min = 11e6;
  const std::vector<RoundTime> as = {*RoundTimeOf(a)}, bs = {*RoundTimeOf(b)};
  EXPECT_THAT(Ratios(PairRounds(as, bs)), ElementsAre(testing::DoubleNear(1.1, 1e-12)));
  EXPECT_THAT(Ratios(PairRounds(as, bs, {.time = StepTime::kMedian})), ElementsAre(4));
}

TEST(RoundTimeTest, ARunThatKnowsOnlyItsMedianIsComparedByThat) {
  RunRecord run = TestRun(1, 0);
  run.summary.step_ns_min.reset();
  EXPECT_EQ(RoundTimeOf(run)->shortest_ns, RoundTimeOf(run)->image_ns);
}

TEST(RoundTimeTest, OutlierRoundsAreMarked) {
  std::vector<RoundTime> a, b;
  for (int64_t round = 0; round < 8; ++round) {
    a.push_back(Time(1, round, 100));
    b.push_back(Time(1, round, round == 5 ? 300 : 100 + static_cast<double>(round % 3)));
  }
  const Pairing pairing = PairRounds(a, b);
  for (size_t i = 0; i < 8; ++i) EXPECT_EQ(pairing.rounds[i].outlier, i == 5) << i;
  EXPECT_EQ(pairing.test.rounds, 8);
}

RoundTime InTurns(int64_t round, const std::vector<std::vector<int64_t>>& slices) {
  RoundTime time = Time(1, round, 1000);
  time.set.id = 40 + round;
  for (const std::vector<int64_t>& step_ns : slices) {
    TimedSlice& slice = time.set.slices.emplace_back();
    slice.steps = static_cast<int64_t>(step_ns.size());
    slice.median_ns = Median({step_ns.begin(), step_ns.end()});
    slice.stretches = StretchProfile::Of(step_ns);
  }
  return time;
}

TEST(RoundTimeTest, RunsInTurnsArePairedSliceBySlice) {
  std::vector<RoundTime> a, b;
  for (int64_t round = 0; round < 5; ++round) {
    a.push_back(InTurns(round, {{10, 11, 12}, {20, 22, 22}, {10, 10, 10}}));
    b.push_back(InTurns(round, {{11, 12, 14}, {22, 24, 24}, {50, 70, 90}}));
  }
  const Pairing pairing = PairRounds(a, b);
  EXPECT_TRUE(pairing.turns);
  EXPECT_EQ(pairing.dropped, 0);
  // The pairs' shortest steps are 1.1, 1.1 and 5 times as long.
  EXPECT_NEAR(pairing.test.ratio, 1.1, 1e-9);
  EXPECT_NEAR(Ratios(pairing)[3], 1.1, 1e-9);
  EXPECT_EQ(pairing.test.rounds, 5);
  EXPECT_NEAR(pairing.medians.ratio, 24.0 / 22, 1e-9);
}

TEST(RoundTimeTest, ADisturbedSliceLosesItsPairAndHalfOfThemTheRound) {
  const std::vector<std::vector<int64_t>> equal = {{10, 10}, {10, 10}, {10, 10}};
  std::vector<RoundTime> a = {InTurns(0, equal), InTurns(1, equal)};
  std::vector<RoundTime> b = {InTurns(0, {{90, 90}, {10, 10}, {10, 10}}),
                              InTurns(1, {{90, 90}, {90, 90}, {10, 10}})};
  b[0].slice_disturbed = {true, false, false};
  a[1].slice_disturbed = {true, false, false};
  b[1].slice_disturbed = {false, true, false};
  const Pairing pairing = PairRounds(a, b);
  EXPECT_THAT(Ratios(pairing), ElementsAre(1));
  EXPECT_EQ(pairing.dropped, 1);
}

TEST(RoundTimeTest, SlicesOfDifferentSetsAreNoPairs) {
  const std::vector<std::vector<int64_t>> slices = {{10, 10}, {10, 10}};
  std::vector<RoundTime> a = {InTurns(0, slices)}, b = {InTurns(0, slices)};
  b[0].set.id = 99;
  b[0].compared_ns = 1500;
  const Pairing pairing = PairRounds(a, b);
  EXPECT_FALSE(pairing.turns);
  EXPECT_THAT(Ratios(pairing), ElementsAre(1.5));
}

TEST(RoundTimeTest, SlicesOfShortStepsAreComparedByTheirStretches) {
  // Steps of 10 and of 40 ns: stretches of four steps are compared with single ones.
  std::vector<RoundTime> a = {InTurns(0, {{10, 30, 10, 30}})}, b = {InTurns(0, {{40, 60, 60, 60}})};
  a[0].image_ns = 20;
  b[0].image_ns = 60;
  SetComparedTimes(std::array{ComparedTimes{a, false}, ComparedTimes{b, false}});
  EXPECT_EQ(a[0].highest_level, 2);
  // One stretch of four steps takes 20 ns per step; of four steps one is 55 ns long on average.
  EXPECT_NEAR(PairRounds(a, b).test.ratio, 55.0 / 20, 1e-9);
}

}  // namespace
}  // namespace tench::round_time_test
