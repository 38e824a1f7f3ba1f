// SPDX-License-Identifier: Apache-2.0
#pragma once
// The energy of the CPU packages over the timed steps of a run. A passive struct. Never estimated:
// without a measurement, `problem` says why.

#include <cstdint>
#include <optional>
#include <string>

namespace tench {

struct EnergyUse {
  std::optional<double> joules;  // of all packages, other load on the machine included
  // From the end of the warm-up to the result, and the readings within, both ends included.
  int64_t window_ns = 0, readings = 0;
  std::optional<double> idle_w;  // of the same packages, measured before the worker started
  std::string packages;          // "package-0 package-1"
  std::string problem;           // "" if there is a value

  bool operator==(const EnergyUse&) const = default;
};

}  // namespace tench
