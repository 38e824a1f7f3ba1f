// SPDX-License-Identifier: Apache-2.0
#pragma once
// Names of environment variables that a cell may set for its worker's process. Variables that tench
// sets itself are refused: they follow from an axis or from the run. Thread safety: pure functions.

#include <span>
#include <string_view>

#include "base/error.h"

namespace tench {

// The variables that hold the number of threads of OpenMP and BLAS runtimes.
std::span<const std::string_view> ThreadCountVariables();

// Fails for a text that is no portable name ([A-Za-z_][A-Za-z0-9_]*), and for a variable of tench.
Status CheckEnvironmentName(std::string_view name);

}  // namespace tench
