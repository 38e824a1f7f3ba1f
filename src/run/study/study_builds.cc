// SPDX-License-Identifier: Apache-2.0
#include "run/study/study_builds.h"

#include "base/text.h"
#include "record/worker_version.h"
#include "run/session/worker_build.h"

namespace tench {
namespace {

std::string BuildText(const std::string& build) {
  return build.empty() ? "not installed" : ShortBuild(build);
}

}  // namespace

Result<WorkerBuilds> BuildsOf(WorkerCatalog& workers, const std::vector<PlannedCell>& cells,
                              const std::function<void(const std::string& worker)>& identify,
                              StopToken stop) {
  WorkerBuilds builds;
  for (const PlannedCell& planned : cells) {
    const std::string& worker = planned.cell.Text(kAxisWorker);
    const auto [known, is_new] = builds.try_emplace(worker);
    if (!is_new) continue;
    const auto [name, version] = WorkerName::Of(worker);
    const Result<const WorkerEntry*> entry = workers.Find(name);
    if (!entry.ok() || !(*entry)->installed()) continue;
    identify(worker);
    const auto build = workers.Build(**entry, version, stop);
    if (stop.stop_requested()) return Failed("stopped before the study began");
    if (build.ok()) known->second = (*build)->id;
  }
  return builds;
}

std::string WhyNotContinued(const StudyRecord& study, const WorkerBuilds& builds) {
  std::vector<std::string> reasons;
  if (study.rules != kRules)
    reasons.push_back(
        fmt::format("it was measured by rules {}, and these are rules {}", study.rules, kRules));
  for (const auto& [worker, build] : builds) {
    const auto before = study.builds.find(worker);
    // No run of a worker that was not installed has a time, so its build cannot be mixed.
    if (before == study.builds.end() || before->second.empty() || before->second == build) continue;
    reasons.push_back(fmt::format("{} changed ({}, now {})", worker, BuildText(before->second),
                                  BuildText(build)));
  }
  if (reasons.empty()) return "";
  return fmt::format("study {} is not continued: {}; a new study begins", study.id,
                     Join(reasons, ", "));
}

Status CheckUnchanged(WorkerCatalog& workers, const std::string& worker) {
  const auto [name, version] = WorkerName::Of(worker);
  const Result<const WorkerEntry*> entry = workers.Find(name);
  if (!entry.ok() || !(*entry)->installed()) return Ok();
  const auto build = workers.Build(**entry, version);
  if (!build.ok() || (*build)->Unchanged()) return Ok();
  return Failed("{} was rebuilt while the study ran; the same command begins a new study", worker);
}

}  // namespace tench
