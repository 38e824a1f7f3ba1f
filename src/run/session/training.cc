// SPDX-License-Identifier: Apache-2.0
#include "run/session/training.h"

#include <unistd.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "run/session/worker_launch.h"
#include "run/session/worker_session.h"

namespace tench {
namespace {

// One step of a large network may take a minute on a small machine, and a snapshot takes time to
// write.
constexpr int64_t kStopGraceNs = int64_t{300} * 1'000'000'000;

class Training {
 public:
  Training(const Snapshots& snapshots, std::string version, const TrainingEvents& events)
      : snapshots_(snapshots.folder),
        after_(snapshots.after),
        version_(std::move(version)),
        events_(events) {}

  Result<TrainingEnd> Run(WorkerLaunch launch, StopToken stop) {
    SessionOptions options;
    options.hello_ns = 0;
    options.stop_grace_ns = kStopGraceNs;
    options.version = version_;
    options.end_on_divergence = false;
    options.on_message = [this](const Message& message) { return Take(message); };
    options.on_tick = [this] { return TakeSnapshots(told_); };
    WorkerSession session = TENCH_TRY(WorkerSession::Start(std::move(launch), std::move(options)));
    session.Watch(nullptr, stop);
    TENCH_TRY(Failures(session));
    TENCH_TRY(TakeSnapshots(std::numeric_limits<int64_t>::max()));
    if (session.protocol().done()) return TrainingEnd::kComplete;
    if (session.ending()) return TrainingEnd::kStopped;
    return Failed("the worker ended before its work was done ({})",
                  session.seen().exit.value_or(ExitStatus{}).ToString());
  }

 private:
  static Status Failures(const WorkerSession& session) {
    if (session.event_error()) return *session.event_error();
    if (const auto& failure = session.protocol().failure())
      return Error{failure->message, failure->kind};
    if (session.half_line())
      return Failed("the worker broke the protocol: {}", Printable(*session.half_line()));
    const auto& ending = session.ending();
    if (!ending) return Ok();
    if (ending->outcome == Outcome::kUnsupported) return Unsupported("{}", ending->reason);
    if (ending->outcome == Outcome::kProtocolError)
      return Failed("the worker broke the protocol: {}", ending->reason);
    if (session.process().grace_expired())
      return Failed("the worker did not stop within {} s", kStopGraceNs / 1'000'000'000);
    return Ok();
  }

  Status Take(const Message& message) {
    if (const auto* hello = std::get_if<Hello>(&message))
      return events_.on_hello ? events_.on_hello(*hello) : Ok();
    if (const auto* steps = std::get_if<Steps>(&message)) return Tell(*steps);
    return Ok();
  }

  // One message may contain steps from before and after a snapshot. Events keep their order:
  // earlier steps, snapshot, later steps.
  Status Tell(const Steps& steps) {
    Steps piece{steps.first, steps.warmup, {}, {}, {}};
    for (size_t i = 0; i < steps.loss.size(); ++i) {
      piece.step_ns.push_back(steps.step_ns[i]);
      if (i < steps.input_ns.size()) piece.input_ns.push_back(steps.input_ns[i]);
      piece.loss.push_back(steps.loss[i]);
      told_ = steps.first + static_cast<int64_t>(i) + 1;
      const bool last = i + 1 == steps.loss.size();
      if (!last && std::ranges::find(after_, told_) == after_.end()) continue;
      TENCH_TRY(events_.on_steps(piece));
      TENCH_TRY(TakeSnapshots(told_));
      piece = {told_, steps.warmup, {}, {}, {}};
    }
    return Ok();
  }

  // Delivers the snapshots after at most `most` steps. Only complete snapshots have a number as
  // name.
  Status TakeSnapshots(int64_t most) {
    std::vector<int64_t> found;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(snapshots_, error)) {
      if (const Result<int64_t> steps = ParseInteger(entry.path().filename().string());
          steps.ok() && *steps <= most)
        found.push_back(*steps);
    }
    std::sort(found.begin(), found.end());
    for (const int64_t steps : found) {
      const std::filesystem::path folder = snapshots_ / std::to_string(steps);
      TENCH_TRY(events_.on_snapshot(steps, folder));
      std::filesystem::remove_all(folder, error);
    }
    return Ok();
  }

  std::filesystem::path snapshots_;
  std::vector<int64_t> after_;  // step counts at which a snapshot is due
  int64_t told_ = 0;            // steps delivered so far
  const std::string version_;   // the requested version
  const TrainingEvents& events_;
};

}  // namespace

Result<TrainingEnd> Train(const WorkerEntry& entry, const std::string& version, Job job,
                          const TrainingEvents& events, StopToken stop) {
  if (!entry.installed()) return Unsupported("{}", entry.NotInstalled());
  const TemporaryFolder folder = TENCH_TRY(TemporaryFolder::Make("tench-train-"));
  const std::filesystem::path snapshots = folder.path() / "snapshots";
  std::error_code error;
  std::filesystem::create_directory(snapshots, error);
  if (error) return Failed("{}: {}", snapshots.string(), error.message());
  job.snapshots.folder = snapshots.string();
  WorkerLaunch launch = TENCH_TRY(JobLaunch(entry, job, version, folder.path()));
  // The framework's output belongs in the user's log.
  launch.spawn.output_fd = STDERR_FILENO;
  launch.log = {};
  return Training(job.snapshots, version, events).Run(std::move(launch), stop);
}

}  // namespace tench
