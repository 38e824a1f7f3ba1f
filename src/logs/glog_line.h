// SPDX-License-Identifier: Apache-2.0
#pragma once
// One line as Google's logging library writes it: "I20261115 23:02:19.619979 29467 solver.cpp:239]
// message". Older versions of the library leave the year out ("I1115 23:02:19.619979"). Pure; the
// views point into the line.

#include <cstdint>
#include <optional>
#include <string_view>

namespace tench {

// Local time of whoever wrote the log.
struct GlogTime {
  int year = 0;  // 0 = the line does not say
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

// nullopt: the line has no such prefix.
std::optional<GlogLine> ParseGlogLine(std::string_view line);

// Microseconds; negative if the clock was set back. Without years a month that is smaller than
// before is the next year's.
int64_t ElapsedUs(const GlogTime& from, const GlogTime& to);

}  // namespace tench
