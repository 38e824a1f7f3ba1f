// SPDX-License-Identifier: Apache-2.0
#pragma once
// The plan of a study's compared groups: the number of timed steps of their runs, and whether they
// are measured in turns (step_groups.h, turn_planner.h). Pilots plan a group once per study. Each
// plan is stored at once, so that a resumed study keeps it.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "run/session/worker_catalog.h"
#include "run/study/runner.h"
#include "run/study/step_groups.h"

namespace tench {

// Round and cell id of the runs that are not to be made any more.
using FinishedRuns = std::set<std::pair<int64_t, std::string>>;

class StudyPlan {
 public:
  // Keeps references to all arguments. The plans become part of `study`.
  StudyPlan(Store& store, WorkerCatalog& workers, const StudyRequest& request, StudyRecord& study,
            RunnerEvents& events);

  // Plans the groups that have no plan yet and a run to make. Ends early once `interrupted` is
  // true, which the pilot may set.
  Status Plan(const FinishedRuns& finished, const Pilot& pilot, const bool& interrupted);

  // The timed steps of the cell's runs; nullopt = its own budget decides.
  std::optional<int64_t> StepsOf(size_t cell) const;
  // The slices of the cell's runs; 0 = not in turns.
  int64_t SlicesOf(size_t cell) const;
  // The cells that are measured in turns with the cell, itself included, in the round's order.
  std::vector<size_t> RunWith(size_t cell, int64_t round) const;
  // Whether the cell's worker can wait between two steps.
  bool Pauses(const PlannedCell& cell) const;

 private:
  Status PlanSteps(const StepGroup& group, const Pilot& pilot, const bool& interrupted);
  Status PlanTurnsOf(const StepGroup& group, const FinishedRuns& finished, const Pilot& pilot,
                     const bool& interrupted);
  bool HasRunLeft(const StepGroup& group, const FinishedRuns& finished) const;
  std::optional<RunSummary> Run(const Pilot& pilot, size_t cell, const Budget& budget);

  Store& store_;
  WorkerCatalog& workers_;
  const StudyRequest& request_;
  StudyRecord& study_;
  RunnerEvents& events_;
  std::map<size_t, std::string> group_of_;  // of the cells whose steps are planned
  std::map<std::string, std::vector<size_t>> cells_of_;
  std::map<size_t, std::optional<RunSummary>> pilots_;  // the last of each cell; nullopt: not ok
};

}  // namespace tench
