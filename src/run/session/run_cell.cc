// SPDX-License-Identifier: Apache-2.0
#include "run/session/run_cell.h"

#include <utility>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "machine/affinity.h"
#include "run/session/instruments.h"
#include "run/session/job_launch.h"
#include "run/session/job_plan.h"
#include "run/session/memory_watch.h"
#include "run/session/run_outcome.h"
#include "run/session/worker_environment.h"
#include "run/session/worker_session.h"

namespace tench {
namespace {

constexpr int kHighestOomScore = 1000;

// Everything that has to stand before the worker is started; a failure here is the machine's (no
// space, no descriptors), not the worker's.
struct Preparation {
  TemporaryFolder folder;
  Pipe answers, log;
  SpawnOptions spawn;
};

Result<Preparation> Prepare(const WorkerEntry& entry, const Job& job, const std::string& version) {
  Preparation made{TENCH_TRY(TemporaryFolder::Make(kRunFolderPrefix)),
                   TENCH_TRY(Pipe::Make()),
                   TENCH_TRY(Pipe::Make()),
                   {}};
  made.spawn = TENCH_TRY(LaunchOf(entry, job, version, made.folder.path()));
  made.spawn.output_fd = made.log.out.get();
  made.spawn.extra_fd = made.answers.out.get();
  made.spawn.oom_score_adj = kHighestOomScore;
  return made;
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

  RunResult Execute(const WorkerCatalog& workers) {
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
    record.environment_json = EnvironmentToJson(preparation->spawn.environment);
    Launch(*preparation, *job, name, version);
  }

  void Launch(Preparation& preparation, const Job& job, const std::string& name,
              const std::string& version) {
    Instruments& instruments = Instruments::OfThisMachine();
    const Limits& limits = request_.planned.limits;
    const int64_t limit_bytes =
        limits.memory_bytes > 0 ? limits.memory_bytes : MemoryLimitBytes(instruments.memory_bytes);
    const MemoryWatch memory(limit_bytes, limits.swap, OomKills());
    const int64_t launched_ns = NowNs();
    Result<Subprocess> child = Subprocess::Spawn(preparation.spawn);
    if (!child) return Conclude(Outcome::kCrashed, child.error().message);
    const int64_t executed_ns = NowNs();
    preparation.answers.out.Close();
    preparation.log.out.Close();
    SupervisionOptions options;
    options.timeout_ns = limits.timeout_ns;
    options.version = version;
    options.gpu = GpuIndex(job.device);
    Supervision supervision(*std::move(child), std::move(preparation.answers.in),
                            std::move(preparation.log.in), launched_ns, options, memory,
                            instruments);
    supervision.Watch(progress_, stop_);
    worked_ns_ = supervision.exit_ns() - executed_ns;
    Record(supervision, job, name);
  }

  void Record(const Supervision& supervision, const Job& job, const std::string& name) {
    RunRecord& record = result_.record;
    const Conversation& conversation = supervision.conversation();
    const ExitStatus exit = supervision.seen().exit.value_or(ExitStatus{});
    const Verdict verdict =
        Judge({conversation, supervision.ending(), exit, supervision.half_line(),
               supervision.lingered(), supervision.log().LastLine(),
               supervision.memory().ExplainKill(OomKills()), job.budget.fixed_steps});
    Conclude(verdict.outcome, verdict.reason);
    record.summary = Summarise(conversation, job.budget, supervision.seen());
    record.flags = FlagsOf(record, conversation, supervision.memory().swapped(),
                           supervision.lingered() || !exit.clean(), name);
    if (const auto& hello = conversation.hello()) {
      record.worker_version = hello->worker.version;
      record.worker_json = ToLine(*hello);
    }
    if (const auto& built = conversation.built())
      record.choices_json = PrintJson(Json(built->choices));
    if (const auto& done = conversation.done()) result_.profile = done->profile;
    result_.series = conversation.series();
    result_.series.samples = supervision.seen().samples.Encode();
    result_.series.log = supervision.log().Text();
  }

  const RunRequest& request_;
  const std::function<void(const RunProgress&)>& progress_;
  const StopToken stop_;
  int64_t started_ns_;
  int64_t worked_ns_ = 0;  // from exec to exit
  RunResult result_;
};

}  // namespace

RunResult Execute(WorkerCatalog& workers, const RunRequest& request,
                  const std::function<void(const RunProgress&)>& progress, StopToken stop) {
  return Run(request, progress, stop).Execute(workers);
}

void RemoveAbandonedRunFolders() {
  for (const char* prefix : {kRunFolderPrefix, kParityFolderPrefix})
    TemporaryFolder::RemoveAbandoned(prefix);
}

}  // namespace tench
