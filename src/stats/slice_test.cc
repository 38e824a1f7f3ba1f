// SPDX-License-Identifier: Apache-2.0
#include "stats/slice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "stats/paired.h"

namespace tench::slice_test {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;

SliceSet SomeSet() {
  SliceSet set;
  set.id = 17;
  set.warmup_steps = 3;
  TimedSlice slice;
  slice.warmup_steps = 1;
  slice.steps = 4;
  slice.noise = {{{1, 2}, {3, 4}}, 0.25, std::nullopt};
  slice.median_ns = 12.5;
  slice.stretches = StretchProfile::Of(std::vector<int64_t>{10, 12, 13, 20});
  set.slices = {slice, slice};
  set.slices[1].noise = {};
  return set;
}

TEST(SliceTest, ASetIsTheSameAfterWritingAndReading) {
  const auto read = SliceSet::Decode(SomeSet().Encode());
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->Encode(), SomeSet().Encode());
  EXPECT_EQ(read->slices[0].noise, SomeSet().slices[0].noise);
  EXPECT_EQ(read->slices[1].stretches.StepNs(1, 1), 11);
  EXPECT_EQ(SliceSet().Encode(), "");
  EXPECT_EQ(SliceSet::Decode("")->id, 0);
}

TEST(SliceTest, DamagedTextIsAnError) {
  EXPECT_THAT(SliceSet::Decode("{").error().message, HasSubstr("slices"));
  EXPECT_THAT(
      SliceSet::Decode(R"({"set":1,"warmup_steps":1,"slices":[{"warmup_steps":1,"steps":0}]})")
          .error()
          .message,
      HasSubstr("slices.steps"));
}

TEST(SliceTest, OneDisturbedSliceMovesItsSetByLessThanTheOthersScatter) {
  const std::vector<std::vector<double>> calm = {
      {1.05, 1.04, 1.06, 1.05}, {1.05, 1.06, 1.04, 1.05}, {1.06, 1.05, 1.04, 1.05}};
  std::vector<std::vector<double>> disturbed = calm;
  disturbed[1][1] = 1.9;
  const std::vector<double> ratios = SetRatios(disturbed);
  EXPECT_THAT(ratios,
              ElementsAre(DoubleNear(1.05, 1e-9), DoubleNear(1.05, 0.006), DoubleNear(1.05, 1e-9)));
}

// A machine whose speed changes between slices, and processes with speeds of their own.
struct Machine {
  double process_sd = 0, slice_sd = 0.015, disturbed = 0;
};

std::vector<std::vector<double>> Measure(const Machine& machine, double log_ratio, int slices,
                                         std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  std::vector<std::vector<double>> sets(5);
  for (std::vector<double>& set : sets) {
    const double process = machine.process_sd * normal(random);
    double burst = 0;
    for (int i = 0; i < slices; ++i) {
      // A change of the machine's speed lasts for a slice and half a slice more on average.
      if (burst == 0 || uniform(random) < 2.0 / 3)
        burst = uniform(random) < machine.disturbed
                    ? (uniform(random) < 0.5 ? -1 : 1) * (0.1 + 0.3 * uniform(random))
                    : 0;
      set.push_back(std::exp(log_ratio + process + machine.slice_sd * normal(random) + burst));
    }
  }
  return sets;
}

struct Shares {
  double missed = 0, wrong = 0, found = 0;  // of equal pairs, of equal pairs, of slow ones
};

Shares Simulate(const Machine& machine, int slices) {
  constexpr int kTrials = 600;
  std::mt19937_64 random(7);
  Shares shares;
  for (int trial = 0; trial < kTrials; ++trial) {
    const auto test = [&](double ratio) {
      return TestRatios(SetRatios(Measure(machine, std::log(ratio), slices, random)));
    };
    const RatioTest equal = test(1), slow = test(1.05);
    shares.missed += equal.interval.low > 1 || equal.interval.high < 1;
    shares.wrong += equal.p <= kSignificance && equal.region != RatioVerdict::kSame;
    shares.found += slow.p <= kSignificance && slow.region == RatioVerdict::kSlower;
  }
  for (double* share : {&shares.missed, &shares.wrong, &shares.found}) *share /= kTrials;
  return shares;
}

TEST(SliceTest, TheIntervalCoversTheRatioWhateverTheProcessesAndTheMachineDo) {
  // 600 trials have a standard error of 0.9 %.
  for (const double process_sd : {0.0, 0.003, 0.01}) {
    for (const double disturbed : {0.0, 0.1, 0.25}) {
      const Shares shares = Simulate({process_sd, 0.015, disturbed}, 6);
      EXPECT_LE(shares.missed, 0.08) << process_sd << ", " << disturbed;
      EXPECT_LE(shares.wrong, 0.01) << process_sd << ", " << disturbed;
    }
  }
}

TEST(SliceTest, SlicesOfAProcessAreNotTakenForIndependent) {
  // With processes that differ by 3 %, more slices do not make a wrong verdict more likely.
  EXPECT_LE(Simulate({0.03, 0.001, 0}, 10).wrong, 0.05);
  EXPECT_LE(Simulate({0.03, 0.001, 0}, 10).missed, 0.08);
}

TEST(SliceTest, FindsASlowdownOfFivePercentOnADisturbedMachine) {
  EXPECT_GE(Simulate({0.003, 0.015, 0.1}, 6).found, 0.85);
  EXPECT_GE(Simulate({0.003, 0.015, 0}, 6).found, 0.99);
}

TEST(SliceTest, StepsOfAFailedSliceFollowTheCompleteOnes) {
  SliceSet set;
  set.warmup_steps = 1;
  set.slices.resize(1);
  set.slices[0].warmup_steps = 1;
  set.slices[0].steps = 2;
  std::string order;
  for (const StepPlace& place : StepOrder(3, 3, set))
    order += fmt::format("{}{}:{} ", place.timed ? 't' : 'w', place.index, place.slice);
  EXPECT_EQ(order, "w0:0 w1:1 t0:1 t1:1 w2:2 t2:2 ");
  order.clear();
  for (const StepPlace& place : StepOrder(1, 2, {}))
    order += fmt::format("{}{}:{} ", place.timed ? 't' : 'w', place.index, place.slice);
  EXPECT_EQ(order, "w0:0 t0:0 t1:0 ");
}

}  // namespace
}  // namespace tench::slice_test
