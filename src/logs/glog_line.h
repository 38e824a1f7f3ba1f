// SPDX-License-Identifier: Apache-2.0
#pragma once
// Parses one line of Google's logging library (glog): "I20261115 23:02:19.619979 29467
// solver.cpp:239] message". Older versions omit the year ("I1115 23:02:19.619979").
// Thread safety: pure functions; views point into the line.

#include <cstdint>
#include <optional>
#include <string_view>

namespace tench {

// Local time of the logging machine.
struct GlogTime {
  int year = 0;  // 0 = omitted by the line
  int month = 1, day = 1;
  int64_t us_of_day = 0;
  bool operator==(const GlogTime&) const = default;
};

struct GlogLine {
  char severity = 'I';  // I, W, E or F
  GlogTime time;
  std::string_view source;  // "solver.cpp:239"
  std::string_view message;
};

// nullopt: the line has no glog prefix.
std::optional<GlogLine> ParseGlogLine(std::string_view line);

// Microseconds; negative if the clock was set back. Without years, a smaller month belongs to the
// next year.
int64_t ElapsedUs(const GlogTime& from, const GlogTime& to);

}  // namespace tench
