// SPDX-License-Identifier: Apache-2.0
#include "run/session/worker_session.h"

#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <limits>

#include "base/clock.h"
#include "base/text.h"

namespace tench {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
constexpr int64_t kSampleNs = kSecondNs / 10;
constexpr int64_t kGraceNs = kSecondNs / 2;  // from SIGTERM to SIGKILL: time to send the last steps
constexpr int64_t kUnkillableNs =
    30 * kSecondNs;  // a process that hangs in the kernel is left to it
constexpr int kLinesAtOnce = 256;
constexpr size_t kLogBytesAtOnce = 1 << 20;

}  // namespace

Supervision::Supervision(Subprocess child, Fd answers, Fd log, int64_t launched_ns,
                         SupervisionOptions options, MemoryWatch memory, Instruments& instruments)
    : child_(std::move(child)),
      channel_(std::move(answers)),
      log_fd_(std::move(log)),
      launched_ns_(launched_ns),
      options_(std::move(options)),
      memory_(memory),
      instruments_(instruments) {
  seen_.gpu = options_.gpu;
}

void Supervision::Watch(const std::function<void(const RunProgress&)>& progress, StopToken stop) {
  instruments_.energy.Start();
  next_sample_ns_ = NowNs();
  while (!child_.Wait(0)) {
    const int64_t now_ns = NowNs();
    CheckTimes(now_ns, stop.stop_requested());
    if (killed_ns_ != 0 && now_ns > killed_ns_ + kUnkillableNs) break;
    if (now_ns >= next_sample_ns_) {
      TakeSample(now_ns);
      next_sample_ns_ = now_ns + kSampleNs;
      if (progress) progress(Progress(now_ns));
    }
    WaitForEvent();
    ReadLines();
    log_.Drain(log_fd_, kLogBytesAtOnce);
  }
  exit_ns_ = NowNs();
  instruments_.energy.Poll();
  seen_.cpu_energy_j = instruments_.energy.Joules();
  seen_.exit = child_.End(0);
  // Every writer is gone: what is still in the pipes is all there will be.
  do ReadLines();
  while (more_lines_);
  log_.Drain(log_fd_, std::numeric_limits<size_t>::max());
}

void Supervision::WaitForEvent() {
  const int64_t wake_ns = more_lines_ ? 0 : std::min(next_sample_ns_, NextDeadline());
  const int64_t left_ns = std::max<int64_t>(wake_ns - NowNs(), 0);
  const timespec left{left_ns / kSecondNs, left_ns % kSecondNs};
  pollfd fds[] = {
      {child_.exit_fd(), POLLIN, 0}, {channel_.fd(), POLLIN, 0}, {log_fd_.get(), POLLIN, 0}};
  ppoll(fds, std::size(fds), &left, nullptr);
}

int64_t Supervision::NextDeadline() const {
  if (killed_ns_ != 0) return killed_ns_ + kUnkillableNs;
  if (ending_) return kill_ns_;
  if (quiet_since_ns_ != 0) return quiet_since_ns_ + options_.exit_ns;
  const int64_t deadline_ns = launched_ns_ + options_.timeout_ns;
  return conversation_.hello() ? deadline_ns
                               : std::min(deadline_ns, launched_ns_ + options_.hello_ns);
}

void Supervision::CheckTimes(int64_t now_ns, bool stop) {
  if (killed_ns_ != 0) return;
  if (ending_) {
    if (now_ns >= kill_ns_) Kill();
    return;
  }
  if (conversation_.over()) {
    if (now_ns < quiet_since_ns_ + options_.exit_ns) return;
    lingered_ = true;
    return Kill();
  }
  const int64_t elapsed_ns = now_ns - launched_ns_;
  if (stop) {
    End(Outcome::kInterrupted, fmt::format("stopped while {}", Name(conversation_.stage())),
        kGraceNs);
  } else if (elapsed_ns >= options_.timeout_ns) {
    const size_t steps = conversation_.series().step_ns.size();
    End(Outcome::kTimeout,
        fmt::format("no result within {}; it was {}, with {} timed steps made",
                    HumanNs(static_cast<double>(options_.timeout_ns)), Name(conversation_.stage()),
                    steps),
        kGraceNs);
  } else if (!conversation_.hello() && elapsed_ns >= options_.hello_ns) {
    End(Outcome::kTimeout,
        fmt::format("no hello within {}", HumanNs(static_cast<double>(options_.hello_ns))),
        kGraceNs);
  } else if (quiet_since_ns_ != 0 && now_ns >= quiet_since_ns_ + options_.exit_ns) {
    End(Outcome::kProtocolError, "the worker closed its channel without a result", 0);
  }
}

