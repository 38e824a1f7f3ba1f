// SPDX-License-Identifier: Apache-2.0
#pragma once
// Comparison of two cells by paired time ratios, one per round: the geometric mean, its 95 %
// interval (Student's t on the logarithms), a p-value, Holm's correction over a table, and a
// verdict. Pure functions over literal vectors; not aware of runs or cells.
//
// The true ratio lies in one of three regions: faster (below 1 / (1 + margin)), same (between),
// slower (above 1 + margin). The p-value of a pair is the smallest α for which the interval of
// coverage 1 - α lies within one region. The verdict is that region if the corrected p-value is at
// most 0.05 and there are at least 5 rounds; otherwise it is `ambiguous`. It is also `ambiguous` if
// the 95 % interval of a second statistic, the median ratio, lies wholly on the other side of 1.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stats/stats.h"

namespace tench {

enum class RatioVerdict { kFaster, kSlower, kSame, kAmbiguous };

const std::string& Name(RatioVerdict verdict);

inline constexpr double kDefaultMargin = 0.01;  // ratios within this margin are `same`
inline constexpr double kSignificance = 0.05;
inline constexpr int64_t kFewestRounds = 5;  // for a verdict other than `ambiguous`

struct RatioTest {
  int64_t rounds = 0;
  double ratio = 1;   // geometric mean over rounds
  Interval interval;  // 95 %; from 0 to infinity with fewer than two rounds
  double p = 1;
  RatioVerdict region = RatioVerdict::kAmbiguous;  // region of `ratio`; ambiguous without rounds
  // Positions of rounds far from the others. They are not excluded.
  std::vector<size_t> outliers;
};

// `ratios` are positive and finite; `margin` is at least 0.
RatioTest TestRatios(std::span<const double> ratios, double margin = kDefaultMargin);

// Holm's step-down correction: the adjusted p-values of one table, in the same order.
std::vector<double> HolmCorrected(std::span<const double> p_values);

struct RatioJudgement {
  double corrected_p = 1;
  RatioVerdict verdict = RatioVerdict::kAmbiguous;
};

// One judgement per test of a table. Tests with too few rounds are ambiguous and are left out of
// the correction.
std::vector<RatioJudgement> JudgeTable(std::span<const RatioTest* const> tests);

// Whether `medians`, the test of the median times of the same pair, contradicts the verdict: its
// 95 % interval lies wholly above 1 for `faster`, or wholly below 1 for `slower`.
bool Contradicts(const RatioTest& medians, RatioVerdict verdict);

// The standard deviation by the median absolute deviation, from the distances to the median; at
// least 0.001, because most ratios may be equal.
double RobustDeviation(std::vector<double> distances);

// Positions of the values more than 3.5 standard deviations from the median, estimated by the
// median absolute deviation. None among fewer than 5 values.
std::vector<size_t> Outliers(std::span<const double> values);

}  // namespace tench
