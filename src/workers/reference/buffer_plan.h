// SPDX-License-Identifier: Apache-2.0
#pragma once
// Memory planning: tensors whose live ranges do not overlap share a buffer. A live range is an
// interval of the step's timeline. Pure arithmetic over literal numbers.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tench {

struct Lifetime {
  int64_t elements = 0;         // 0 = needs no buffer
  int64_t first = 0, last = 0;  // inclusive
};

struct BufferPlan {
  std::vector<int64_t> sizes;  // elements of each buffer
  std::vector<size_t> buffer;  // the buffer of each tensor; undefined for empty tensors
  int64_t TotalElements() const;
};

// Greedy best fit in the order of `first`: the smallest free buffer that fits, otherwise the
// largest free one, enlarged.
BufferPlan PlanBuffers(std::span<const Lifetime> lifetimes);

}  // namespace tench
