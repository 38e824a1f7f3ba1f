// SPDX-License-Identifier: Apache-2.0
#include "run/study/step_groups.h"

#include <algorithm>
#include <unordered_map>

#include "record/role.h"

namespace tench {
namespace {

bool HasPlan(const StepGroup& group, std::span<const PlannedCell> cells, StudyPairing pairing) {
  if (group.cells.size() < 2) return false;
  if (pairing == StudyPairing::kTurns) return true;
  const Budget& first = cells[group.cells.front()].budget;
  return std::any_of(group.cells.begin(), group.cells.end(), [&](size_t cell) {
    const Budget& budget = cells[cell].budget;
    return budget.fixed_steps == 0 || budget.fixed_steps != first.fixed_steps;
  });
}

}  // namespace

std::vector<StepGroup> StepGroups(std::span<const PlannedCell> cells, StudyPairing pairing) {
  std::vector<StepGroup> groups;
  std::unordered_map<std::string, size_t> known;
  for (size_t i = 0; i < cells.size(); ++i) {
    const PlannedCell& cell = cells[i];
    // Epochs state a number of steps that the suite wants as it is.
    if (cell.budget.epochs > 0 || UsualRole(cell.cell.Text(kAxisWorker)) == Role::kOracle) continue;
    const auto [place, is_new] = known.emplace(ComparedGroup(cell.cell), groups.size());
    if (is_new) groups.push_back({place->first, {}, kFewestSteps, {}});
    StepGroup& group = groups[place->second];
    group.cells.push_back(i);
    if (cell.budget.fixed_steps > 0) {
      group.steps = std::max(group.steps.value_or(kFewestSteps), cell.budget.fixed_steps);
    } else {
      group.least_steps = std::max(group.least_steps, cell.budget.min_steps);
    }
  }
  std::erase_if(groups, [&](const StepGroup& group) { return !HasPlan(group, cells, pairing); });
  return groups;
}

std::optional<int64_t> PlannedSteps(const StepGroup& group, std::span<const PlannedCell> cells,
                                    const Pilot& pilot) {
  if (group.steps) return group.steps;
  std::optional<size_t> slowest;
  double longest_ns = 0;
  for (const size_t cell : group.cells) {
    Budget budget = cells[cell].budget;
    budget.fixed_steps = kFirstPilotSteps;
    const std::optional<RunSummary> first = pilot(cell, budget);
    if (!first || !first->step_ns_min) continue;
    if (slowest && *first->step_ns_min <= longest_ns) continue;
    slowest = cell;
    longest_ns = *first->step_ns_min;
  }
  if (!slowest) return std::nullopt;
  Budget budget = cells[*slowest].budget;
  budget.min_steps = std::max(budget.min_steps, group.least_steps);
  const std::optional<RunSummary> second = pilot(*slowest, budget);
  return std::max(group.least_steps, second ? second->steps : 0);
}

}  // namespace tench
