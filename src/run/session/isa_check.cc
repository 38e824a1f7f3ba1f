// SPDX-License-Identifier: Apache-2.0
#include "run/session/isa_check.h"

#include <utility>

#include "run/session/instruments.h"
#include "run/session/run_request.h"
#include "run/session/worker_launch.h"
#include "run/session/worker_session.h"

namespace tench {

IsaEvidence CheckIsaLimit(const WorkerEntry& entry, const std::string& version, Job job,
                          const PlacementName& placement, const Limits& limits, StopToken stop) {
  job.budget = Budget();
  job.budget.warmup_steps = job.budget.fixed_steps = 1;
  job.turns = job.profile = false;
  job.evaluation = {};
  job.snapshots = {};
  job.trace = {};
  job.traced_steps = 0;
  job.environment.merge(IsaReportVariables());
  const Result<TemporaryFolder> folder = TemporaryFolder::Make(kRunFolderPrefix);
  if (!folder) return {};
  Result<WorkerLaunch> launch = JobLaunch(entry, job, version, folder->path(), placement);
  if (!launch) return {};
  Result<WorkerSession> session = WorkerSession::Start(
      *std::move(launch), SessionOptions::Limited(limits, version, Instruments::OfThisMachine()));
  if (!session) return {};
  session->Watch(nullptr, stop);
  IsaEvidence evidence;
  AddLogEvidence(session->process().log().Text(), ReadCpu(), evidence);
  if (const auto& hello = session->protocol().hello())
    AddChoiceEvidence(hello->worker.facts, evidence);
  if (const auto& built = session->protocol().built()) AddChoiceEvidence(built->choices, evidence);
  return evidence;
}

}  // namespace tench
