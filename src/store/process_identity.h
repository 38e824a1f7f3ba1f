// SPDX-License-Identifier: Apache-2.0
#pragma once
// The identity of the process that holds a study, in a form that outlives it: process id, start
// time and boot id, because process ids are reused. Decides whether such a process still lives, as
// far as this machine can know.

#include <cstdint>
#include <string>
#include <string_view>

namespace tench {

struct ProcessIdentity {
  int64_t pid = 0;
  int64_t start_ticks = 0;  // since boot, as /proc/PID/stat gives it
  std::string boot_id;      // new with every start of the machine
  std::string machine_id;
  std::string host;  // for messages

  bool operator==(const ProcessIdentity&) const = default;
};

enum class ProcessLife {
  kAlive,
  kDead,
  kUnknown
};  // kUnknown: it runs, or ran, on another machine

ProcessIdentity ThisProcess();
ProcessLife LifeOf(const ProcessIdentity& process);

// The start time and whether it still runs (a zombie does not), from the content of /proc/PID/stat.
// 0 = no running process.
int64_t StartTicks(std::string_view stat);

}  // namespace tench
