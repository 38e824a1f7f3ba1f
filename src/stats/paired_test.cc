// SPDX-License-Identifier: Apache-2.0
#include "stats/paired.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace tench::paired_test {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::IsEmpty;

RatioJudgement Alone(const RatioTest& test) {
  const RatioTest* const table[] = {&test};
  return JudgeTable(table)[0];
}

RatioVerdict VerdictOf(const std::vector<double>& ratios, double margin = kDefaultMargin) {
  return Alone(TestRatios(ratios, margin)).verdict;
}

std::vector<double> LogNormal(std::mt19937_64& random, size_t count, double ratio, double sigma) {
  std::normal_distribution<double> noise(std::log(ratio), sigma);
  std::vector<double> ratios(count);
  for (double& value : ratios) value = std::exp(noise(random));
  return ratios;
}

TEST(PairedTest, TheMeanIsGeometricAndTheIntervalIsStudents) {
  // Logarithms -2σ, -σ, 0, σ, 2σ with σ = 0.01: mean 0, standard error 0.01 · √(10/4/5), and t(4) =
  // 2.776445.
  const std::vector<double> ratios = {std::exp(-0.02), std::exp(-0.01), 1, std::exp(0.01),
                                      std::exp(0.02)};
  const RatioTest test = TestRatios(ratios);
  EXPECT_EQ(test.rounds, 5);
  EXPECT_NEAR(test.ratio, 1, 1e-12);
  const double half = 2.7764451051977987 * 0.01 * std::sqrt(0.5);
  EXPECT_NEAR(test.interval.low, std::exp(-half), 1e-9);
  EXPECT_NEAR(test.interval.high, std::exp(half), 1e-9);
  EXPECT_EQ(Alone(test).verdict, RatioVerdict::kAmbiguous);
}

TEST(PairedTest, TheIntervalWithinOneRegionIsTheVerdict) {
  EXPECT_EQ(VerdictOf({1.20, 1.21, 1.19, 1.20, 1.22}), RatioVerdict::kSlower);
  EXPECT_EQ(VerdictOf({0.80, 0.81, 0.79, 0.80, 0.82}), RatioVerdict::kFaster);
  EXPECT_EQ(VerdictOf({1.001, 0.999, 1.002, 1.000, 0.998}), RatioVerdict::kSame);
  // Significantly different from 1, but not significantly beyond the margin.
  EXPECT_EQ(VerdictOf({1.012, 1.009, 1.011, 1.008, 1.010}), RatioVerdict::kAmbiguous);
  EXPECT_EQ(VerdictOf({1.012, 1.009, 1.011, 1.008, 1.010}, 0.005), RatioVerdict::kSlower);
  EXPECT_EQ(VerdictOf({1.012, 1.009, 1.011, 1.008, 1.010}, 0.02), RatioVerdict::kSame);
  EXPECT_EQ(VerdictOf({2.0, 0.5, 2.0, 0.5, 1.0}), RatioVerdict::kAmbiguous);
}

TEST(PairedTest, SwappingTheSidesSwapsTheVerdict) {
  std::mt19937_64 random(7);
  for (int trial = 0; trial < 200; ++trial) {
    const std::vector<double> ratios = LogNormal(random, 8, 1.02, 0.015);
    std::vector<double> swapped;
    for (const double ratio : ratios) swapped.push_back(1 / ratio);
    const RatioTest there = TestRatios(ratios), back = TestRatios(swapped);
    EXPECT_NEAR(there.ratio * back.ratio, 1, 1e-12);
    EXPECT_NEAR(there.p, back.p, 1e-12);
    EXPECT_EQ(there.region == RatioVerdict::kSlower, back.region == RatioVerdict::kFaster);
    EXPECT_EQ(there.region == RatioVerdict::kSame, back.region == RatioVerdict::kSame);
  }
}

TEST(PairedTest, ThePValueSaysWhetherTheIntervalLiesWithinOneRegion) {
  std::mt19937_64 random(5);
  int clear = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    const RatioTest test =
        TestRatios(LogNormal(random, 6, std::exp(0.0001 * (trial % 400 - 200)), 0.008));
    const double high = 1 + kDefaultMargin, low = 1 / high;
    const bool within = test.interval.low > high || test.interval.high < low ||
                        (test.interval.low > low && test.interval.high < high);
    EXPECT_EQ(test.p <= kSignificance, within)
        << test.interval.low << " … " << test.interval.high << " p " << test.p;
    clear += within;
  }
  EXPECT_GT(clear, 100);
  EXPECT_LT(clear, 1900);
}

TEST(PairedTest, FewerThanFiveRoundsCanOnlyBeAmbiguous) {
  std::vector<double> ratios;
  for (int rounds = 0; rounds < 5; ++rounds) {
    EXPECT_EQ(VerdictOf(ratios), RatioVerdict::kAmbiguous) << rounds;
    ratios.push_back(3);
  }
  EXPECT_EQ(VerdictOf(ratios), RatioVerdict::kSlower);
  const RatioTest one = TestRatios(std::vector<double>{3});
  EXPECT_EQ(one.ratio, 3);
  EXPECT_EQ(one.interval.low, 0);
  EXPECT_TRUE(std::isinf(one.interval.high));
  EXPECT_EQ(one.p, 1);
  EXPECT_EQ(TestRatios({}).region, RatioVerdict::kAmbiguous);
}

