// SPDX-License-Identifier: Apache-2.0
#include "net/tensor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

namespace tench {

int64_t ElementCount(const Shape& shape) {
  int64_t count = 1;
  for (int64_t size : shape) {
    if (size == 0) return 0;
    if (__builtin_mul_overflow(count, size, &count)) return std::numeric_limits<int64_t>::max();
  }
  return count;
}

std::string ToString(const Shape& shape) {
  return shape.empty() ? "scalar" : fmt::format("{}", fmt::join(shape, "x"));
}

}  // namespace tench
