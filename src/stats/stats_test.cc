// SPDX-License-Identifier: Apache-2.0
#include "stats/stats.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace tench::stats_test {
namespace {

std::vector<int64_t> OneTo(int64_t n) {
  std::vector<int64_t> values(static_cast<size_t>(n));
  std::iota(values.begin(), values.end(), 1);
  return values;
}

// The direct method: whole vectors drawn with replacement.
Interval PlainBootstrap(const std::vector<double>& values, int resamples) {
  std::mt19937_64 random(7);
  std::uniform_int_distribution<size_t> index(0, values.size() - 1);
  std::vector<double> medians, drawn(values.size());
  for (int i = 0; i < resamples; ++i) {
    for (double& value : drawn) value = values[index(random)];
    std::sort(drawn.begin(), drawn.end());
    medians.push_back(Quantile(drawn, 0.5));
  }
  std::sort(medians.begin(), medians.end());
  return {Quantile(medians, 0.025), Quantile(medians, 0.975)};
}

TEST(StatsTest, QuantileInterpolatesBetweenOrderStatistics) {
  const std::vector<double> values = {10, 20, 30, 40};
  EXPECT_DOUBLE_EQ(Quantile(values, 0), 10);
  EXPECT_DOUBLE_EQ(Quantile(values, 0.5), 25);
  EXPECT_DOUBLE_EQ(Quantile(values, 1), 40);
  EXPECT_DOUBLE_EQ(Quantile(values, 0.9), 37);
  EXPECT_DOUBLE_EQ(Quantile(std::vector<double>{3}, 0.7), 3);
}

TEST(StatsTest, SummarisesALiteralVector) {
  const std::vector<int64_t> values = {7, 1, 3, 5, 9, 11, 13, 15, 17, 19, 21};
  const Summary summary = Summarize(values);
  EXPECT_EQ(summary.count, 11);
  EXPECT_DOUBLE_EQ(summary.mean, 11);
  EXPECT_DOUBLE_EQ(summary.median, 11);
  EXPECT_DOUBLE_EQ(summary.stddev, std::sqrt(44.0));
  EXPECT_DOUBLE_EQ(summary.min, 1);
  EXPECT_DOUBLE_EQ(summary.p5, 2);
  EXPECT_DOUBLE_EQ(summary.p25, 6);
  EXPECT_DOUBLE_EQ(summary.p75, 16);
  EXPECT_DOUBLE_EQ(summary.p95, 20);
  EXPECT_DOUBLE_EQ(summary.max, 21);
  EXPECT_GE(summary.median_interval.low, 3);
  EXPECT_LE(summary.median_interval.low, 7);
  EXPECT_GE(summary.median_interval.high, 15);
  EXPECT_LE(summary.median_interval.high, 19);
}

TEST(StatsTest, AnEvenCountHasTheMeanOfItsMiddlesAsMedian) {
  EXPECT_DOUBLE_EQ(Summarize(std::vector<double>{4, 1, 2, 10}).median, 3);
}

TEST(StatsTest, NothingAndOneValueHaveASummary) {
  EXPECT_EQ(Summarize(std::vector<int64_t>{}).count, 0);
  const Summary one = Summarize(std::vector<int64_t>{42});
  EXPECT_EQ(one.count, 1);
  EXPECT_DOUBLE_EQ(one.stddev, 0);
  EXPECT_DOUBLE_EQ(one.median_interval.low, 42);
  EXPECT_DOUBLE_EQ(one.median_interval.high, 42);
}

TEST(StatsTest, ANotANumberShowsInTheSummaryAndLeavesTheOrderOfTheRest) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Summary summary = Summarize(std::vector<double>{nan, 3, 1, 2, nan});
  EXPECT_DOUBLE_EQ(summary.min, 1);
  EXPECT_DOUBLE_EQ(summary.median, 3);
  EXPECT_TRUE(std::isnan(summary.max));
  EXPECT_TRUE(std::isnan(summary.mean));
}

