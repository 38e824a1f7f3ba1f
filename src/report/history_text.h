// SPDX-License-Identifier: Apache-2.0
#pragma once
// Renders a history: an aligned table per cell and segment, JSON with everything, and a gate.
// Thread safety: pure functions.

#include <string>

#include "base/json.h"
#include "report/gate.h"
#include "report/history.h"

namespace tench {

std::string RenderHistory(const History& history, size_t width = 0);
Json HistoryToJson(const History& history);

// One case per cell and machine, from its newest segment: `slower` if its newest confirmed level
// change is slower, `ambiguous` if a slower change is a candidate. A change that the machine caused
// is no finding.
// Another case, `failed`, if runs of the cell failed in its newest study.
Gate GateOf(const History& history);

// "slower by 5.1 % from here on (p = 2e-05)"
std::string ChangeText(const LevelChange& change);

}  // namespace tench
