// SPDX-License-Identifier: Apache-2.0
#include "logs/log_lines.h"

#include <algorithm>

namespace tench {

Status ForEachLogLine(std::string_view text, std::string_view origin,
                      const std::function<Status(std::string_view)>& each) {
  for (int64_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    const bool whole = end != std::string_view::npos;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(whole ? end + 1 : text.size());
    Status status = each(line);
    if (!status.ok() && whole) return std::move(status).In(fmt::format("{}:{}", origin, number));
  }
  return Ok();
}

}  // namespace tench
