// SPDX-License-Identifier: Apache-2.0
#include "report/round_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/test_run.h"

namespace tench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

RoundTime Time(int64_t study, int64_t round, double image_ns, int64_t attempt = 0) {
  return {study, round, attempt, 0, image_ns, image_ns, {}, false, false, false};
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

TEST(RoundTimeTest, AnUndisturbedAttemptCountsBeforeADisturbedOne) {
  RoundTime disturbed = Time(1, 0, 30, 1);
  disturbed.disturbed = true;
  EXPECT_EQ(CountedTimes({Time(1, 0, 20, 0), disturbed})[0].image_ns, 20);
  RoundTime first = Time(1, 0, 40, 0);
  first.disturbed = true;
  EXPECT_EQ(CountedTimes({first, disturbed})[0].image_ns, 30);
}

TEST(RoundTimeTest, AStoredJudgementStands) {
  RunRecord run = TestRun(1, 0);
  run.outcome = Outcome::kOk;
  run.summary.slow = false;
  run.summary.disturbed = true;
  std::vector<RoundTime> times = {*RoundTimeOf(run)};
  StudyNoise().MarkDisturbed(times);
  EXPECT_TRUE(times[0].disturbed);
  EXPECT_FALSE(times[0].slow);
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

TEST(RoundTimeTest, ARunThatWasSlowAllAlongGivesWayToItsRepeat) {
  std::vector<RoundTime> times = {Time(1, 0, 100), Time(1, 1, 160), Time(1, 2, 101), Time(1, 3, 99),
                                  Time(1, 1, 102, 1)};
  StudyNoise().MarkDisturbed(times);
  EXPECT_TRUE(times[1].slow);
  EXPECT_TRUE(times[1].disturbed);
  EXPECT_FALSE(times[4].disturbed);
  // The sentinel readings around the repeat were disturbed, which weighs less than a slow run.
  times[4].disturbed = true;
  const std::vector<RoundTime> counted = CountedTimes(times);
  ASSERT_EQ(counted.size(), 4u);
  EXPECT_EQ(counted[1].image_ns, 102);
}

TEST(RoundTimeTest, OfTwoRunsNeitherIsSlow) {
  std::vector<RoundTime> times = {Time(1, 0, 100), Time(1, 1, 160), Time(0, 0, 900)};
  StudyNoise().MarkDisturbed(times);
  for (const RoundTime& time : times) EXPECT_FALSE(time.slow);
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

}  // namespace
}  // namespace tench
