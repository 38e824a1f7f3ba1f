// SPDX-License-Identifier: Apache-2.0
#pragma once
// The cost of one kernel of one layer over the timed steps of a profiled run. A passive struct: a
// worker fills it, the result line carries it, a report prints it.

#include <cstdint>
#include <string>

namespace tench {

struct ProfileRow {
  // `direction` is "forward", "backward", "backward_data", "backward_weights" or "update"; `kernel`
  // names the implementation.
  std::string layer, direction, kernel;
  int64_t calls = 0, time_ns = 0, flops = 0, bytes = 0;
  bool operator==(const ProfileRow&) const = default;
};

}  // namespace tench
