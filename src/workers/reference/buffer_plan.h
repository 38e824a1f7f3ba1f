// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which tensors may share memory: each is needed over a stretch of a step's timeline, and two whose
// stretches do not meet can lie in the same buffer. Pure arithmetic over literal numbers.

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
  std::vector<size_t> buffer;  // which buffer each tensor lies in; meaningless for empty tensors
  int64_t TotalElements() const;
};

// Greedy in the order of `first`: the smallest free buffer that fits, or else the largest free one,
// enlarged.
BufferPlan PlanBuffers(std::span<const Lifetime> lifetimes);

}  // namespace tench
