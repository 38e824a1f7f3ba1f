// SPDX-License-Identifier: Apache-2.0
#include "run/verify/parity_run.h"

#include <utility>

#include "run/session/instruments.h"
#include "run/session/run_outcome.h"
#include "run/session/run_request.h"
#include "run/session/worker_launch.h"
#include "run/session/worker_session.h"

namespace tench {
namespace {

template <class T>
Status WriteLoads(const std::map<std::string, std::vector<T>>& tensors,
                  const std::filesystem::path& folder, Job& job) {
  for (const auto& [name, values] : tensors) {
    const std::filesystem::path file = folder / fmt::format("load{}.bin", job.tensors.load.size());
    TENCH_TRY(WriteRaw(file, std::span<const T>(values)));
    job.tensors.load[name] = file.string();
  }
  return Ok();
}

Result<WorkerLaunch> Prepare(const WorkerEntry& entry, const std::string& version,
                             const Trial& trial, const std::filesystem::path& folder) {
  Job job = trial.job;
  const TensorFiles& wanted = job.tensors;
  if (!wanted.outputs.empty() || wanted.gradients || wanted.parameters || wanted.state)
    job.tensors.folder = (folder / "tensors").string();
  if (!job.snapshots.after.empty()) job.snapshots.folder = (folder / "snapshots").string();
  TENCH_TRY(WriteLoads(trial.reals, folder, job));
  TENCH_TRY(WriteLoads(trial.integers, folder, job));
  return JobLaunch(entry, job, version, folder);
}

}  // namespace

Result<ParityRun> RunTrial(const WorkerEntry& entry, const std::string& version, const Trial& trial,
                           int64_t timeout_ns, StopToken stop) {
  ParityRun run{Outcome::kOk, "", "", {}, TENCH_TRY(TemporaryFolder::Make(kParityFolderPrefix))};
  WorkerLaunch launch = TENCH_TRY(Prepare(entry, version, trial, run.folder.path()));
  Limits limits;
  limits.timeout_ns = timeout_ns;
  Result<WorkerSession> session = WorkerSession::Start(
      std::move(launch), SessionOptions::Limited(limits, version, Instruments::OfThisMachine()));
  if (!session) {
    run.outcome = Outcome::kCrashed;
    run.reason = session.error().message;
    return run;
  }
  session->Watch(nullptr, stop);
  RunOutcome end = OutcomeOf(EvidenceOf(*session, trial.job));
  run.outcome = end.outcome;
  if (end.outcome != Outcome::kOk) run.reason = std::move(end.reason);
  if (const auto& hello = session->protocol().hello()) run.version = hello->worker.version;
  run.losses = session->protocol().series().loss;
  return run;
}

}  // namespace tench
