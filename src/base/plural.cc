// SPDX-License-Identifier: Apache-2.0
#include "base/plural.h"

#include <fmt/format.h>

namespace tench {

std::string Plural(int64_t count, std::string_view noun, std::string_view plural) {
  if (count == 1) return fmt::format("1 {}", noun);
  if (plural.empty()) return fmt::format("{} {}s", count, noun);
  return fmt::format("{} {}", count, plural);
}

}  // namespace tench