void Supervision::ReadLines() {
  more_lines_ = false;
  for (int i = 0; i < kLinesAtOnce; ++i) {
    if (channel_.ended() && quiet_since_ns_ != 0) return;
    const ChannelRead read = channel_.Next(0);
    switch (read.kind) {
      case ChannelRead::Kind::kNothing:
        return;
      case ChannelRead::Kind::kLine:
        TakeLine(read.text);
        break;
      case ChannelRead::Kind::kHalfLine:
        half_line_ = read.text;
        break;
      case ChannelRead::Kind::kTooLong:
        End(Outcome::kProtocolError,
            fmt::format("a line of more than {}; it begins: {}", HumanBytes(kMaxLineBytes),
                        Printable(read.text, 80)),
            kGraceNs);
        break;
      case ChannelRead::Kind::kEnd:
        if (quiet_since_ns_ == 0) quiet_since_ns_ = NowNs();
        return;
    }
  }
  more_lines_ = true;
}

void Supervision::TakeLine(const std::string& line) {
  // Of a worker that is being ended for another reason, the steps that it still sends are kept.
  if (ending_ && ending_->outcome == Outcome::kProtocolError) return;
  const Conversation::Stage before = conversation_.stage();
  if (const Status status = conversation_.Take(line); !status) {
    if (!ending_) End(Outcome::kProtocolError, status.error().message, kGraceNs);
    return;
  }
  AfterMessage(before);
}

void Supervision::AfterMessage(Conversation::Stage before) {
  if (conversation_.stage() != before) {
    const int64_t now_ns = NowNs();
    if (before == Conversation::Stage::kStarting) seen_.hello_ns = now_ns - launched_ns_;
    TakeSample(now_ns);
    if (conversation_.over()) quiet_since_ns_ = now_ns;
  }
  if (ending_ || conversation_.over()) return;
  const auto& hello = conversation_.hello();
  if (!IsVersion(options_.version, hello->worker.version)) {
    End(Outcome::kUnsupported,
        fmt::format("version {} was asked for, but {} is installed", options_.version,
                    Printable(hello->worker.version)),
        kGraceNs);
  } else if (!conversation_.divergence().empty()) {
    End(Outcome::kDiverged, conversation_.divergence(), kGraceNs);
  }
}

void Supervision::TakeSample(int64_t now_ns) {
  Sample sample = sampler_.Take(child_.pid(), now_ns - launched_ns_);
  instruments_.energy.Poll();
  if (instruments_.nvml) {
    const pid_t pid = child_.pid();
    const std::vector<GpuReading> gpus = instruments_.nvml->Read({&pid, 1});
    seen_.gpus.Add(gpus);
    if (options_.gpu < gpus.size()) AddReading(gpus[options_.gpu], sample);
  }
  seen_.samples.Add(sample);
  const auto reason = memory_.Judge(sample);
  if (reason && !ending_ && !conversation_.over()) End(Outcome::kOutOfMemory, *reason, 0);
}

void Supervision::End(Outcome outcome, std::string reason, int64_t grace_ns) {
  if (ending_) return;
  ending_ = Ending{outcome, std::move(reason)};
  kill_ns_ = NowNs() + grace_ns;
  if (grace_ns == 0) return Kill();
  child_.Signal(SIGTERM);
}

void Supervision::Kill() {
  killed_ns_ = NowNs();
  child_.Signal(SIGKILL);
}

RunProgress Supervision::Progress(int64_t now_ns) const {
  RunProgress progress;
  progress.stage = Name(conversation_.stage());
  const RunSeries& series = conversation_.series();
  progress.steps = static_cast<int64_t>(series.step_ns.size());
  if (!series.step_ns.empty()) progress.last_step_ns = static_cast<double>(series.step_ns.back());
  if (!series.loss.empty()) progress.loss = series.loss.back();
  if (!seen_.samples.empty()) progress.rss_bytes = seen_.samples.samples().back().rss_bytes;
  progress.elapsed_ns = now_ns - launched_ns_;
  return progress;
}

}  // namespace tench
