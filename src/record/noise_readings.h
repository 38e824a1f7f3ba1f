// SPDX-License-Identifier: Apache-2.0
#pragma once
// The evidence of noise around one run that does not come from its own step times: the sentinel's
// readings, the CPU time that the hypervisor withheld, and the CPU time that a cgroup quota
// withheld. Passive; machine/ takes the readings, stats/noise.h interprets them.

#include <optional>

#include "record/sentinel_reading.h"

namespace tench {

struct NoiseReadings {
  SentinelReadings sentinel;
  // Shares of the time of the run's CPUs from the end of Build to the result; nullopt = not read.
  std::optional<double> steal_share, throttled_share;

  bool operator==(const NoiseReadings&) const = default;
};

}  // namespace tench
