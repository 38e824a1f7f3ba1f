// SPDX-License-Identifier: Apache-2.0
#include "report/group_steps.h"

#include "base/text.h"

namespace tench {

void GroupSteps::Add(const std::string& group, const RunRecord& run) {
  std::optional<RoundTime> time = RoundTimeOf(run);
  if (!time) return;
  const std::string cell = fmt::format("{}\n{}\n{}\n{}\n{}\n{}", run.machine_id, run.cell_id,
                                       run.worker_version, run.build, run.solver, run.rules);
  CellSteps& steps = groups_[group][cell];
  steps.fingerprint = run.fingerprint;
  steps.is_scale = run.role_or_usual() == Role::kOracle;
  steps.times.push_back(*std::move(time));
}

std::vector<GroupStep> GroupSteps::Of(const std::string& group,
                                      const std::string& fingerprint) const {
  std::vector<GroupStep> found;
  const auto cells = groups_.find(group);
  if (cells == groups_.end()) return found;
  for (const auto& [cell, steps] : cells->second) {
    if (!fingerprint.empty() && !steps.fingerprint.empty() && fingerprint != steps.fingerprint)
      continue;
    found.push_back({MedianStepNs(CountedTimes(steps.times)), steps.is_scale});
  }
  return found;
}

}  // namespace tench
