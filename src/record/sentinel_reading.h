// SPDX-License-Identifier: Apache-2.0
#pragma once
// Times of the noise sentinel's fixed workload: one reading, and the readings around one run.
// Passive; machine/sentinel.h takes readings, stats/noise.h interprets them.

#include <cstdint>

namespace tench {

// 0 = not taken.
struct SentinelReading {
  int64_t compute_ns = 0, memory_ns = 0;

  bool operator==(const SentinelReading&) const = default;
};

struct SentinelReadings {
  SentinelReading before, after;

  bool operator==(const SentinelReadings&) const = default;
};

}  // namespace tench
