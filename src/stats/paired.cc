// SPDX-License-Identifier: Apache-2.0
#include "stats/paired.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"

namespace tench {
namespace {

constexpr double kOutlierDeviations = 3.5;
// The median absolute deviation of a normal distribution times this is its standard deviation.
constexpr double kDeviationPerMad = 1.482602218505602;
// The smallest deviation that is used: if most ratios are equal, any other would be an outlier.
constexpr double kLeastDeviation = 1e-3;

}  // namespace

const std::string& Name(RatioVerdict verdict) {
  static const std::array<std::string, 4> names = {"faster", "slower", "same", "ambiguous"};
  return names[static_cast<size_t>(verdict)];
}

double RobustDeviation(std::vector<double> distances) {
  return std::max(kDeviationPerMad * Median(std::move(distances)), kLeastDeviation);
}

std::vector<size_t> Outliers(std::span<const double> values) {
  std::vector<size_t> found;
  if (static_cast<int64_t>(values.size()) < kFewestRounds) return found;
  const double median = Median({values.begin(), values.end()});
  std::vector<double> distances;
  for (const double value : values) distances.push_back(std::abs(value - median));
  const double limit = kOutlierDeviations * RobustDeviation(distances);
  for (size_t i = 0; i < distances.size(); ++i) {
    if (distances[i] > limit) found.push_back(i);
  }
  return found;
}

RatioTest TestRatios(std::span<const double> ratios, double margin) {
  Check(margin >= 0, "the margin must be at least 0");
  RatioTest test;
  test.rounds = static_cast<int64_t>(ratios.size());
  test.interval = {0, std::numeric_limits<double>::infinity()};
  if (ratios.empty()) return test;
  const GeometricMean mean = GeometricMeanOf(ratios);
  test.ratio = mean.value;
  test.interval = mean.interval;
  const double centre = std::log(mean.value), edge = std::log1p(margin);
  test.region = centre > edge    ? RatioVerdict::kSlower
                : centre < -edge ? RatioVerdict::kFaster
                                 : RatioVerdict::kSame;
  if (ratios.size() > 1) {
    // To the nearest edge of the region.
    const double distance = std::abs(std::abs(centre) - edge);
    test.p = distance == 0 ? 1 : StudentTail(distance / mean.log_error, test.rounds - 1);
  }
  std::vector<double> logs;
  for (const double ratio : ratios) logs.push_back(std::log(ratio));
  test.outliers = Outliers(logs);
  return test;
}

std::vector<double> HolmCorrected(std::span<const double> p_values) {
  std::vector<size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return p_values[a] < p_values[b]; });
  std::vector<double> corrected(p_values.size());
  double largest = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    // Adjusted p-values are monotone in the original ones.
    largest = std::max(largest,
                       std::min(1.0, p_values[order[i]] * static_cast<double>(order.size() - i)));
    corrected[order[i]] = largest;
  }
  return corrected;
}

bool Contradicts(const RatioTest& medians, RatioVerdict verdict) {
  if (medians.rounds < kFewestRounds) return false;
  if (verdict == RatioVerdict::kFaster) return medians.interval.low > 1;
  return verdict == RatioVerdict::kSlower && medians.interval.high < 1;
}

std::vector<RatioJudgement> JudgeTable(std::span<const RatioTest* const> tests) {
  std::vector<size_t> judged;
  std::vector<double> p_values;
  for (size_t i = 0; i < tests.size(); ++i) {
    if (tests[i]->rounds < kFewestRounds) continue;
    judged.push_back(i);
    p_values.push_back(tests[i]->p);
  }
  const std::vector<double> corrected = HolmCorrected(p_values);
  std::vector<RatioJudgement> judgements(tests.size());
  for (size_t i = 0; i < judged.size(); ++i) {
    RatioJudgement& judgement = judgements[judged[i]];
    judgement.corrected_p = corrected[i];
    if (corrected[i] <= kSignificance) judgement.verdict = tests[judged[i]]->region;
  }
  return judgements;
}

}  // namespace tench
