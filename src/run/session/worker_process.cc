// SPDX-License-Identifier: Apache-2.0
#include "run/session/worker_process.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include "base/clock.h"

namespace tench {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
// SIGKILL does not end a process in an uninterruptible wait.
constexpr int64_t kUnkillableNs = 30 * kSecondNs;
constexpr size_t kLogBytesAtOnce = 1 << 20;

}  // namespace

WorkerProcess::WorkerProcess(Subprocess child, Fd answers, Fd log, Pipe turns, int64_t launched_ns)
    : child_(std::move(child)),
      answers_(std::move(answers)),
      log_fd_(std::move(log)),
      turns_(std::move(turns)),
      launched_ns_(launched_ns),
      executed_ns_(NowNs()) {}

Result<WorkerProcess> WorkerProcess::Start(WorkerLaunch launch) {
  const int64_t launched_ns = NowNs();
  Subprocess child = TENCH_TRY(Subprocess::Spawn(launch.spawn));
  // The worker's pipe ends close with `launch`: the reader sees the end of file only if no writer
  // is left.
  return WorkerProcess(std::move(child), std::move(launch.answers.in), std::move(launch.log.in),
                       std::move(launch.turns), launched_ns);
}

bool WorkerProcess::Watch(Watcher& watcher, const std::function<bool()>& until) {
  bool more = false;
  while (!child_.Wait(0)) {
    const int64_t now_ns = NowNs();
    if (kill_ns_ != 0 && killed_ns_ == 0 && now_ns >= kill_ns_) {
      grace_expired_ = true;
      Kill();
    }
    if (killed_ns_ != 0 && now_ns > killed_ns_ + kUnkillableNs) break;
    const int64_t wake_ns = watcher.OnWake(now_ns);
    WaitForEvent(more ? 0 : wake_ns, watcher.answers_fd());
    more = watcher.ReadAnswers();
    log_.Drain(log_fd_, kLogBytesAtOnce);
    if (until && until()) return false;
  }
  exit_ns_ = NowNs();
  watcher.OnExit();
  exit_ = child_.End(0);
  // No writer is left, so the pipes hold the complete output.
  while (watcher.ReadAnswers()) {
  }
  log_.Drain(log_fd_, std::numeric_limits<size_t>::max());
  return true;
}

void WorkerProcess::Pause() { child_.Signal(SIGSTOP); }
void WorkerProcess::Resume() { child_.Signal(SIGCONT); }

// A line is shorter than a pipe, so the write is complete.
void WorkerProcess::Write(std::string_view line) {
  if (!turns_.out.valid()) return;
  while (write(turns_.out.get(), line.data(), line.size()) < 0 && errno == EINTR) {
  }
}

void WorkerProcess::WaitForEvent(int64_t wake_ns, int answers_fd) {
  if (killed_ns_ != 0) {
    wake_ns = std::min(wake_ns, killed_ns_ + kUnkillableNs);
  } else if (kill_ns_ != 0) {
    wake_ns = std::min(wake_ns, kill_ns_);
  }
  const int64_t left_ns = std::max<int64_t>(wake_ns - NowNs(), 0);
  const timespec left{left_ns / kSecondNs, left_ns % kSecondNs};
  pollfd fds[] = {
      {child_.exit_fd(), POLLIN, 0}, {answers_fd, POLLIN, 0}, {log_fd_.get(), POLLIN, 0}};
  ppoll(fds, std::size(fds), &left, nullptr);
}

void WorkerProcess::Terminate(int64_t grace_ns) {
  if (grace_ns == 0) return Kill();
  kill_ns_ = NowNs() + grace_ns;
  child_.Signal(SIGTERM);
}

void WorkerProcess::Kill() {
  if (killed_ns_ != 0) return;
  killed_ns_ = NowNs();
  child_.Signal(SIGKILL);
}

}  // namespace tench
