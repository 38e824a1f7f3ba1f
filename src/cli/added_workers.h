// SPDX-License-Identifier: Apache-2.0
#pragma once
// `tench sweep --workers`: workers that are measured besides those of a suite. They join every
// block that compares workers; a block with a single worker keeps it. Pure; not aware of which
// workers exist.

#include <string>
#include <vector>

#include "plan/suite.h"

namespace tench {

void AddWorkers(const std::vector<std::string>& names, Suite& suite);

}  // namespace tench