TEST(StatsTest, StudentsQuantilesAreThoseOfTheTables) {
  EXPECT_NEAR(StudentT975(1), 12.7062047364, 1e-8);
  EXPECT_NEAR(StudentT975(2), 4.3026527297, 1e-8);
  EXPECT_NEAR(StudentT975(3), 3.1824463053, 1e-8);
  EXPECT_NEAR(StudentT975(4), 2.7764451052, 1e-8);
  EXPECT_NEAR(StudentT975(9), 2.2621571629, 1e-8);
  EXPECT_NEAR(StudentT975(10), 2.2281388520, 1e-8);
  EXPECT_NEAR(StudentT975(30), 2.0422724563, 1e-8);
  EXPECT_NEAR(StudentT975(60), 2.0002978220, 1e-8);
  EXPECT_NEAR(StudentT975(120), 1.9799304051, 2e-8);
  EXPECT_NEAR(StudentT975(1000), 1.9623390808, 2e-8);
  EXPECT_NEAR(StudentT975(1'000'000'000), 1.9599639845, 1e-8);
}

TEST(StatsTest, StudentsQuantileFallsWithoutAStepWhereTheMethodChanges) {
  EXPECT_EQ(StudentT975(0), std::numeric_limits<double>::infinity());
  for (int64_t v = 1; v < 200; ++v) EXPECT_GT(StudentT975(v), StudentT975(v + 1)) << v;
  EXPECT_NEAR(StudentT975(99) - StudentT975(100), StudentT975(100) - StudentT975(101), 1e-5);
}

TEST(StatsTest, MedianIntervalHasTheRanksOfTheTables) {
  const struct {
    int64_t n;
    double low, high;
  } rows[] = {{6, 1, 6},   {8, 1, 8},   {9, 2, 8},    {10, 2, 9},
              {20, 6, 15}, {25, 8, 18}, {50, 18, 33}, {100, 40, 61}};
  for (const auto& row : rows) {
    const Interval interval = MedianInterval(OneTo(row.n));
    EXPECT_EQ(interval.low, row.low) << row.n;
    EXPECT_EQ(interval.high, row.high) << row.n;
  }
}

TEST(StatsTest, MedianIntervalOfFewValuesIsTheirRange) {
  for (int64_t n = 1; n < 6; ++n) {
    const Interval interval = MedianInterval(OneTo(n));
    EXPECT_EQ(interval.low, 1);
    EXPECT_EQ(interval.high, static_cast<double>(n));
  }
}

TEST(StatsTest, MedianIntervalIsSymmetricAndGrowsByAtMostOneRankWhereTheMethodChanges) {
  Interval before = MedianInterval(OneTo(990));
  for (int64_t n = 991; n < 1010; ++n) {
    const Interval interval = MedianInterval(OneTo(n));
    EXPECT_EQ(interval.low + interval.high, static_cast<double>(n + 1));
    EXPECT_GE(interval.low, before.low);
    EXPECT_LE(interval.low, before.low + 1);
    before = interval;
  }
}

TEST(StatsTest, MedianIntervalCoversTheMedianOfASkewedDistribution) {
  std::mt19937_64 random(20260101);
  std::exponential_distribution<double> exponential(1);
  const double median_ns = 1e6 * std::log(2);
  constexpr int kTrials = 4000;
  int covered = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<int64_t> steps(25);
    for (int64_t& step : steps) step = static_cast<int64_t>(1e6 * exponential(random));
    std::sort(steps.begin(), steps.end());
    const Interval interval = MedianInterval(steps);
    covered += interval.low <= median_ns && median_ns <= interval.high;
  }
  // The coverage is 95.67 % for 25 values; the tolerance is four standard errors of the simulation.
  EXPECT_NEAR(static_cast<double>(covered) / kTrials, 0.9567, 0.013);
}

TEST(StatsTest, BootstrapIsTheOneThatResamplingWholeVectorsGives) {
  std::mt19937_64 random(3);
  std::lognormal_distribution<double> skewed(0, 0.5);
  for (const size_t n : {2u, 3u, 7u, 10u, 40u, 101u}) {
    std::vector<double> values(n);
    for (double& value : values) value = skewed(random);
    std::vector<double> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    const Interval plain = PlainBootstrap(values, 20000), ours = BootstrapMedian(values, 20000);
    // Compares ranks, because a quantile of a discrete distribution may fall on either side of a
    // gap.
    const auto rank = [&](double x) {
      return std::lower_bound(sorted.begin(), sorted.end(), x) - sorted.begin();
    };
    EXPECT_LE(std::abs(rank(plain.low) - rank(ours.low)), 1) << n;
    EXPECT_LE(std::abs(rank(plain.high) - rank(ours.high)), 1) << n;
    EXPECT_NEAR(plain.low, ours.low, 0.1) << n;
    EXPECT_NEAR(plain.high, ours.high, 0.1) << n;
  }
}

TEST(StatsTest, BootstrapCoversTheMedian) {
  std::mt19937_64 random(11);
  std::exponential_distribution<double> exponential(1);
  constexpr int kTrials = 1500;
  int covered = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> values(60);
    for (double& value : values) value = exponential(random);
    const Interval interval = BootstrapMedian(values, 400);
    covered += interval.low <= std::log(2) && std::log(2) <= interval.high;
  }
  EXPECT_NEAR(static_cast<double>(covered) / kTrials, 0.95, 0.03);
}

