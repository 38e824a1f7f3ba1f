// SPDX-License-Identifier: Apache-2.0
#pragma once
// Samples a process and its descendants from outside, through /proc. It starts no thread and keeps
// no clock: the session calls Take about every 100 ms. A process that vanishes during a Take is
// left out of that sample; no call fails.
//
// A member is the root process, every descendant, and every process in a session or process group
// that the root leads. Resident sets are summed, so pages that two members share count twice. The
// context switches of a process with more than eight threads are read once a second, because each
// thread has its own file; wait4 gives the exact totals at the end.
//
// Thread safety: none. Buffers are reused; a Take of a small tree costs tens of microseconds.

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "machine/proc_stat.h"
#include "record/sample.h"

namespace tench {

class ProcessSampler {
 public:
  explicit ProcessSampler(const std::filesystem::path& proc = "/proc");

  // A call with a different pid than the last one starts over.
  Sample Take(pid_t pid, int64_t now_ns);
  // The members in the last sample.
  std::vector<pid_t> Pids() const;

 private:
  struct Member {
    pid_t pid = 0;
    int64_t start_ticks = 0;      // 0 = not read yet
    int64_t threads_read_ns = 0;  // time of the last read of the context switches; 0 = never
    int64_t voluntary_switches = 0, involuntary_switches = 0;
  };
  enum class Way { kUnknown, kChildren, kScan };

  std::optional<std::string_view> Read(std::string_view path);
  void ListNumbers(std::string_view path, std::vector<pid_t>& numbers);
  std::optional<ProcStat> ReadStat(pid_t pid);
  void FindByScan();
  bool AddMember(Member& member, Sample& sample);
  bool AddStatus(Member& member, bool with_switches, Sample& sample);
  void ReadThreads(Member& member, int64_t now_ns);
  void FollowChildren(pid_t pid, pid_t thread);
  bool IsMember(pid_t pid) const;

  Fd proc_;
  int64_t tick_ns_ = 0;
  pid_t root_ = 0;
  Way way_ = Way::kUnknown;
  std::vector<Member> members_;
  std::vector<pid_t> foreign_;  // sorted: non-members, not read again while they live
  std::vector<pid_t> listed_, threads_;
  std::vector<ProcStat> candidates_;
  std::string buffer_, path_;
};

}  // namespace tench
