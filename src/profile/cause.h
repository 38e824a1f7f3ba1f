// SPDX-License-Identifier: Apache-2.0
#pragma once
// The leading causes of the difference between two aligned profiles, as sentences. Layout
// conversions, updates and the remainder are one cause each, whatever layers they belong to.
// Thread safety: pure.

#include <string>
#include <vector>

#include "profile/alignment.h"

namespace tench {

struct Cause {
  std::string layer;         // "" = of no single op, so that no single op can be replayed
  double difference_ns = 0;  // of b over a, per step
  std::string sentence;      // without a full stop
};

// Causes of at least `least_share` of the slower side's step, the largest first, at most `most`.
std::vector<Cause> LeadingCauses(const Alignment& alignment, size_t most = 5,
                                 double least_share = 0.02);

// "-1.2 ms", "+31 ms": a signed time with three digits.
std::string SignedMs(double ns);

}  // namespace tench
