// SPDX-License-Identifier: Apache-2.0
#pragma once
// A log, line by line. What is wrong with a line becomes "ORIGIN:LINE: …"; what is wrong with a
// last line that has no end is the fate of a log that was cut, and no error.

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/error.h"

namespace tench {

// A time that a log tells is no time beyond this.
inline constexpr double kMostLogSeconds = 1e9;

Status ForEachLogLine(std::string_view text, std::string_view origin,
                      const std::function<Status(std::string_view)>& each);

}  // namespace tench
