// SPDX-License-Identifier: Apache-2.0
#pragma once
// Static memory planning: assigns every buffer of a program an offset in one arena. A buffer is
// live from the first to the last step that names it. Two buffers may share bytes if their
// lifetimes are disjoint. Pure functions on numbers; not aware of programs or tensors.
//
// Invariants: offsets are multiples of kArenaAlignment, and buffers of overlapping lifetimes never
// overlap in memory.

#include <cstdint>
#include <span>
#include <vector>

namespace tench::native {

// A cache line, and the widest vector.
inline constexpr int64_t kArenaAlignment = 64;

struct Lifetime {
  int64_t bytes = 0;
  int64_t first = 0, last = 0;  // step numbers, inclusive
};

struct ArenaPlan {
  std::vector<int64_t> offsets;  // indexed as the lifetimes
  int64_t bytes = 0;
};

// Greedy first fit in several orders (by size, by size × lifetime, by lifetime); keeps the smallest
// arena. At least LiveBytes, at most the sum of all aligned buffers.
ArenaPlan PlanArena(std::span<const Lifetime> lifetimes);

// The largest number of aligned bytes live at one step: a lower bound of every plan.
int64_t LiveBytes(std::span<const Lifetime> lifetimes);

}  // namespace tench::native