TEST(StatsTest, BootstrapDependsOnTheValuesAndNotOnTheirOrder) {
  std::vector<double> values = {5, 3, 8, 1, 9, 2, 7, 7, 4, 6, 12, 0.5};
  const Interval once = BootstrapMedian(values);
  std::reverse(values.begin(), values.end());
  const Interval again = BootstrapMedian(values);
  EXPECT_EQ(once.low, again.low);
  EXPECT_EQ(once.high, again.high);
  values.push_back(100);
  EXPECT_NE(BootstrapMedian(values).high, once.high);
}

TEST(StatsTest, BootstrapOfManyValuesAgreesWithTheOrderStatistics) {
  std::vector<int64_t> values = OneTo(100'000);
  const Interval exact = MedianInterval(values), bootstrap = Summarize(values).median_interval;
  EXPECT_NEAR(bootstrap.low, exact.low, 60);
  EXPECT_NEAR(bootstrap.high, exact.high, 60);
}

TEST(StatsTest, StudentsTailIsThatOfThePrintedTables) {
  // Two-sided 5 % and 0.1 % points of published tables, to their number of digits.
  EXPECT_NEAR(StudentTail(12.7062, 1), 0.05, 1e-6);
  EXPECT_NEAR(StudentTail(4.30265, 2), 0.05, 1e-6);
  EXPECT_NEAR(StudentTail(2.77645, 4), 0.05, 1e-6);
  EXPECT_NEAR(StudentTail(2.26216, 9), 0.05, 1e-6);
  EXPECT_NEAR(StudentTail(2.04227, 30), 0.05, 1e-6);
  EXPECT_NEAR(StudentTail(636.619, 1), 0.001, 1e-8);
  EXPECT_NEAR(StudentTail(8.61030, 4), 0.001, 1e-8);
  EXPECT_NEAR(StudentTail(4.78091, 9), 0.001, 1e-8);
  EXPECT_NEAR(StudentTail(1.95996 * (1 + (1.95996 * 1.95996 + 1) / 4e6), 1'000'000), 0.05, 1e-6);
  EXPECT_EQ(StudentTail(0, 5), 1);
  EXPECT_EQ(StudentTail(std::numeric_limits<double>::infinity(), 5), 0);
  for (int64_t v : {1, 2, 3, 7, 50, 99, 100, 101, 400})
    EXPECT_NEAR(StudentTail(StudentT975(v), v), 0.05, 1e-8) << v;
}

TEST(StatsTest, TheGeometricMeanIsTheCentreOfFactors) {
  const GeometricMean mean = GeometricMeanOf(std::vector<double>{2, 8});
  EXPECT_NEAR(mean.value, 4, 1e-12);
  EXPECT_NEAR(mean.log_error, std::log(2), 1e-12);
  EXPECT_NEAR(mean.interval.high, 4 * std::exp(12.706204736174694 * std::log(2)), 1e-3);
  EXPECT_TRUE(std::isinf(GeometricMeanOf(std::vector<double>{3}).interval.high));
}

}  // namespace
}  // namespace tench::stats_test
