// SPDX-License-Identifier: Apache-2.0
#pragma once
// Iterates over the lines of a log. An error in a line becomes "ORIGIN:LINE: …". An error in an
// unterminated last line is ignored, because the log was truncated there.
// Thread safety: pure.

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/error.h"

namespace tench {

// Longer times in a log are rejected as implausible.
inline constexpr double kMaxLogSeconds = 1e9;

Status ForEachLogLine(std::string_view text, std::string_view origin,
                      const std::function<Status(std::string_view)>& each);

}  // namespace tench