TEST(PairedTest, EqualThingsGetAFalseVerdictInAtMostOneOfTwentyTrials) {
  std::mt19937_64 random(2);
  constexpr int kTrials = 4000;
  for (const double sigma : {0.002, 0.01, 0.05, 0.3}) {
    int wrong = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      const RatioVerdict verdict = VerdictOf(LogNormal(random, 5, 1, sigma));
      wrong += verdict == RatioVerdict::kFaster || verdict == RatioVerdict::kSlower;
    }
    EXPECT_LE(static_cast<double>(wrong) / kTrials, 0.05) << sigma;
  }
}

TEST(PairedTest, AtTheEdgeOfTheMarginHalfOfTheErrorsGoEitherWay) {
  // The true ratio lies on the edge: 2.5 % of the intervals lie entirely above it.
  std::mt19937_64 random(3);
  constexpr int kTrials = 8000;
  int slower = 0;
  for (int trial = 0; trial < kTrials; ++trial)
    slower += VerdictOf(LogNormal(random, 7, 1 + kDefaultMargin, 0.02)) == RatioVerdict::kSlower;
  EXPECT_NEAR(static_cast<double>(slower) / kTrials, 0.025, 0.007);
}

TEST(PairedTest, HolmMultipliesTheSmallestByAllAndTheLargestByOne) {
  EXPECT_THAT(HolmCorrected(std::vector<double>{0.01, 0.04, 0.03, 0.005}),
              ElementsAre(DoubleNear(0.03, 1e-12), DoubleNear(0.06, 1e-12), DoubleNear(0.06, 1e-12),
                          DoubleNear(0.02, 1e-12)));
  EXPECT_THAT(HolmCorrected(std::vector<double>{0.7, 0.6}), ElementsAre(1, 1));
  EXPECT_THAT(HolmCorrected({}), IsEmpty());
}

TEST(PairedTest, ATableIsStricterThanItsRowsAlone) {
  const RatioTest weak = TestRatios(std::vector<double>{1.05, 1.02, 1.06, 1.03, 1.04});
  ASSERT_EQ(Alone(weak).verdict, RatioVerdict::kSlower);
  const RatioTest noise = TestRatios(std::vector<double>{1.1, 0.9, 1.1, 0.9, 1.0});
  const std::vector<const RatioTest*> table = {&weak,  &noise, &noise, &noise,
                                               &noise, &noise, &noise};
  const std::vector<RatioJudgement> judged = JudgeTable(table);
  EXPECT_EQ(judged[0].verdict, RatioVerdict::kAmbiguous);
  EXPECT_NEAR(judged[0].corrected_p, weak.p * 7, 1e-12);
  // Rows with too few rounds do not affect the correction of the others.
  const RatioTest few = TestRatios(std::vector<double>{1.1, 1.1});
  const std::vector<const RatioTest*> padded = {&few, &weak, &few, &few, &few, &few, &few};
  EXPECT_EQ(JudgeTable(padded)[1].verdict, RatioVerdict::kSlower);
  EXPECT_EQ(JudgeTable(padded)[0].verdict, RatioVerdict::kAmbiguous);
}

TEST(PairedTest, AMedianIntervalOnTheOtherSideContradictsAVerdict) {
  const RatioTest above = TestRatios(std::vector<double>{1.10, 1.12, 1.11, 1.13, 1.10});
  const RatioTest across = TestRatios(std::vector<double>{0.90, 1.20, 1.10, 1.10, 1.10});
  const RatioTest below = TestRatios(std::vector<double>{0.90, 0.91, 0.92, 0.90, 0.91});
  EXPECT_TRUE(Contradicts(above, RatioVerdict::kFaster));
  EXPECT_FALSE(Contradicts(across, RatioVerdict::kFaster));
  EXPECT_FALSE(Contradicts(below, RatioVerdict::kFaster));
  EXPECT_TRUE(Contradicts(below, RatioVerdict::kSlower));
  EXPECT_FALSE(Contradicts(above, RatioVerdict::kSlower));
  EXPECT_FALSE(Contradicts(above, RatioVerdict::kSame));
  EXPECT_FALSE(Contradicts(RatioTest{}, RatioVerdict::kSlower)) << "no median is known";
}

TEST(PairedTest, OutlierRoundsAreNamedAndStillCount) {
  const std::vector<double> ratios = {1.00, 1.01, 0.99, 1.005, 1.8, 0.995};
  const RatioTest test = TestRatios(ratios);
  EXPECT_THAT(test.outliers, ElementsAre(4));
  double sum = 0;
  for (const double ratio : ratios) sum += std::log(ratio);
  EXPECT_NEAR(test.ratio, std::exp(sum / 6), 1e-12);
  EXPECT_EQ(test.rounds, 6);
}

TEST(PairedTest, RoundsThatAgreeHaveNoOutliers) {
  EXPECT_THAT(Outliers(std::vector<double>{1, 1, 1, 1, 1, 1.0001}), IsEmpty());
  EXPECT_THAT(Outliers(std::vector<double>{1, 1, 1, 1, 1, 1.1}), ElementsAre(5));
  EXPECT_THAT(Outliers(std::vector<double>{1, 1, 1, 9}), IsEmpty());
}

}  // namespace
}  // namespace tench::paired_test
