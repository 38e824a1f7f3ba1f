// SPDX-License-Identifier: Apache-2.0
#include "report/latency.h"

#include <algorithm>

#include "stats/stats.h"

namespace tench {

bool HasLatency(const Cell& cell) {
  return cell.phase() == Phase::kForward && cell.Integer(kAxisBatch) == 1;
}

std::optional<Latency> LatencyOf(std::vector<double> step_ns) {
  if (step_ns.empty()) return std::nullopt;
  std::sort(step_ns.begin(), step_ns.end());
  Latency latency{static_cast<int64_t>(step_ns.size()), Quantile(step_ns, 0.5), {}, {}};
  if (latency.steps >= 10) latency.p90_ns = Quantile(step_ns, 0.9);
  if (latency.steps >= 100) latency.p99_ns = Quantile(step_ns, 0.99);
  return latency;
}

}  // namespace tench
