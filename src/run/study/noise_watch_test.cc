// SPDX-License-Identifier: Apache-2.0
#include "run/study/noise_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/test_run.h"

namespace tench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

RunRecord Watched(int64_t round, double slowdown, int64_t attempt = 0) {
  RunRecord run = TestRun(1, round);
  run.attempt = attempt;
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

const std::string kCellId = TestCell().Id();

TEST(NoiseWatchTest, ACalmStudyRepeatsNothing) {
  EXPECT_THAT(Calm(40).Repeats(40), IsEmpty());
  EXPECT_EQ(Calm(40).DisturbedRounds(), 0);
}

TEST(NoiseWatchTest, DisturbedRunsAreRepeatedTheWorstFirst) {
  NoiseWatch watch = Calm(38);
  watch.Learn(Watched(38, 1.5));
  watch.Learn(Watched(39, 3.0));
  EXPECT_TRUE(watch.Disturbed(Watched(0, 1.5)));
  EXPECT_FALSE(watch.Disturbed(Watched(0, 1.2)));
  EXPECT_EQ(watch.DisturbedRounds(), 2);
  EXPECT_THAT(watch.Repeats(40), ElementsAre(Pair(39, kCellId), Pair(38, kCellId)));
}

TEST(NoiseWatchTest, AtMostATenthOfTheRunsIsRepeatedAndEachOnce) {
  NoiseWatch watch = Calm(24);
  for (int64_t round = 24; round < 30; ++round)
    watch.Learn(Watched(round, 2.0 + static_cast<double>(round)));
  EXPECT_EQ(watch.Repeats(30).size(), 3u);
  // The first repeat was calm and the second disturbed; neither round is repeated again.
  watch.Learn(Watched(29, 1.0, 1));
  watch.Learn(Watched(28, 9.0, 1));
  EXPECT_THAT(watch.Repeats(30), ElementsAre(Pair(27, kCellId)));
  EXPECT_EQ(watch.DisturbedRounds(), 5);
}

RunRecord Slow(int64_t round, double slowness, int64_t attempt = 0) {
  RunRecord run = Watched(round, 1, attempt);
  run.summary.step_ns_min = *run.summary.step_ns_min * slowness;
  return run;
}

TEST(NoiseWatchTest, RunsThatWereSlowThemselvesAreRepeatedFirstAndTwice) {
  NoiseWatch watch = Calm(37);
  watch.Learn(Watched(37, 9.0));
  watch.Learn(Slow(38, 1.2));
  watch.Learn(Slow(39, 1.5));
  EXPECT_TRUE(watch.Disturbed(Slow(0, 1.2)));
  EXPECT_FALSE(watch.Disturbed(Slow(0, 1.04)));
  EXPECT_THAT(watch.Repeats(40),
              ElementsAre(Pair(39, kCellId), Pair(38, kCellId), Pair(37, kCellId)));
  watch.Learn(Slow(39, 1.3, 1));
  watch.Learn(Slow(38, 1.0, 1));
  watch.Learn(Watched(37, 9.0, 1));
  EXPECT_THAT(watch.Repeats(40), ElementsAre(Pair(39, kCellId)));
  watch.Learn(Slow(39, 1.3, 2));
  EXPECT_THAT(watch.Repeats(40), IsEmpty());
  EXPECT_EQ(watch.DisturbedRounds(), 2);
}

TEST(NoiseWatchTest, AtMostAFifthOfTheRunsIsRepeated) {
  NoiseWatch watch = Calm(20);
  for (int64_t round = 20; round < 30; ++round) watch.Learn(Slow(round, 1.5));
  EXPECT_EQ(watch.Repeats(30).size(), 6u);
}

TEST(NoiseWatchTest, FailedRunsAndUnwatchedRunsAreNotRepeated) {
  NoiseWatch watch = Calm(38);
  RunRecord failed = Watched(38, 5);
  failed.outcome = Outcome::kCrashed;
  watch.Learn(failed);
  RunRecord unwatched = TestRun(1, 39);
  unwatched.summary.sentinel_before_compute_ns = unwatched.summary.sentinel_before_memory_ns =
      std::nullopt;
  unwatched.summary.sentinel_after_compute_ns = unwatched.summary.sentinel_after_memory_ns =
      std::nullopt;
  watch.Learn(unwatched);
  EXPECT_THAT(watch.Repeats(40), IsEmpty());
}

TEST(NoiseWatchTest, AnInterruptedAttemptIsNoRepeat) {
  NoiseWatch watch = Calm(39);
  RunRecord interrupted = Watched(39, 1);
  interrupted.outcome = Outcome::kInterrupted;
  watch.Learn(interrupted);
  watch.Learn(Watched(39, 2, 1));
  EXPECT_THAT(watch.Repeats(40), ElementsAre(Pair(39, kCellId)));
}

}  // namespace
}  // namespace tench
