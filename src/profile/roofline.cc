// SPDX-License-Identifier: Apache-2.0
#include "profile/roofline.h"

#include <algorithm>

#include "profile/kernel_class.h"

namespace tench {

std::vector<RooflinePoint> RooflineOf(const Census& census) {
  std::vector<RooflinePoint> points;
  for (const CensusRow& row : census.rows) {
    if (row.flops <= 0 || row.bytes <= 0 || row.time_ns <= 0 || census.steps <= 0) continue;
    const auto flops = static_cast<double>(row.flops), time_ns = static_cast<double>(row.time_ns);
    points.push_back({row.layer, row.direction, row.implementation, row.group,
                      flops / static_cast<double>(row.bytes), flops / time_ns * 1e9,
                      time_ns / static_cast<double>(census.steps), row.bytes_from_shapes,
                      IsFastAlgorithm(row.implementation)});
  }
  std::stable_sort(
      points.begin(), points.end(),
      [](const RooflinePoint& a, const RooflinePoint& b) { return a.step_ns > b.step_ns; });
  return points;
}

std::optional<double> ArithmeticCeiling(std::span<const Ceiling> ceilings) {
  double highest = 0;
  for (const Ceiling& ceiling : ceilings) highest = std::max(highest, ceiling.flops_per_s);
  return highest > 0 ? std::optional(highest) : std::nullopt;
}

double AllowedBy(const Ceiling& ceiling, double intensity, double arithmetic_flops_per_s) {
  if (ceiling.flops_per_s > 0) return ceiling.flops_per_s;
  return std::min(arithmetic_flops_per_s, ceiling.bytes_per_s * intensity);
}

}  // namespace tench
