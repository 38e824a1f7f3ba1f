// SPDX-License-Identifier: Apache-2.0
#include "stats/counted_attempt.h"

#include <algorithm>
#include <tuple>

#include "base/error.h"

namespace tench {

bool CountsLess(const Attempt& a, const Attempt& b) {
  return std::tuple(!a.slow, !a.disturbed, a.number) < std::tuple(!b.slow, !b.disturbed, b.number);
}

size_t CountedAttempt(std::span<const Attempt> attempts) {
  Check(!attempts.empty(), "there must be at least one attempt");
  const auto counted = std::max_element(attempts.begin(), attempts.end(), CountsLess);
  return static_cast<size_t>(counted - attempts.begin());
}

}  // namespace tench
