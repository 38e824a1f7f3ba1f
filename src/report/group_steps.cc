// SPDX-License-Identifier: Apache-2.0
#include "report/group_steps.h"

#include "base/text.h"
#include "stats/stats.h"

namespace tench {

void GroupSteps::Add(const std::string& group, const RunRecord& run) {
  const std::optional<RoundTime> time = RoundTimeOf(run);
  if (!time) return;
  const std::string cell = fmt::format("{}\n{}\n{}\n{}\n{}\n{}", run.machine_id, run.cell_id,
                                       run.worker_version, run.build, run.solver, run.rules);
  CellSteps& steps = groups_[group][cell];
  steps.fingerprint = run.fingerprint;
  steps.is_scale = run.role_or_usual() == Role::kOracle;
  auto& [attempt, step_ns] =
      steps.rounds[{run.study, run.study == 0 ? 0 : run.round, run.study == 0 ? run.id : 0}];
  if (step_ns > 0 && attempt > run.attempt) return;
  attempt = run.attempt;
  step_ns = time->image_ns * time->images;
}

std::vector<GroupStep> GroupSteps::Of(const std::string& group,
                                      const std::string& fingerprint) const {
  std::vector<GroupStep> found;
  const auto cells = groups_.find(group);
  if (cells == groups_.end()) return found;
  for (const auto& [cell, steps] : cells->second) {
    if (!fingerprint.empty() && !steps.fingerprint.empty() && fingerprint != steps.fingerprint)
      continue;
    std::vector<double> step_ns;
    for (const auto& [place, round] : steps.rounds) step_ns.push_back(round.second);
    found.push_back({Median(std::move(step_ns)), steps.is_scale});
  }
  return found;
}

}  // namespace tench
