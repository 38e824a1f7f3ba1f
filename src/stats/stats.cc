// SPDX-License-Identifier: Apache-2.0
// The bootstrap of the median, without resampling.
//
// A percentile bootstrap draws n values with replacement, takes their median, and repeats. Drawing
// an index is flooring n times a uniform number, and flooring is monotone: the k-th smallest drawn
// value is the value at the k-th smallest of n uniform numbers. This order statistic has the
// distribution Beta(k, n - k + 1). So one draw of a Beta replaces n draws and a selection, and the
// resampled median has exactly the same distribution:
//  - n odd: the rank is U ~ Beta(m + 1, m + 1) with n = 2m + 1, and the median is the value at
//    floor(n U);
//  - n even: the lower middle is U ~ Beta(m, m + 1) with n = 2m. The m numbers above it are uniform
//    on (U, 1), so the upper middle is U + (1 - U) W, with W the smallest of m uniform numbers,
//    1 - V^(1/m). The median is the mean of the two values.
// The cost is one sort of the sample and a few operations per resample, independent of the sample's
// size. The generator is defined here and has a fixed seed, so the interval depends only on the
// values, not on their order or on the standard library.
#include "stats/stats.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "base/error.h"

namespace tench {
namespace {

constexpr double kTail = 0.025;  // on either side of a 95 % interval
constexpr double kNormal975 = 1.959963984540054;

// SplitMix64: 64 bits of state, sufficient for a thousand draws, and portable.
class Generator {
 public:
  // In the open interval (0, 1), so that its logarithm is finite.
  double Uniform() {
    state_ += 0x9e3779b97f4a7c15u;
    uint64_t x = state_;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    x ^= x >> 31;
    return (static_cast<double>(x >> 11) + 0.5) * 0x1p-53;
  }

  double Normal() {
    const double radius = std::sqrt(-2 * std::log(Uniform()));
    return radius * std::cos(2 * std::numbers::pi * Uniform());
  }

