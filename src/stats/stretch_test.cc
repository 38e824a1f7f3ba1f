// SPDX-License-Identifier: Apache-2.0
#include "stats/stretch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "stats/stats.h"

namespace tench::stretch_test {
namespace {

double Shortest(const std::vector<int64_t>& steps) {
  return static_cast<double>(*std::min_element(steps.begin(), steps.end()));
}

TEST(StretchTest, TheExpectedMinimumIsTheMeanOverAllSubsets) {
  const std::vector<double> sorted = {1, 2, 4, 8};
  EXPECT_DOUBLE_EQ(ExpectedMinimum(sorted, 1), 15.0 / 4);
  // {1,2} {1,4} {1,8} {2,4} {2,8} {4,8}
  EXPECT_DOUBLE_EQ(ExpectedMinimum(sorted, 2), (1 + 1 + 1 + 2 + 2 + 4) / 6.0);
  EXPECT_DOUBLE_EQ(ExpectedMinimum(sorted, 3), (1 + 1 + 1 + 2) / 4.0);
  EXPECT_DOUBLE_EQ(ExpectedMinimum(sorted, 4), 1);
}

TEST(StretchTest, EquallyLongStepsAreComparedByTheirShortestStep) {
  const std::vector<int64_t> steps = {70, 50, 60, 90, 80};
  EXPECT_EQ(StretchProfile::Of(steps).StepNs(0, 0), 50);
  EXPECT_EQ(StretchLevel(100, 100), 0);
  EXPECT_EQ(StretchLevel(100, 72), 0);
  EXPECT_EQ(StretchLevel(100, 70), 1);
  EXPECT_EQ(StretchLevel(1e9, 5e6), 8);
  EXPECT_EQ(StretchLevel(1e12, 1), kMostStretchLevel);
  EXPECT_EQ(StretchLevel(50, 100), 0);
  EXPECT_EQ(StretchLevel(0, 0), 0);
}

TEST(StretchTest, AStretchIsTheMeanOfConsecutiveSteps) {
  const std::vector<int64_t> steps = {10, 30, 20, 22, 50, 52, 1};
  const StretchProfile profile = StretchProfile::Of(steps);
  // Pairs (10, 30), (20, 22), (50, 52); the seventh step fills none.
  EXPECT_DOUBLE_EQ(profile.StepNs(1, 1), 20);
  // One stretch of four steps; of the three pairs any one, of the seven steps any one.
  EXPECT_DOUBLE_EQ(profile.StepNs(2, 2), (10 + 30 + 20 + 22) / 4.0);
  EXPECT_DOUBLE_EQ(profile.StepNs(1, 2), (20 + 21 + 51) / 3.0);
  EXPECT_DOUBLE_EQ(profile.StepNs(0, 2), (10 + 30 + 20 + 22 + 50 + 52 + 1) / 7.0);
  // More than the steps fill: the longest stretch that they fill.
  EXPECT_EQ(profile.StepNs(8, 8), profile.StepNs(2, 2));
}

TEST(StretchTest, IsReadBackAsItWasWritten) {
  for (const size_t count : {1u, 2u, 5u, 600u}) {
    std::vector<int64_t> steps;
    for (size_t i = 0; i < count; ++i) steps.push_back(static_cast<int64_t>(1000 + i * 7919 % 100));
    const StretchProfile profile = StretchProfile::Of(steps);
    const Result<StretchProfile> decoded = StretchProfile::Decode(profile.Encode());
    ASSERT_TRUE(decoded.ok()) << decoded.error().message;
    for (int highest = 0; highest <= kMostStretchLevel; ++highest) {
      for (int level = 0; level <= highest; ++level)
        EXPECT_NEAR(decoded->StepNs(level, highest), profile.StepNs(level, highest), 1e-5);
    }
    EXPECT_LT(profile.Encode().size(), 600u);
  }
  for (const char* text : {"", "5 6", "x", "1 2 -3", "1 2 3 4"})
    EXPECT_FALSE(StretchProfile::Decode(text).ok()) << text;
}

// A machine whose speed changes every 50 to 300 ms, by up to 1.7, as neighbours on a shared host
// come and go.
class ChangingMachine {
 public:
  explicit ChangingMachine(uint64_t seed) : random_(seed) {}

  // The duration of a step that takes `work_ns` on the undisturbed machine.
  double Step(double work_ns) {
    double elapsed_ns = 0;
    while (work_ns > 0) {
      if (left_ns_ <= 0) {
        left_ns_ = std::uniform_real_distribution<double>(50e6, 300e6)(random_);
        slowdown_ = std::uniform_real_distribution<double>(1, 1.7)(random_);
      }
      const double part_ns = std::min(left_ns_, work_ns * slowdown_);
      work_ns -= part_ns / slowdown_;
      left_ns_ -= part_ns;
      elapsed_ns += part_ns;
    }
    return elapsed_ns;
  }

  std::vector<int64_t> Steps(double work_ns, int64_t count) {
    // A run begins anywhere within an interval.
    Step(std::uniform_real_distribution<double>(0, 400e6)(random_));
    std::vector<int64_t> steps;
    for (int64_t i = 0; i < count; ++i) steps.push_back(static_cast<int64_t>(Step(work_ns)));
    return steps;
  }

 private:
  std::mt19937_64 random_;
  double left_ns_ = 0, slowdown_ = 1;
};

// The ratio of a worker with steps of 1 s to one with `short_ns`, both of equal work per image, by
// the compared time and by the plain minimum: geometric means over `runs` pairs of runs.
struct Bias {
  double stretches = 1, shortest = 1;
};

Bias BiasOf(double short_ns, int64_t steps, int runs) {
  constexpr double kLongNs = 1e9;
  ChangingMachine machine(20261118);
  const int level = StretchLevel(kLongNs, short_ns);
  double stretches = 0, shortest = 0;
  for (int run = 0; run < runs; ++run) {
    const std::vector<int64_t> short_steps = machine.Steps(short_ns, steps),
                               long_steps = machine.Steps(kLongNs, steps);
    stretches += std::log(StretchProfile::Of(long_steps).StepNs(0, level) / kLongNs) -
                 std::log(StretchProfile::Of(short_steps).StepNs(level, level) / short_ns);
    shortest +=
        std::log(Shortest(long_steps) / kLongNs) - std::log(Shortest(short_steps) / short_ns);
  }
  return {std::exp(stretches / runs), std::exp(shortest / runs)};
}

TEST(StretchTest, StretchesDoNotFavourTheWorkerWithShortStepsAsTheShortestStepDoes) {
  const Bias bias = BiasOf(5e6, 400, 100);
  // Above 1, the worker with steps of 5 ms looks faster than it is.
  EXPECT_GT(bias.shortest, 1.05);
  EXPECT_NEAR(bias.stretches, 1, 0.02);
}

TEST(StretchTest, StretchesAreFairForAnyNumberOfStepsAndAnyQuotientOfDurations) {
  for (const double short_ns : {5e6, 20e6, 100e6, 250e6, 500e6, 800e6}) {
    for (const auto& [steps, runs] : {std::pair(5, 1500), std::pair(30, 300), std::pair(400, 60)}) {
      const Bias bias = BiasOf(short_ns, steps, runs);
      EXPECT_NEAR(bias.stretches, 1, 0.02) << short_ns << " ns, " << steps << " steps";
    }
  }
}

}  // namespace
}  // namespace tench::stretch_test
