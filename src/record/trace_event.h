// SPDX-License-Identifier: Apache-2.0
#pragma once
// One interval of a trace: a kernel on a thread, or a whole step. A passive struct: a worker writes
// it to a file, `tench run --trace` reads it.

#include <cstdint>
#include <string>

namespace tench {

inline constexpr const char* kStepsTrack = "steps";

struct TraceEvent {
  std::string track;             // "steps", or the thread: "thread 4711"
  std::string name;              // of the implementation; "step 2"
  std::string layer, direction;  // as in a profile; empty for a step
  int64_t start_ns = 0;          // of the worker's monotonic clock
  int64_t time_ns = 0;

  bool operator==(const TraceEvent&) const = default;
};

}  // namespace tench
