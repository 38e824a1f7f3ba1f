// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where each buffer of a program lies in the one arena. A buffer lives from the first to the last
// step that names it; two buffers may share bytes if no step falls into both lives. Pure: numbers
// in, offsets out.

#include <cstdint>
#include <span>
#include <vector>

namespace tench::native {

inline constexpr int64_t kArenaAlignment = 64;  // a cache line, and the widest vector

struct Lifetime {
  int64_t bytes = 0;
  int64_t first = 0, last = 0;  // step numbers, both included
};

struct ArenaPlan {
  std::vector<int64_t> offsets;  // by lifetime
  int64_t bytes = 0;
};

// Tries several greedy orders and keeps the smallest arena; at worst the sum of all buffers, at
// best LiveBytes.
ArenaPlan PlanArena(std::span<const Lifetime> lifetimes);

// The most bytes that are alive at one step: no plan can be smaller.
int64_t LiveBytes(std::span<const Lifetime> lifetimes);

}  // namespace tench::native
