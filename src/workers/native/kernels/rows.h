// SPDX-License-Identifier: Apache-2.0
#pragma once
// A strided view of memory: `count` rows of `length` contiguous floats, whose first elements are
// `stride` floats apart. Not aware of tensors or layouts; program/layout.h derives one from a
// oneDNN memory descriptor. Passive values, no ownership.

#include <cstdint>

namespace tench::native {

struct Rows {
  int64_t count = 1, length = 0, stride = 0;
  bool operator==(const Rows&) const = default;
};

struct RowPointer {
  const float* data = nullptr;
  Rows rows;
};

}  // namespace tench::native