  // Rejection sampling by Marsaglia and Tsang (2000); `shape` is at least 1.
  double Gamma(double shape) {
    const double d = shape - 1.0 / 3;
    const double c = 1 / std::sqrt(9 * d);
    for (;;) {
      const double x = Normal();
      const double cube = 1 + c * x;
      if (cube <= 0) continue;
      const double v = cube * cube * cube;
      if (std::log(Uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
    }
  }

  double Beta(double a, double b) {
    const double x = Gamma(a);
    return x / (x + Gamma(b));
  }

 private:
  uint64_t state_ = 0x74656e6368;
};

// NaN is not ordered, so it is moved to the end, where it shows as the maximum.
std::vector<double> Sorted(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  const auto numbers_end =
      std::partition(sorted.begin(), sorted.end(), [](double x) { return !std::isnan(x); });
  std::sort(sorted.begin(), numbers_end);
  return sorted;
}

double ResampledMedian(std::span<const double> sorted, Generator& random) {
  const size_t n = sorted.size();
  const double m = static_cast<double>(n / 2);
  const auto value_at = [&](double u) {
    return sorted[std::min(n - 1, static_cast<size_t>(u * static_cast<double>(n)))];
  };
  if (n % 2 == 1) return value_at(random.Beta(m + 1, m + 1));
  const double lower = random.Beta(m, m + 1);
  const double upper = lower + (1 - lower) * -std::expm1(std::log(random.Uniform()) / m);
  return (value_at(lower) + value_at(upper)) / 2;
}

Interval BootstrapSorted(std::span<const double> sorted, int resamples) {
  if (sorted.size() == 1) return {sorted[0], sorted[0]};
  Generator random;
  std::vector<double> medians(static_cast<size_t>(resamples));
  for (double& median : medians) median = ResampledMedian(sorted, random);
  medians = Sorted(medians);
  return {Quantile(medians, kTail), Quantile(medians, 1 - kTail)};
}

// The largest k such that fewer than k of n values lie below the median with a probability of at
// most 2.5 %; 0 if there is none.
size_t LowerRank(size_t n) {
  // 2^-n is a normal double up to here; beyond, the normal approximation is exact to well under one
  // rank.
  constexpr size_t kExactLimit = 1000;
  if (n > kExactLimit) {
    const double size = static_cast<double>(n);
    return static_cast<size_t>(size / 2 + 0.5 - kNormal975 / 2 * std::sqrt(size));
  }
  double probability = std::ldexp(1.0, -static_cast<int>(n));
  double below = probability;
  size_t k = 0;
  while (below <= kTail) {
    probability *= static_cast<double>(n - k) / static_cast<double>(k + 1);
    below += probability;
    ++k;
  }
  return k;
}

// P(|T| <= t) for a whole number of degrees of freedom, where the integral has a finite series in
// the angle atan(t / sqrt(v)).
double StudentWithin(double t, int64_t v) {
  const double angle = std::atan(t / std::sqrt(static_cast<double>(v)));
  const double sine = std::sin(angle), cosine = std::cos(angle);
  const bool odd = v % 2 == 1;
  if (v == 1) return angle * 2 / std::numbers::pi;
  double term = odd ? cosine : 1;
  double sum = term;
  for (int64_t i = odd ? 3 : 2; i < v; i += 2) {
    term *= cosine * cosine * static_cast<double>(i - 1) / static_cast<double>(i);
    sum += term;
  }
  return odd ? (angle + sine * sum) * 2 / std::numbers::pi : sine * sum;
}

}  // namespace

double Quantile(std::span<const double> sorted, double q) {
  Check(!sorted.empty(), "a quantile needs at least one value");
  Check(q >= 0 && q <= 1, "a quantile must be in [0, 1]");
  const double position = q * static_cast<double>(sorted.size() - 1);
  const size_t below = static_cast<size_t>(position);
  const double share = position - static_cast<double>(below);
  if (share == 0) return sorted[below];
  return sorted[below] + share * (sorted[below + 1] - sorted[below]);
}

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

Summary Summarize(std::span<const double> values) {
  Summary summary;
  if (values.empty()) return summary;
  const std::vector<double> sorted = Sorted(values);
  const double count = static_cast<double>(sorted.size());
  summary.count = static_cast<int64_t>(sorted.size());
  double sum = 0;
  for (double x : sorted) sum += x;
  summary.mean = sum / count;
  if (sorted.size() > 1) {
    double squares = 0;
    for (double x : sorted) squares += (x - summary.mean) * (x - summary.mean);
    summary.stddev = std::sqrt(squares / (count - 1));
  }
  summary.min = sorted.front();
  summary.p5 = Quantile(sorted, 0.05);
  summary.p25 = Quantile(sorted, 0.25);
  summary.median = Quantile(sorted, 0.5);
  summary.p75 = Quantile(sorted, 0.75);
  summary.p95 = Quantile(sorted, 0.95);
  summary.max = sorted.back();
  summary.median_interval = BootstrapSorted(sorted, 1000);
  return summary;
}

Summary Summarize(std::span<const int64_t> values) {
  return Summarize(std::vector<double>(values.begin(), values.end()));
}

Interval MedianInterval(std::span<const int64_t> sorted) {
  Check(!sorted.empty(), "the interval of a median needs at least one value");
  const size_t skipped = std::max<size_t>(LowerRank(sorted.size()), 1) - 1;
  return {static_cast<double>(sorted[skipped]),
          static_cast<double>(sorted[sorted.size() - 1 - skipped])};
}

Interval BootstrapMedian(std::span<const double> values, int resamples) {
  Check(!values.empty(), "a bootstrap needs at least one value");
  Check(resamples > 0, "a bootstrap needs at least one resample");
  return BootstrapSorted(Sorted(values), resamples);
}

double StudentT975(int64_t degrees_of_freedom) {
  const int64_t v = degrees_of_freedom;
  if (v < 1) return std::numeric_limits<double>::infinity();
  constexpr int64_t kSeriesLimit = 100;
  if (v > kSeriesLimit) {
    // Cornish-Fisher expansion around the normal quantile, accurate to eight digits from here on.
    const double z = kNormal975, z2 = z * z, n = static_cast<double>(v);
    return z + z * (z2 + 1) / (4 * n) + z * ((5 * z2 + 16) * z2 + 3) / (96 * n * n) +
           z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / (384 * n * n * n);
  }
  double low = kNormal975, high = 13;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (StudentWithin(middle, v) < 1 - 2 * kTail ? low : high) = middle;
  }
  return (low + high) / 2;
}

double StudentTail(double t, int64_t degrees_of_freedom) {
  Check(t >= 0 && degrees_of_freedom >= 1,
        "Student's t needs a distance and at least one degree of freedom");
  if (std::isinf(t)) return 0;
  return std::clamp(1 - StudentWithin(t, degrees_of_freedom), 0.0, 1.0);
}

GeometricMean GeometricMeanOf(std::span<const double> values) {
  Check(!values.empty(), "a mean needs at least one value");
  const auto count = static_cast<double>(values.size());
  double mean = 0, squares = 0;
  for (const double value : values) mean += std::log(value) / count;
  if (values.size() == 1)
    return {values[0],
            {0, std::numeric_limits<double>::infinity()},
            std::numeric_limits<double>::infinity()};
  for (const double value : values) squares += (std::log(value) - mean) * (std::log(value) - mean);
  GeometricMean result;
  result.value = std::exp(mean);
  result.log_error = std::sqrt(squares / (count - 1) / count);
  const double half = StudentT975(static_cast<int64_t>(values.size()) - 1) * result.log_error;
  result.interval = {std::exp(mean - half), std::exp(mean + half)};
  return result;
}

}  // namespace tench
