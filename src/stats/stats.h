// SPDX-License-Identifier: Apache-2.0
#pragma once
// Statistics over step times: pure functions over literal vectors. Intervals are 95 %.

#include <cstdint>
#include <span>
#include <vector>

namespace tench {

struct Interval {
  double low = 0, high = 0;
};

struct Summary {
  int64_t count = 0;
  double mean = 0, median = 0, stddev = 0;
  double min = 0, p5 = 0, p25 = 0, p75 = 0, p95 = 0, max = 0;
  Interval median_interval;  // bootstrap, seeded: the same input gives the same interval
};

// Linear interpolation between order statistics; q in [0, 1]; `sorted` must not be empty.
double Quantile(std::span<const double> sorted, double q);
// 0 for no values; the mean of the two middle values for an even number. Linear time, because a
// running study calls it after every run.
double Median(std::vector<double> values);
Summary Summarize(std::span<const int64_t> values);
Summary Summarize(std::span<const double> values);

// The binomial order-statistic interval of the median, of sorted values: distribution-free and
// cheap, for the stop rule.
Interval MedianInterval(std::span<const int64_t> sorted);
// Percentile bootstrap of the median.
Interval BootstrapMedian(std::span<const double> values, int resamples = 1000);
// Two-sided 97.5 % quantile of Student's t.
double StudentT975(int64_t degrees_of_freedom);
// P(|T| > t) of Student's t distribution, for t >= 0, which may be infinite.
double StudentTail(double t, int64_t degrees_of_freedom);

// The geometric mean and Student's t-interval of it, both from the logarithms.
struct GeometricMean {
  double value = 0;
  Interval interval;     // from 0 to infinity for one value
  double log_error = 0;  // standard error of the mean of the logarithms
};
// `values` must be positive and finite, and at least one.
GeometricMean GeometricMeanOf(std::span<const double> values);

}  // namespace tench
