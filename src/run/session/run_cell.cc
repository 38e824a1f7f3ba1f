// SPDX-License-Identifier: Apache-2.0
#include "run/session/run_cell.h"

#include <utility>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "machine/affinity.h"
#include "run/session/instruments.h"
#include "run/session/job_plan.h"
#include "run/session/run_outcome.h"
#include "run/session/worker_environment.h"
#include "run/session/worker_launch.h"
#include "run/session/worker_session.h"

namespace tench {
namespace {

constexpr int kHighestOomScore = 1000;

// Prepared before the worker starts. A failure here is the machine's (no space, no descriptors),
// not the worker's.
struct Preparation {
  TemporaryFolder folder;
  WorkerLaunch launch;
};

Result<Preparation> Prepare(const WorkerEntry& entry, const Job& job, const std::string& version) {
  TemporaryFolder folder = TENCH_TRY(TemporaryFolder::Make(kRunFolderPrefix));
  WorkerLaunch launch = TENCH_TRY(JobLaunch(entry, job, version, folder.path()));
  launch.spawn.oom_score_adj = kHighestOomScore;
  return Preparation{std::move(folder), std::move(launch)};
}

class Run {
 public:
  Run(const RunRequest& request, const std::function<void(const RunProgress&)>& progress,
      StopToken stop)
      : request_(request),
        progress_(progress),
        stop_(stop),
        started_ns_(NowNs()),
        result_{DraftRecord(request), {}} {}

  RunResult Go(const WorkerCatalog& workers) {
    Try(workers);
    RunSummary& summary = result_.record.summary;
    const int64_t end_ns = NowNs();
    summary.wall_ns = end_ns - started_ns_;
    summary.overhead_ns = summary.wall_ns - worked_ns_;
    return std::move(result_);
  }

 private:
  void Conclude(Outcome outcome, std::string reason) {
    result_.record.outcome = outcome;
    result_.record.reason = std::move(reason);
  }

  void Try(const WorkerCatalog& workers) {
    RunRecord& record = result_.record;
    const auto [name, version] = WorkerName::Of(request_.planned.cell.Text(kAxisWorker));
    // Planned even where nothing can run, for the facts about the network.
    Result<Job> job = PlanJob(request_.planned, static_cast<int64_t>(AllowedCpus().size()), record,
                              request_.readers);
    if (job) job->profile = request_.profile;
    if (job && request_.amend) {
      if (Status amended = request_.amend(*job); !amended) job = std::move(amended).error();
    }
    const Result<const WorkerEntry*> entry = workers.Find(name);
    if (!entry) return Conclude(Outcome::kUnsupported, entry.error().message);
    if (!(*entry)->installed()) return Conclude(Outcome::kUnsupported, (*entry)->NotInstalled());
    if (!job) return Conclude(Outcome::kUnsupported, job.error().message);
    if (stop_.stop_requested()) return Conclude(Outcome::kInterrupted, "stopped before it began");
    Result<Preparation> preparation = Prepare(**entry, *job, version);
    if (!preparation)
      return Conclude(Outcome::kInterrupted,
                      "the run could not be prepared: " + preparation.error().message);
    record.environment_json = EnvironmentToJson(preparation->launch.spawn.environment);
    Launch(*preparation, *job, name, version);
  }

  void Launch(Preparation& preparation, const Job& job, const std::string& name,
              const std::string& version) {
    SessionOptions options =
        SessionOptions::Limited(request_.planned.limits, version, Instruments::OfThisMachine());
    options.gpu = GpuIndex(job.device);
    Result<WorkerSession> session =
        WorkerSession::Start(std::move(preparation.launch), std::move(options));
    if (!session) return Conclude(Outcome::kCrashed, session.error().message);
    session->Watch(progress_, stop_);
    worked_ns_ = session->process().exit_ns() - session->process().executed_ns();
    Record(*session, job, name);
  }

  void Record(const WorkerSession& session, const Job& job, const std::string& name) {
    RunRecord& record = result_.record;
    const ProtocolState& protocol = session.protocol();
    const Evidence evidence = EvidenceOf(session, job.budget.fixed_steps);
    RunOutcome end = OutcomeOf(evidence);
    Conclude(end.outcome, std::move(end.reason));
    record.summary = Summarise(protocol, job.budget, session.seen());
    record.flags = FlagsOf(record, protocol, session.memory().swapped(),
                           evidence.lingered || !evidence.exit.clean(), name);
    if (const auto& hello = protocol.hello()) {
      record.worker_version = hello->worker.version;
      record.worker_json = ToLine(*hello);
    }
    if (const auto& built = protocol.built()) record.choices_json = PrintJson(Json(built->choices));
    if (const auto& done = protocol.done()) result_.profile = done->profile;
    result_.series = protocol.series();
    result_.series.samples = session.seen().samples.Encode();
    result_.series.log = session.process().log().Text();
  }

  const RunRequest& request_;
  const std::function<void(const RunProgress&)>& progress_;
  const StopToken stop_;
  int64_t started_ns_;
  int64_t worked_ns_ = 0;  // from exec to exit
  RunResult result_;
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
