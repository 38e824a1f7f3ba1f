// SPDX-License-Identifier: Apache-2.0
#pragma once
// Selects the attempt at one round of a cell that counts. The runner uses it to choose repeats and
// the report to choose the shown run, so both see the same attempt.
//
// The rule: the last undisturbed attempt; otherwise the last that was not slow itself; otherwise
// the last. Among equals the last counts, not the fastest: choosing the fastest would favour a
// worker whose time varies. Pure; not aware of runs or of how noise is judged (noise.h).

#include <cstdint>
#include <span>

namespace tench {

struct Attempt {
  int64_t number = 0;      // from 0
  bool slow = false;       // by its own shortest step; implies disturbed
  bool disturbed = false;  // slow, or disturbed sentinel readings
};

// Whether `b` counts rather than `a`. A strict weak ordering: the greatest attempt counts.
bool CountsLess(const Attempt& a, const Attempt& b);

// The index of the attempt that counts. Requires at least one.
size_t CountedAttempt(std::span<const Attempt> attempts);

}  // namespace tench
