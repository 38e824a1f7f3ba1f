// SPDX-License-Identifier: Apache-2.0
#include "run/study/noise_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "plan/matrix.h"
#include "store/test_run.h"

namespace tench::noise_watch_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

RunRecord Watched(int64_t round, double slowdown, int64_t repetition = 0,
                  const std::string& worker = "reference") {
  Cell cell = TestCell();
  cell.values[kAxisWorker] = worker;
  RunRecord run = TestRun(1, round, cell);
  run.attempt = run.repetition = repetition;
  run.summary.wall_ns = 1'000'000'000;
  run.summary.steal_share = run.summary.throttled_share = 0;
  const int64_t usual = 1'000'000;
  run.summary.sentinel_before_compute_ns = run.summary.sentinel_before_memory_ns =
      run.summary.sentinel_after_memory_ns = usual;
  run.summary.sentinel_after_compute_ns =
      static_cast<int64_t>(static_cast<double>(usual) * slowdown);
  return run;
}

NoiseWatch Calm(int64_t rounds) {
  NoiseWatch watch;
  for (int64_t round = 0; round < rounds; ++round) watch.Learn(Watched(round, 1.01));
  return watch;
}

std::string IdOf(const std::string& worker) { return Watched(0, 1, 0, worker).cell_id; }

// The round of a group of one cell, repeated.
NoiseWatch::Repeat Alone(int64_t round, int64_t repetition) {
  return {round, repetition, {IdOf("reference")}};
}

TEST(NoiseWatchTest, ACalmStudyRepeatsNothing) {
  EXPECT_THAT(Calm(40).Repeats(), IsEmpty());
  EXPECT_EQ(Calm(40).DisturbedRounds(), 0);
}

TEST(NoiseWatchTest, DisturbedRoundsAreRepeatedTheShortestFirst) {
  NoiseWatch watch = Calm(38);
  RunRecord longer = Watched(38, 3.0);
  longer.summary.wall_ns *= 2;
  watch.Learn(longer);
  watch.Learn(Watched(39, 1.5));
  EXPECT_TRUE(watch.Disturbed(Watched(0, 1.5)));
  EXPECT_FALSE(watch.Disturbed(Watched(0, 1.2)));
  EXPECT_EQ(watch.DisturbedRounds(), 2);
  EXPECT_THAT(watch.Repeats(), ElementsAre(Alone(39, 1), Alone(38, 1)));
}

TEST(NoiseWatchTest, ADisturbedRunIsRepeatedWithTheRestOfItsGroup) {
  NoiseWatch watch = Calm(8);
  for (int64_t round = 0; round < 8; ++round)
    watch.Learn(Watched(round, round == 3 ? 2 : 1, 0, "torch"));
  RunRecord crashed = Watched(3, 1, 0, "mxnet");
  crashed.outcome = Outcome::kCrashed;
  watch.Learn(crashed);
  NoiseWatch::Repeat both{3, 1, {IdOf("reference"), IdOf("torch")}};
  std::sort(both.cells.begin(), both.cells.end());
  EXPECT_THAT(watch.Repeats(), ElementsAre(both)) << "a crashed run has no pair";
  EXPECT_EQ(watch.Repetition(3, ComparedGroup(TestCell())), 0);

  // Interrupted after the first of the two runs: the second belongs to the same repetition.
  watch.Learn(Watched(3, 1, 1));
  EXPECT_EQ(watch.Repetition(3, ComparedGroup(TestCell())), 1);
  EXPECT_THAT(watch.Repeats(), ElementsAre(NoiseWatch::Repeat{3, 1, {IdOf("torch")}}));
  watch.Learn(Watched(3, 1, 1, "torch"));
  EXPECT_THAT(watch.Repeats(), IsEmpty());
  EXPECT_EQ(watch.DisturbedRounds(), 0) << "the last repetition counts";
}

TEST(NoiseWatchTest, ExpectsRepeatsOfWholeGroupsAndOfRepeatsUpToTheLimit) {
  EXPECT_EQ(Calm(8).ExpectedRepeatShare(), 0);
  NoiseWatch watch = Calm(10);
  for (int64_t round = 0; round < 10; ++round)
    watch.Learn(Watched(round, round == 3 ? 2 : 1, 0, "torch"));
  EXPECT_DOUBLE_EQ(watch.ExpectedRepeatShare(), 1.0 / 9)
      << "a tenth, and a tenth of that, and so on; one run disturbs the two of its group";
  watch.Learn(Watched(3, 1, 1));
  EXPECT_DOUBLE_EQ(watch.ExpectedRepeatShare(), 1.0 / 9) << "repeats are not planned runs";
  for (int64_t round = 4; round < 8; ++round) watch.Learn(Watched(round, 2, 0, "mxnet"));
  EXPECT_DOUBLE_EQ(watch.ExpectedRepeatShare(), kMostRepeatShare);
}

