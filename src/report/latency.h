// SPDX-License-Identifier: Apache-2.0
#pragma once
// Latency of inference: quantiles of the time of one image.
// Thread safety: pure functions.

#include <cstdint>
#include <optional>
#include <vector>

#include "axis/cell.h"

namespace tench {

// Latency of single images: quantiles of the timed steps of all counted attempts.
struct Latency {
  int64_t steps = 0;
  double p50_ns = 0;
  std::optional<double> p90_ns, p99_ns;  // need 10 and 100 steps
};
// Whether latency is asked for: inference of one image.
bool HasLatency(const Cell& cell);
// Of the steps in any order; nullopt without steps.
std::optional<Latency> LatencyOf(std::vector<double> step_ns);

}  // namespace tench
