// SPDX-License-Identifier: Apache-2.0
#include "stats/welch.h"

#include <algorithm>
#include <cmath>

namespace tench {

std::optional<Interval> MeanDifference(std::span<const double> a, std::span<const double> b) {
  if (a.size() < 2 || b.size() < 2) return std::nullopt;
  const Summary x = Summarize(a), y = Summarize(b);
  const auto squared_error = [](const Summary& side) {
    return side.stddev * side.stddev / static_cast<double>(side.count);
  };
  const double ex = squared_error(x), ey = squared_error(y), sum = ex + ey;
  const double difference = y.mean - x.mean;
  if (sum == 0) return Interval{difference, difference};
  // The Welch-Satterthwaite degrees of freedom.
  const double freedom =
      sum * sum /
      (ex * ex / static_cast<double>(x.count - 1) + ey * ey / static_cast<double>(y.count - 1));
  const double half =
      StudentT975(std::max<int64_t>(1, static_cast<int64_t>(std::floor(freedom)))) * std::sqrt(sum);
  return Interval{difference - half, difference + half};
}

}  // namespace tench
