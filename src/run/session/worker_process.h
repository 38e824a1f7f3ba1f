// SPDX-License-Identifier: Apache-2.0
#pragma once
// One worker process, from its start until it and all its descendants are gone. Event-driven,
// without sleeping, so that watching adds no time to a run. Termination escalates from SIGTERM to
// SIGKILL; a process in an uninterruptible wait is abandoned. Between two calls of Watch the
// process may be paused, with all processes of its group. Not aware of the protocol: a Watcher
// reads the answers and decides how long the worker may live.
//
// Ownership: owns the process with all its descendants, and tench's end of the log pipe.
// Thread safety: none; it belongs to the thread that called Start.

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/subprocess.h"
#include "run/session/log_tail.h"
#include "run/session/worker_launch.h"

namespace tench {

class WorkerProcess {
 public:
  class Watcher {
   public:
    virtual ~Watcher() = default;
    virtual int answers_fd() const = 0;  // for poll; -1 after the end
    // Reads the available bytes without waiting. Returns whether some were left unread.
    virtual bool ReadAnswers() = 0;
    // Called before every wait. Returns the latest time of the next call.
    virtual int64_t OnWake(int64_t now_ns) = 0;
    // The process has exited; its descendants may be alive.
    virtual void OnExit() {}
  };

  // Fails if the program cannot be executed.
  static Result<WorkerProcess> Start(WorkerLaunch launch);

  Fd TakeAnswers() { return std::move(answers_); }  // tench's end of the pipe; call once

  // Returns true when the process and all its descendants are gone and both pipes are read to the
  // end; do not call it again then. Returns false once `until` holds, which may be null.
  bool Watch(Watcher& watcher, const std::function<bool()>& until = nullptr);

  void Pause();
  void Resume();
  // Writes to the standard input of a job in turns, and ends it.
  void Write(std::string_view line);
  void EndInput() { turns_ = {}; }
  // `other` was started later, and lives on when this process ends.
  void Spare(const WorkerProcess& other) { child_.Spare(other.child_); }

  // Sends SIGTERM now and SIGKILL after `grace_ns`; 0 = SIGKILL now.
  void Terminate(int64_t grace_ns);
  void Kill();

  pid_t pid() const { return child_.pid(); }
  int64_t launched_ns() const { return launched_ns_; }  // before fork
  int64_t executed_ns() const { return executed_ns_; }  // after exec
  int64_t exit_ns() const { return exit_ns_; }
  const std::optional<ExitStatus>& exit() const { return exit_; }
  bool killed() const { return killed_ns_ != 0; }
  bool grace_expired() const { return grace_expired_; }  // SIGTERM did not end it
  const LogTail& log() const { return log_; }

 private:
  WorkerProcess(Subprocess child, Fd answers, Fd log, Pipe turns, int64_t launched_ns);
  void WaitForEvent(int64_t wake_ns, int answers_fd);

  Subprocess child_;
  Fd answers_, log_fd_;
  Pipe turns_;  // the read end too, so that a write to a dead process raises no SIGPIPE
  LogTail log_;
  int64_t launched_ns_, executed_ns_, exit_ns_ = 0;
  int64_t kill_ns_ = 0;    // time of the SIGKILL to come; 0 = not terminating
  int64_t killed_ns_ = 0;  // 0 = not killed
  bool grace_expired_ = false;
  std::optional<ExitStatus> exit_;
};

}  // namespace tench