TEST(NoiseWatchTest, ARoundIsRepeatedSixTimesAtMost) {
  NoiseWatch watch = Calm(39);
  for (int64_t repetition = 0; repetition < 6; ++repetition) {
    watch.Learn(Watched(39, 2, repetition));
    EXPECT_THAT(watch.Repeats(), ElementsAre(Alone(39, repetition + 1)));
  }
  watch.Learn(Watched(39, 2, 6));
  EXPECT_THAT(watch.Repeats(), IsEmpty());
  EXPECT_EQ(watch.DisturbedRounds(), 1);
}

TEST(NoiseWatchTest, RepeatsTakeAtMostAThirdOfTheStudysTime) {
  NoiseWatch watch = Calm(18);
  for (int64_t round = 18; round < 30; ++round) watch.Learn(Watched(round, 2));
  EXPECT_EQ(watch.Repeats().size(), 10u) << "10 of the 30 seconds of the planned runs";
  RunRecord repeated = Watched(29, 1, 1);
  repeated.summary.wall_ns *= 3;
  watch.Learn(repeated);
  EXPECT_EQ(watch.Repeats().size(), 7u);
}

TEST(NoiseWatchTest, ALongRoundDoesNotKeepShortOnesFromTheirRepeat) {
  NoiseWatch watch = Calm(20);
  RunRecord endless = Watched(20, 9);
  endless.summary.wall_ns *= 1000;
  watch.Learn(endless);
  watch.Learn(Watched(21, 2));
  EXPECT_THAT(watch.Repeats(), ElementsAre(Alone(21, 1)));
}

TEST(NoiseWatchTest, SlowStepsAloneCauseNoRepeat) {
  NoiseWatch watch = Calm(39);
  RunRecord slow = Watched(39, 1);
  slow.summary.step_ns_min = *slow.summary.step_ns_min * 2;
  slow.id = 77;
  watch.Learn(slow);
  EXPECT_THAT(watch.Repeats(), IsEmpty());
  EXPECT_EQ(watch.DisturbedRounds(), 0);
  bool found = false;
  for (const NoiseWatch::Judgement& judgement : watch.Judgements()) {
    EXPECT_EQ(judgement.slow, judgement.run == 77);
    EXPECT_FALSE(judgement.disturbed);
    found |= judgement.slow;
  }
  EXPECT_TRUE(found) << "it is noted, though";
}

TEST(NoiseWatchTest, StolenAndThrottledTimeDisturb) {
  NoiseWatch watch = Calm(38);
  RunRecord stolen = Watched(38, 1), throttled = Watched(39, 1);
  stolen.summary.steal_share = 0.2;
  throttled.summary.throttled_share = 0.1;
  watch.Learn(stolen);
  watch.Learn(throttled);
  EXPECT_THAT(watch.Repeats(), ElementsAre(Alone(38, 1), Alone(39, 1)));
}

TEST(NoiseWatchTest, FailedRunsAndUnwatchedRunsAreNotRepeated) {
  NoiseWatch watch = Calm(38);
  RunRecord failed = Watched(38, 5);
  failed.outcome = Outcome::kCrashed;
  watch.Learn(failed);
  RunRecord unwatched = TestRun(1, 39);
  unwatched.summary = {};
  watch.Learn(unwatched);
  EXPECT_THAT(watch.Repeats(), IsEmpty());
}

TEST(NoiseWatchTest, AnInterruptedAttemptIsNoRepeat) {
  NoiseWatch watch = Calm(39);
  RunRecord interrupted = Watched(39, 1);
  interrupted.outcome = Outcome::kInterrupted;
  watch.Learn(interrupted);
  RunRecord again = Watched(39, 2);
  again.attempt = 1;
  watch.Learn(again);
  EXPECT_THAT(watch.Repeats(), ElementsAre(Alone(39, 1)));
}

}  // namespace
}  // namespace tench::noise_watch_test
