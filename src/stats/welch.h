// SPDX-License-Identifier: Apache-2.0
#pragma once
// Welch's interval of the difference of two means with unequal variances.
// Thread safety: pure.

#include <optional>
#include <span>

#include "stats/stats.h"

namespace tench {

// The 95 % interval of mean(b) - mean(a); nullopt if a side has fewer than two values.
std::optional<Interval> MeanDifference(std::span<const double> a, std::span<const double> b);

}  // namespace tench
