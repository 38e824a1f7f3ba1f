// SPDX-License-Identifier: Apache-2.0
#pragma once
// Recomputes the update of kSteady, by any of net/solver.h, in double from the worker's own
// gradient, histories and weights, element by element, so that a wrong momentum, decay, rate or
// multiplier shows at any depth: the comparison does not depend on how the gradient reacts to
// rounding. Pure except for reading files.

#include <filesystem>
#include <vector>

#include "parity/comparison.h"
#include "parity/trial.h"

namespace tench {

// The largest difference of each parameter and its histories, in ulps of the largest term. A
// missing tensor is an infinite difference.
std::vector<Deviation> CheckUpdate(const Trial& trial, const std::filesystem::path& folder);

}  // namespace tench
