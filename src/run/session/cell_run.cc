// SPDX-License-Identifier: Apache-2.0
#include "run/session/cell_run.h"

#include <utility>

#include "machine/placement.h"
#include "protocol/trace_file.h"
#include "run/session/instruments.h"
#include "run/session/isa_check.h"
#include "run/session/isa_limit.h"
#include "run/session/job_plan.h"
#include "run/session/worker_environment.h"
#include "run/session/worker_launch.h"

namespace tench {
namespace {

constexpr int kHighestOomScore = 1000;

}  // namespace

WorkerSession* CellRun::Start(const WorkerCatalog& workers, StopToken stop) {
  const auto refuse = [&](Outcome outcome, std::string reason) -> WorkerSession* {
    recorder_.NotRun(outcome, std::move(reason));
    return nullptr;
  };
  const auto [name, version] = WorkerName::Of(request_.planned.cell.Text(kAxisWorker));
  // The job is planned even if no worker can run it, because the record needs the network's facts.
  const PlannedCell executed = ExecutedCell(request_);
  Result<Job> job = PlanJob(executed, CpusFor(executed.cell), recorder_.facts(), request_.readers);
  if (job) job->profile = request_.profile;
  if (job) job->search_ns = request_.search_ns;
  if (job) job->turns = request_.turns;
  if (job && request_.amend) {
    if (Status amended = request_.amend(*job); !amended) job = std::move(amended).error();
  }
  if (job) recorder_.facts().solver = SolverText(job->solver);
  const Result<const WorkerEntry*> entry = workers.Find(name);
  if (!entry) return refuse(Outcome::kUnsupported, entry.error().message);
  if (!(*entry)->installed()) return refuse(Outcome::kUnsupported, (*entry)->NotInstalled());
  if (!job) return refuse(Outcome::kUnsupported, job.error().message);
  if (stop.stop_requested()) return refuse(Outcome::kInterrupted, "stopped before the start");
  job_ = *std::move(job);
  if (const std::string& isa = executed.cell.Text(kAxisIsa); isa != kWidestIsa) {
    if (const Status known = CheckIsa(isa, ReadCpu()); !known)
      return refuse(Outcome::kUnsupported, known.error().message);
    const auto [found, fresh] = workers.isa_evidence().try_emplace(executed.cell.Label());
    if (fresh)
      found->second = CheckIsaLimit(**entry, version, job_, PlacementOf(executed.cell),
                                    request_.planned.limits, stop);
    recorder_.CheckedIsa(found->second);
  }
  // A failure here is the machine's (no space, no descriptors), not the worker's.
  Result<WorkerLaunch> launch = [&, &version = version]() -> Result<WorkerLaunch> {
    folder_ = TENCH_TRY(TemporaryFolder::Make(kRunFolderPrefix));
    if (request_.trace) {
      job_.trace = *request_.trace;
      job_.trace.file = (folder_->path() / "trace").string();
      job_.traced_steps = job_.trace.last;
    }
    return JobLaunch(**entry, job_, version, folder_->path(), PlacementOf(executed.cell));
  }();
  if (!launch && launch.error().kind == ErrorKind::kUnsupported)
    return refuse(Outcome::kUnsupported, launch.error().message);
  if (!launch)
    return refuse(Outcome::kInterrupted,
                  "the run could not be prepared: " + launch.error().message);
  launch->spawn.oom_score_adj = kHighestOomScore;
  const std::vector<int> cpus = launch->spawn.cpus;
  recorder_.facts().cpus_json = PrintJson(PlacementToJson(ReadTopology(cpus), cpus));
  recorder_.facts().environment_json = EnvironmentToJson(launch->spawn.environment);
  SessionOptions options =
      SessionOptions::Limited(request_.planned.limits, version, Instruments::OfThisMachine());
  options.gpu = GpuIndex(job_.device);
  options.turns = job_.turns;
  Result<WorkerSession> session = WorkerSession::Start(*std::move(launch), std::move(options));
  if (!session) return refuse(Outcome::kCrashed, session.error().message);
  return &session_.emplace(*std::move(session));
}

RunResult CellRun::Finish() {
  if (session_) recorder_.Ran(*session_, job_);
  RunResult result = recorder_.Finish();
  if (!job_.trace.any() || result.record.outcome != Outcome::kOk) return result;
  // The worker wrote it before its result.
  if (auto trace = ReadTraceFile(job_.trace.file)) result.trace = *std::move(trace);
  return result;
}

}  // namespace tench
