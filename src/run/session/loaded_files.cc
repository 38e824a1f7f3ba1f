// SPDX-License-Identifier: Apache-2.0
#include "run/session/loaded_files.h"

#include <limits.h>
#include <unistd.h>

#include <set>
#include <utility>

#include "base/file.h"
#include "base/process_map.h"
#include "machine/sampler.h"
#include "net/builder.h"
#include "run/session/run_outcome.h"
#include "run/session/run_request.h"
#include "run/session/worker_launch.h"
#include "run/session/worker_session.h"

namespace tench {
namespace {

// Longer than a run's deadline for hello: a worker that misses the deadline only sometimes would
// change its build.
constexpr int64_t kPatienceNs = 180'000'000'000;
// More steps than any worker executes before it is killed, because an exited process has no map.
constexpr int64_t kSteps = 1'000'000;
constexpr const char* kPackagesFact = "packages";

// The smallest job with a matrix product, for which libraries load their kernels.
Job SmallJob() {
  const ParameterRule weights{{FillKind::kXavier, 0, 0}};
  GraphBuilder builder("build_probe");
  builder.Append("data", Input{InputRole::kData, {16}, {FillKind::kGaussian, 0, 1}}, {});
  builder.Append("label", Input{InputRole::kLabel, {}, {FillKind::kInteger, 0, 4}}, {});
  builder.Append("fc", FullyConnected{4}, {"data"}, weights);
  builder.Append("loss", SoftmaxCrossEntropy{}, {"fc", "label"});
  Job job;
  job.network = builder.Take();
  job.batch = 8;
  job.threads = 1;
  job.budget.warmup_steps = 1;  // its line is sent at once
  job.budget.fixed_steps = kSteps;
  return job;
}

// The target of /proc/PID/exe; "" if the process no longer exists.
std::filesystem::path ExecutableOf(pid_t pid) {
  char target[PATH_MAX];
  const ssize_t length = readlink(fmt::format("/proc/{}/exe", pid).c_str(), target, sizeof target);
  if (length <= 0) return {};
  return std::string(WithoutDeletedMark({target, static_cast<size_t>(length)}));
}

class LoadedFilesProbe {
 public:
  explicit LoadedFilesProbe(StopToken stop) : stop_(stop) {}

  Result<LoadedCode> Run(WorkerLaunch launch, const std::string& version) {
    SessionOptions options;
    options.timeout_ns = kPatienceNs;
    options.hello_ns = 0;
    options.stop_grace_ns = 0;
    options.version = version;
    options.end_on_divergence = false;
    options.on_message = [this](const Message& message) -> Status {
      if (const auto* hello = std::get_if<Hello>(&message)) {
        const auto packages = hello->worker.facts.find(kPackagesFact);
        if (packages != hello->worker.facts.end()) packages_ = packages->second;
      }
      if (std::holds_alternative<Steps>(message) && files_.empty()) {
        Gather();
        // Not an error, which would end the session at once: a result that is already sent must be
        // read.
        enough_.RequestStop();
      }
      return Ok();
    };
    options.on_tick = [this]() -> Status {
      if (stop_.stop_requested()) enough_.RequestStop();
      return Ok();
    };
    WorkerSession session = TENCH_TRY(WorkerSession::Start(std::move(launch), std::move(options)));
    pid_ = session.process().pid();
    session.Watch(nullptr, enough_.token());
    if (stop_.stop_requested()) return Failed("stopped");
    const auto& ending = session.ending();
    if (!session.protocol().hello())
      return LoadedCode{{}, "", OutcomeOf(EvidenceOf(session, Job())).reason};
    // If the worker exited by itself, its map may have been read too late.
    if (files_.empty() || !ending || ending->outcome != Outcome::kInterrupted)
      return Failed("the worker made no step that could be watched");
    return LoadedCode{{files_.begin(), files_.end()}, packages_, ""};
  }

 private:
  void Gather() {
    ProcessSampler processes;
    processes.Take(pid_, 0);
    for (const pid_t pid : processes.Pids()) {
      const Result<std::string> maps = ReadFile(fmt::format("/proc/{}/maps", pid));
      std::filesystem::path executable = ExecutableOf(pid);
      if (!maps.ok() || maps->empty() || executable.empty()) continue;
      files_.insert(std::move(executable));
      for (const std::string& library : LibrariesIn(*maps)) files_.insert(library);
    }
  }

  const StopToken stop_;  // of the user
  StopSource enough_;
  pid_t pid_ = 0;
  std::set<std::filesystem::path> files_;
  std::string packages_;
};

}  // namespace

Result<LoadedCode> LoadedFiles(const WorkerEntry& entry, const std::string& version,
                               StopToken stop) {
  const TemporaryFolder folder = TENCH_TRY(TemporaryFolder::Make(kRunFolderPrefix));
  WorkerLaunch launch = TENCH_TRY(JobLaunch(entry, SmallJob(), version, folder.path()));
  return LoadedFilesProbe(stop).Run(std::move(launch), version);
}

}  // namespace tench
