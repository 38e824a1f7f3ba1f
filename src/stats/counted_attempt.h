// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which of several attempts at one round of a cell counts. The runner asks to decide what to
// repeat, the report to decide what to show, so both see the same attempt.
//
// The rule: the last undisturbed attempt; otherwise the last that was not slow itself; otherwise
// the last. Among equals the last counts, not the fastest: choosing the fastest would favour a
// worker whose time varies. Pure; not aware of runs or of how noise is judged (noise.h).

#include <cstdint>
#include <span>

namespace tench {

struct Attempt {
  int64_t number = 0;      // 0 = the first
  bool slow = false;       // its own shortest step; implies disturbed
  bool disturbed = false;  // slow, or the sentinel was around it
};

// Whether `b` counts rather than `a`. A strict weak ordering: the greatest attempt counts.
bool CountsLess(const Attempt& a, const Attempt& b);

// The index of the attempt that counts. Requires at least one.
size_t CountedAttempt(std::span<const Attempt> attempts);

}  // namespace tench
