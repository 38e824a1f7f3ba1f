// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include <cstdio>
#include <cstdlib>

namespace tench {

void Check(bool condition, std::string_view message, SourcePlace where) {
  if (condition) [[likely]]
    return;
  fmt::print(stderr, "tench: bug at {}:{} ({}): {}\n", where.file, where.line, where.function,
             message);
  std::abort();
}

}  // namespace tench
