// SPDX-License-Identifier: Apache-2.0
#include "run/study/study_plan.h"

#include <algorithm>

#include "machine/host.h"
#include "run/session/memory_watch.h"
#include "run/study/turn_planner.h"

namespace tench {
namespace {

// Less the reserve that a single run has to leave, too.
int64_t FreeMemoryBytes() {
  const HostFacts host = ReadHost();
  const int64_t usable = host.UsableMemoryBytes();
  const int64_t free = host.available_bytes > 0 ? std::min(usable, host.available_bytes) : usable;
  return MemoryLimitBytes(free);
}

}  // namespace

StudyPlan::StudyPlan(Store& store, WorkerCatalog& workers, const StudyRequest& request,
                     StudyRecord& study, RunnerEvents& events)
    : store_(store), workers_(workers), request_(request), study_(study), events_(events) {}

Status StudyPlan::Plan(const FinishedRuns& finished, const Pilot& pilot, const bool& interrupted) {
  const std::vector<StepGroup> groups = StepGroups(request_.cells, study_.pairing);
  for (const StepGroup& group : groups) {
    for (const size_t cell : group.cells) group_of_[cell] = group.name;
    cells_of_[group.name] = group.cells;
    if (!study_.step_plan.contains(group.name) && HasRunLeft(group, finished))
      TENCH_TRY(PlanSteps(group, pilot, interrupted));
    if (interrupted) return Ok();
  }
  if (study_.pairing != StudyPairing::kTurns) return Ok();
  for (const StepGroup& group : groups) {
    TENCH_TRY(PlanTurnsOf(group, finished, pilot, interrupted));
    if (interrupted) return Ok();
  }
  return Ok();
}

Status StudyPlan::PlanSteps(const StepGroup& group, const Pilot& pilot, const bool& interrupted) {
  const std::optional<int64_t> steps =
      PlannedSteps(group, request_.cells,
                   [&](size_t cell, const Budget& budget) { return Run(pilot, cell, budget); });
  if (interrupted || !steps) return Ok();  // without steps, no cell can be measured
  TENCH_TRY(store_.SetPlannedSteps(study_.id, group.name, *steps));
  study_.step_plan[group.name] = *steps;
  return Ok();
}

Status StudyPlan::PlanTurnsOf(const StepGroup& group, const FinishedRuns& finished,
                              const Pilot& pilot, const bool& interrupted) {
  const auto steps = study_.step_plan.find(group.name);
  if (steps == study_.step_plan.end()) return Ok();
  auto planned = study_.turn_plan.find(group.name);
  if (planned == study_.turn_plan.end()) {
    if (!HasRunLeft(group, finished)) return Ok();
    std::vector<TurnCandidate> candidates;
    for (const size_t cell : group.cells) {
      if (!pilots_.contains(cell)) {
        Budget budget = request_.cells[cell].budget;
        budget.fixed_steps = kFirstPilotSteps;
        Run(pilot, cell, budget);
      }
      if (interrupted) return Ok();
      candidates.push_back({&request_.cells[cell], Pauses(request_.cells[cell]), pilots_[cell]});
    }
    const GroupTurns turns = PlanTurns(candidates, steps->second, FreeMemoryBytes());
    planned = study_.turn_plan.emplace(group.name, turns).first;
    TENCH_TRY(store_.SetTurnPlan(study_.id, study_.turn_plan));
  }
  if (planned->second.slices == 0) events_.OnRounds(group.name, planned->second.reason);
  return Ok();
}

std::optional<RunSummary> StudyPlan::Run(const Pilot& pilot, size_t cell, const Budget& budget) {
  std::optional<RunSummary> summary = pilot(cell, budget);
  // A pilot that failed does not hide an earlier one that was ok.
  if (summary || !pilots_.contains(cell)) pilots_[cell] = summary;
  return summary;
}

bool StudyPlan::HasRunLeft(const StepGroup& group, const FinishedRuns& finished) const {
  return std::any_of(group.cells.begin(), group.cells.end(), [&](size_t cell) {
    for (int64_t round = 0; round < request_.rounds; ++round) {
      if (!finished.contains({round, request_.cells[cell].id})) return true;
    }
    return false;
  });
}

bool StudyPlan::Pauses(const PlannedCell& cell) const {
  const auto [name, version] = WorkerName::Of(cell.cell.Text(kAxisWorker));
  const Result<const WorkerEntry*> entry = workers_.Find(name);
  if (!entry.ok() || !(*entry)->installed()) return false;
  const Result<Description> description = workers_.Describe(**entry, version);
  return description.ok() && description->turns;
}

std::optional<int64_t> StudyPlan::StepsOf(size_t cell) const {
  const auto group = group_of_.find(cell);
  if (group == group_of_.end()) return std::nullopt;
  const auto steps = study_.step_plan.find(group->second);
  return steps == study_.step_plan.end() ? std::nullopt : std::optional(steps->second);
}

int64_t StudyPlan::SlicesOf(size_t cell) const {
  const auto group = group_of_.find(cell);
  if (group == group_of_.end()) return 0;
  const auto turns = study_.turn_plan.find(group->second);
  return turns == study_.turn_plan.end() ? 0 : turns->second.slices;
}

std::vector<size_t> StudyPlan::RunWith(size_t cell, int64_t round) const {
  if (SlicesOf(cell) == 0) return {cell};
  const std::vector<size_t>& group = cells_of_.at(group_of_.at(cell));
  std::vector<size_t> cells;
  for (const size_t place : RoundOrder(group.size(), study_.seed, round))
    cells.push_back(group[place]);
  return cells;
}

}  // namespace tench
