// SPDX-License-Identifier: Apache-2.0
#include "run/session/training.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "base/clock.h"
#include "base/file.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "protocol/channel.h"
#include "run/session/job_launch.h"
#include "run/session/protocol_state.h"

namespace tench {
namespace {

constexpr int64_t kLookEveryNs = 100'000'000;
// A step of a large network on a small machine may take a minute, and a snapshot a while to write.
constexpr int64_t kStopGraceNs = int64_t{300} * 1'000'000'000;
constexpr int64_t kExitGraceNs = int64_t{5} * 1'000'000'000;

class Training {
 public:
  Training(Subprocess child, Fd answers, const Snapshots& snapshots, std::string version,
           const TrainingEvents& events, StopToken stop)
      : child_(std::move(child)),
        channel_(std::move(answers)),
        snapshots_(snapshots.folder),
        after_(snapshots.after),
        version_(std::move(version)),
        events_(events),
        stop_(stop) {}

  Result<TrainingEnd> Watch() {
    Result<TrainingEnd> end = Follow();
    child_.End(end.ok() ? kExitGraceNs : 0);
    return end;
  }

 private:
  Result<TrainingEnd> Follow() {
    while (!channel_.ended()) {
      const ChannelRead read = channel_.Next(NowNs() + kLookEveryNs);
      if (read.kind == ChannelRead::Kind::kTooLong || read.kind == ChannelRead::Kind::kHalfLine)
        return Failed("the worker broke the protocol: {}", Printable(read.text));
      if (read.kind == ChannelRead::Kind::kLine) TENCH_TRY(Take(read.text));
      TENCH_TRY(TakeSnapshots(told_));
      if (stop_.stop_requested()) TENCH_TRY(Stop());
    }
    child_.Wait(NowNs() + kExitGraceNs);
    TENCH_TRY(TakeSnapshots(std::numeric_limits<int64_t>::max()));
    if (conversation_.done()) return TrainingEnd::kComplete;
    if (asked_ns_ != 0) return TrainingEnd::kStopped;
    return Failed("the worker ended before its work was done ({})",
                  child_.status() ? child_.status()->ToString() : "it still runs");
  }

  Status Greet(const Hello& hello) {
    if (!IsVersion(version_, hello.worker.version))
      return Unsupported("version {} was asked for, but {} is installed", version_,
                         Printable(hello.worker.version));
    return events_.on_hello ? events_.on_hello(hello) : Ok();
  }

  Status Take(const std::string& line) {
    TENCH_TRY(conversation_.Take(line).In("the worker broke the protocol"));
    const Message message = TENCH_TRY(ParseMessage(line));
    if (const auto* failure = std::get_if<Failure>(&message))
      return Error{failure->message, failure->kind};
    if (const auto* hello = std::get_if<Hello>(&message)) return Greet(*hello);
    if (const auto* steps = std::get_if<Steps>(&message)) return Tell(*steps);
    return Ok();
  }

  // A line may tell of steps on both sides of a snapshot: the ones before it come first, then the
  // snapshot, then the rest.
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

  // Those after at most so many steps. The ones that are whole have a number for a name.
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

  Status Stop() {
    if (asked_ns_ == 0) {
      asked_ns_ = NowNs();
      child_.Signal(SIGTERM);
    }
    if (NowNs() - asked_ns_ > kStopGraceNs)
      return Failed("the worker did not stop within {} s", kStopGraceNs / 1'000'000'000);
    return Ok();
  }

  Subprocess child_;
  Channel channel_;
  Conversation conversation_;
  std::filesystem::path snapshots_;
  std::vector<int64_t> after_;  // the steps after which there will be one
  int64_t told_ = 0;            // steps
  const std::string version_;   // that was asked for
  const TrainingEvents& events_;
  const StopToken stop_;
  int64_t asked_ns_ = 0;  // when the worker was asked to stop
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
  SpawnOptions spawn = TENCH_TRY(LaunchOf(entry, job, version, folder.path()));
  spawn.output_fd = STDERR_FILENO;  // a framework's own words belong to the log
  Pipe answers = TENCH_TRY(Pipe::Make());
  spawn.extra_fd = answers.out.get();
  Subprocess child = TENCH_TRY(Subprocess::Spawn(spawn));
  answers.out.Close();
  return Training(std::move(child), std::move(answers.in), job.snapshots, version, events, stop)
      .Watch();
}

}  // namespace tench
