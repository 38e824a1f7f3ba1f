// SPDX-License-Identifier: Apache-2.0
#include "report/summary.h"

namespace tench {

std::optional<double> Ranking::CostPerMillion(const RankGroup& group, const RankRow& row) const {
  if (!price_per_hour || !row.step_ns) return std::nullopt;
  const double hours = PerImage(*this, group, row).value * 1e6 / 3.6e12;
  return hours * *price_per_hour;
}

}  // namespace tench
