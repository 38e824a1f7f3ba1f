// SPDX-License-Identifier: Apache-2.0
#include "stats/noise.h"

#include <gtest/gtest.h>

namespace tench::noise_test {
namespace {

NoiseReadings Readings(int64_t before_compute, int64_t before_memory, int64_t after_compute,
                       int64_t after_memory) {
  return {{{before_compute, before_memory}, {after_compute, after_memory}}, {}, {}};
}

NoiseReadings Withheld(double steal, double throttled) {
  NoiseReadings readings = Readings(1000, 1000, 1000, 1000);
  readings.steal_share = steal;
  readings.throttled_share = throttled;
  return readings;
}

TEST(NoiseTest, TheWorstOfTheFourReadingsCountsOverTheUsualOfItsKind) {
  NoiseProfile profile;
  for (int i = 0; i < 9; ++i) profile.Add(Readings(1000, 4000, 1000, 4000));
  EXPECT_DOUBLE_EQ(*profile.Slowdown(Readings(1000, 4000, 1000, 4000).sentinel), 1);
  EXPECT_DOUBLE_EQ(*profile.Slowdown(Readings(1100, 4000, 1000, 3000).sentinel), 1.1);
  EXPECT_DOUBLE_EQ(*profile.Slowdown(Readings(1000, 4000, 1000, 6000).sentinel), 1.5);
  EXPECT_TRUE(profile.Judge(Readings(1000, 5001, 1000, 4000), 0, 0).disturbed());
  EXPECT_FALSE(profile.Judge(Readings(1000, 5000, 1000, 4000), 0, 0).disturbed());
}

TEST(NoiseTest, RunsWithoutReadingsAreNeverDisturbedAndNotCounted) {
  NoiseProfile profile;
  EXPECT_FALSE(profile.Slowdown(Readings(5, 5, 5, 5).sentinel).has_value());
  profile.Add({});
  EXPECT_EQ(profile.runs(), 0);
  profile.Add(Readings(1000, 1000, 1000, 1000));
  EXPECT_FALSE(profile.Slowdown({}).has_value());
  EXPECT_FALSE(profile.Judge({}, 0, 0).disturbed());
  // Only one kind of reading was taken; the other is ignored.
  EXPECT_DOUBLE_EQ(*profile.Slowdown(Readings(2000, 0, 0, 0).sentinel), 2);
}

TEST(NoiseTest, TheSummarySaysHowManyRunsWereDisturbedAndByHowMuch) {
  NoiseProfile profile;
  for (int i = 0; i < 100; ++i)
    profile.Add(Readings(1000, 1000, 1000, i < 30 ? 1000 : i < 90 ? 1020 : 2000));
  const NoiseSummary summary = profile.Summary();
  EXPECT_EQ(summary.runs, 100);
  EXPECT_EQ(summary.disturbed, 10);
  EXPECT_NEAR(summary.usual_slowdown, 1.02, 0.001);
  EXPECT_NEAR(summary.high_slowdown, 2, 0.1);
}

TEST(NoiseTest, ARunIsSlowByItsOwnShortestStepAndThatAloneDisturbsNoRun) {
  const NoiseProfile profile;
  EXPECT_TRUE(profile.Judge({}, 106, 100).slow());
  EXPECT_FALSE(profile.Judge({}, 200, 100).disturbed()) << "runs are not selected by their results";
  EXPECT_FALSE(profile.Judge({}, 105, 100).slow());
  EXPECT_FALSE(profile.Judge({}, 106, 0).slow()) << "nothing is usual yet";
  EXPECT_FALSE(profile.Judge({}, 0, 100).slow()) << "its steps are unknown";
}

TEST(NoiseTest, StealAndThrottlingDisturbARunWhereTheyExceedTheUsualShare) {
  NoiseProfile profile;
  for (int i = 0; i < 9; ++i) profile.Add(Withheld(0.10, 0.5));
  EXPECT_FALSE(profile.Judge(Withheld(0.10, 0.5), 0, 0).disturbed()) << "a permanent condition";
  EXPECT_FALSE(profile.Judge(Withheld(0.14, 0.2), 0, 0).disturbed());
  EXPECT_TRUE(profile.Judge(Withheld(0.16, 0.5), 0, 0).disturbed());
  EXPECT_TRUE(profile.Judge(Withheld(0.10, 0.6), 0, 0).disturbed());
  EXPECT_FALSE(profile.Judge({}, 0, 0).disturbed()) << "nothing was read";
  profile.Add(Withheld(0.3, 0.5));
  EXPECT_FALSE(profile.Judge({{}, 0.9, 0.9}, 0, 0).disturbed()) << "the sentinel is off";
  EXPECT_EQ(profile.Summary().disturbed, 1);
  EXPECT_DOUBLE_EQ(profile.Summary().usual_steal.value_or(-1), 0.10);
}

}  // namespace
}  // namespace tench::noise_test
