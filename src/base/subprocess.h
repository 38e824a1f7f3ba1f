// SPDX-License-Identifier: Apache-2.0
#pragma once
// One child process and its descendants.
//
// Invariants:
//  - The child leads its own process session, so a terminal's Ctrl-C does not reach it. It gets
//    only the environment and the descriptors that it was given, and dumps no core.
//  - It dies when the spawning thread dies. This process adopts its orphans while it lives
//    (PR_SET_CHILD_SUBREAPER), so End() leaves no zombie and no stray process, even one that
//    called setsid.
//  - A guard process ends the child's group if this process is killed.
//
// Waiting uses a pidfd, which poll() supports.
// Thread safety: belongs to the spawning thread. Several Subprocesses may live at once if the
// earlier ones Spare the later ones; otherwise the end of an earlier one would end the later ones.

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"

namespace tench {

// A pipe from a child: `in` is the non-blocking read end of this process, `out` the write end for
// the child. Neither is inherited by other children.
struct Pipe {
  Fd in, out;
  static Result<Pipe> Make();
};

struct SpawnOptions {
  std::filesystem::path executable;
  std::vector<std::string> arguments;                            // without argv[0]
  std::vector<std::pair<std::string, std::string>> environment;  // all of it
  std::filesystem::path folder;      // working directory; "" = inherited
  int input_fd = -1;                 // stdin; -1 = /dev/null
  int output_fd = -1;                // stdout; -1 = /dev/null
  int error_fd = -1;                 // stderr; -1 = the same as stdout
  int extra_fd = -1;                 // becomes descriptor 3; -1 = none
  std::vector<int> cpus;             // affinity; empty = inherited
  std::optional<int> oom_score_adj;  // 1000 = killed first by the kernel
};

struct ExitStatus {
  int code = 0;        // of exit(), when signal is 0
  int signal = 0;      // the terminating signal; 0 = none
  int64_t cpu_ns = 0;  // the child and the children that it waited for
  int64_t peak_rss_bytes = 0;
  int64_t major_faults = 0, voluntary_switches = 0, involuntary_switches = 0;

  bool clean() const { return code == 0 && signal == 0; }
  std::string ToString() const;  // "exit code 3", "signal SIGSEGV"
};

// "SIGSEGV", "signal 64"
std::string SignalName(int signal);

class Subprocess {
 public:
  // Returns after execve has succeeded; a failed execve is an error here, not an exit code.
  static Result<Subprocess> Spawn(const SpawnOptions& options);
  Subprocess(Subprocess&& other) noexcept;
  Subprocess& operator=(Subprocess&& other) noexcept;
  ~Subprocess();  // End(0)

  pid_t pid() const { return pid_; }
  int exit_fd() const { return pidfd_.get(); }  // readable once the child has ended
  // The exit status if the child ends before the deadline (of NowNs; 0 = poll once). Descendants
  // may live until End.
  std::optional<ExitStatus> Wait(int64_t deadline_ns);
  const std::optional<ExitStatus>& status() const { return status_; }

  // `other` was spawned later: it and the processes of its session outlive this child's End.
  void Spare(const Subprocess& other);
  // Signals the whole process group, which may outlive the child.
  void Signal(int signal);
  // SIGTERM to the group, SIGKILL after `grace_ns`; then kills and reaps all remaining descendants.
  ExitStatus End(int64_t grace_ns);

 private:
  Subprocess(pid_t pid, Fd pidfd, std::set<pid_t> bystanders, bool was_subreaper);
  void EndDescendants();
  void StartGuard();

  pid_t pid_ = -1;  // -1 = moved from
  Fd pidfd_;
  Fd guard_;  // open while this process lives; its end wakes the guard
  pid_t guard_pid_ = 0;
  std::optional<ExitStatus> status_;
  // Children that existed before the spawn, and spared ones with their sessions; never ended.
  std::set<pid_t> bystanders_;
  bool spares_ = false;
  bool was_subreaper_ = false;
  bool ended_ = false;
};

}  // namespace tench
