// SPDX-License-Identifier: Apache-2.0
#include "run/session/run_cell.h"

#include <utility>

#include "base/file.h"
#include "machine/placement.h"
#include "run/session/instruments.h"
#include "run/session/job_plan.h"
#include "run/session/run_recorder.h"
#include "run/session/worker_environment.h"
#include "run/session/worker_launch.h"
#include "run/session/worker_session.h"

namespace tench {
namespace {

constexpr int kHighestOomScore = 1000;

// Created before the worker starts: a failure here is the machine's (no space, no descriptors), not
// the worker's.
struct Preparation {
  TemporaryFolder folder;
  WorkerLaunch launch;
};

Result<Preparation> Prepare(const WorkerEntry& entry, const Job& job, const std::string& version,
                            const PlacementName& placement) {
  TemporaryFolder folder = TENCH_TRY(TemporaryFolder::Make(kRunFolderPrefix));
  WorkerLaunch launch = TENCH_TRY(JobLaunch(entry, job, version, folder.path(), placement));
  launch.spawn.oom_score_adj = kHighestOomScore;
  return Preparation{std::move(folder), std::move(launch)};
}

class Run {
 public:
  Run(const RunRequest& request, const std::function<void(const RunProgress&)>& progress,
      StopToken stop)
      : request_(request), progress_(progress), stop_(stop), recorder_(request) {}

  RunResult Go(const WorkerCatalog& workers) {
    Try(workers);
    return recorder_.Finish();
  }

 private:
  void Try(const WorkerCatalog& workers) {
    const auto [name, version] = WorkerName::Of(request_.planned.cell.Text(kAxisWorker));
    // The job is planned even if no worker can run it, because the record needs the network's
    // facts.
    const PlannedCell executed = ExecutedCell(request_);
    Result<Job> job =
        PlanJob(executed, CpusFor(executed.cell), recorder_.facts(), request_.readers);
    if (job) job->profile = request_.profile;
    if (job) job->search_ns = request_.search_ns;
    if (job && request_.amend) {
      if (Status amended = request_.amend(*job); !amended) job = std::move(amended).error();
    }
    if (job) recorder_.facts().solver = SolverText(job->solver);
    const Result<const WorkerEntry*> entry = workers.Find(name);
    if (!entry) return recorder_.NotRun(Outcome::kUnsupported, entry.error().message);
    if (!(*entry)->installed())
      return recorder_.NotRun(Outcome::kUnsupported, (*entry)->NotInstalled());
    if (!job) return recorder_.NotRun(Outcome::kUnsupported, job.error().message);
    if (stop_.stop_requested())
      return recorder_.NotRun(Outcome::kInterrupted, "stopped before the start");
    Result<Preparation> preparation = Prepare(**entry, *job, version, PlacementOf(executed.cell));
    if (!preparation && preparation.error().kind == ErrorKind::kUnsupported)
      return recorder_.NotRun(Outcome::kUnsupported, preparation.error().message);
    if (!preparation)
      return recorder_.NotRun(Outcome::kInterrupted,
                              "the run could not be prepared: " + preparation.error().message);
    const std::vector<int> cpus = preparation->launch.spawn.cpus;
    recorder_.facts().cpus_json = PrintJson(PlacementToJson(ReadTopology(cpus), cpus));
    recorder_.facts().environment_json = EnvironmentToJson(preparation->launch.spawn.environment);
    Launch(std::move(preparation->launch), *job, version);
  }

  void Launch(WorkerLaunch launch, const Job& job, const std::string& version) {
    SessionOptions options =
        SessionOptions::Limited(request_.planned.limits, version, Instruments::OfThisMachine());
    options.gpu = GpuIndex(job.device);
    Result<WorkerSession> session = WorkerSession::Start(std::move(launch), std::move(options));
    if (!session) return recorder_.NotRun(Outcome::kCrashed, session.error().message);
    session->Watch(progress_, stop_);
    recorder_.Ran(*session, job);
  }

  const RunRequest& request_;
  const std::function<void(const RunProgress&)>& progress_;
  const StopToken stop_;
  RunRecorder recorder_;
};

}  // namespace

RunResult RunCell(WorkerCatalog& workers, const RunRequest& request,
                  const std::function<void(const RunProgress&)>& progress, StopToken stop) {
  return Run(request, progress, stop).Go(workers);
}

void RemoveAbandonedRunFolders() {
  for (const char* prefix : {kRunFolderPrefix, kParityFolderPrefix})
    TemporaryFolder::RemoveAbandoned(prefix);
}

}  // namespace tench
