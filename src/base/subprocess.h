// SPDX-License-Identifier: Apache-2.0
#pragma once
// One child process and everything that it starts. The child leads a session of its own (a
// terminal's Ctrl-C does not reach it), gets only the environment and the descriptors that it was
// given, dies when the spawning thread dies, and dumps no core. While it lives this process adopts
// its orphans (PR_SET_CHILD_SUBREAPER), so that End() leaves neither a zombie nor a stray behind,
// whoever called setsid. A guard, a tiny process of ours, outlives us for a moment: when this
// process is killed without a word, it ends the child's group, whose other members the kernel would
// leave alone. Waiting is by a pidfd, which poll() understands. One Subprocess at a time and per
// process; it belongs to the thread that spawned it.

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

// For what a child writes: `in` is ours and never blocks, `out` is for the child. Neither leaks
// into other children.
struct Pipe {
  Fd in, out;
  static Result<Pipe> Make();
};

struct SpawnOptions {
  std::filesystem::path executable;
  std::vector<std::string> arguments;                            // without argv[0]
  std::vector<std::pair<std::string, std::string>> environment;  // all of it
  std::filesystem::path folder;                                  // to work in; "" = ours
  int output_fd = -1;                                            // stdout; -1 = /dev/null
  int error_fd = -1;                                             // stderr; -1 = where stdout goes
  int extra_fd = -1;                                             // becomes descriptor 3; -1 = none
  std::vector<int> cpus;                                         // to run on; empty = as we do
  std::optional<int> oom_score_adj;                              // 1000 = the kernel's first choice
};

struct ExitStatus {
  int code = 0;        // of exit(), when signal is 0
  int signal = 0;      // that ended it
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
  // Returns once the program has been executed; a program that cannot be is an error here, not a
  // strange exit code later.
  static Result<Subprocess> Spawn(const SpawnOptions& options);
  Subprocess(Subprocess&& other) noexcept;
  Subprocess& operator=(Subprocess&& other) noexcept;
  ~Subprocess();  // End(0)

  pid_t pid() const { return pid_; }
  int exit_fd() const { return pidfd_.get(); }  // readable once the child is over
  // The child's end, if it came before the deadline (of NowNs; 0 = only look). Its descendants may
  // live on until End.
  std::optional<ExitStatus> Wait(int64_t deadline_ns);
  const std::optional<ExitStatus>& status() const { return status_; }

  // To the whole group, which may outlive the child itself.
  void Signal(int signal);
  // SIGTERM to the group, SIGKILL after `grace_ns`, then every descendant that is left is killed
  // and reaped.
  ExitStatus End(int64_t grace_ns);

 private:
  Subprocess(pid_t pid, Fd pidfd, std::set<pid_t> bystanders, bool was_subreaper);
  void EndDescendants();
  void StartGuard();

  pid_t pid_ = -1;  // -1 = moved from
  Fd pidfd_;
  Fd guard_;  // open as long as we live: its end wakes the guard
  std::optional<ExitStatus> status_;
  std::set<pid_t> bystanders_;  // children from before, which are not ours to end
  bool was_subreaper_ = false;
  bool ended_ = false;
};

}  // namespace tench
