// SPDX-License-Identifier: Apache-2.0
#pragma once
// The compared groups (plan/matrix.h) of a study whose runs make the same number of timed steps,
// and the budgets of the pilots that plan this number.
//
// A group has a plan if at least two of its cells are measured under the stop rule, or have
// different numbers of fixed steps; in a study in turns, if it has at least two cells. The
// reference, a scale and no competitor, is left out: its steps may take a thousand times longer.
// Pure.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plan/matrix.h"
#include "store/record.h"

namespace tench {

inline constexpr int64_t kFewestSteps = 5;

struct StepGroup {
  std::string name;           // ComparedGroup of its cells
  std::vector<size_t> cells;  // positions; at least two
  int64_t least_steps = kFewestSteps;
  std::optional<int64_t> steps;  // if a cell fixes them, the most that a cell fixes: no pilot
};

std::vector<StepGroup> StepGroups(std::span<const PlannedCell> cells,
                                  StudyPairing pairing = StudyPairing::kRounds);

inline constexpr int64_t kFirstPilotSteps = 2;

// Runs a cell once under a budget; nullopt unless the run was ok.
using Pilot = std::function<std::optional<RunSummary>(size_t cell, const Budget& budget)>;

// The number of steps of every run of the group. A first pilot of two steps of every cell finds the
// cell with the longest steps; a second pilot of that cell obeys the stop rule, and its steps are
// the plan's. nullopt if no cell can be measured.
std::optional<int64_t> PlannedSteps(const StepGroup& group, std::span<const PlannedCell> cells,
                                    const Pilot& pilot);

}  // namespace tench
