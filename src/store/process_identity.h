// SPDX-License-Identifier: Apache-2.0
#pragma once
// The identity of the process that holds a study, in a form that outlives it: process id, start
// time and boot id, because process ids are reused. Checks whether such a process is alive, if it
// runs on this machine.

#include <cstdint>
#include <string>
#include <string_view>

namespace tench {

struct ProcessIdentity {
  int64_t pid = 0;
  int64_t start_ticks = 0;  // since boot, from /proc/PID/stat
  std::string boot_id;      // changes with every boot
  std::string machine_id;
  std::string host;  // for messages

  bool operator==(const ProcessIdentity&) const = default;
};

// kUnknown: a process of another machine.
enum class ProcessLife { kAlive, kDead, kUnknown };

ProcessIdentity ThisProcess();
ProcessLife LifeOf(const ProcessIdentity& process);

// The start time in the content of /proc/PID/stat; 0 if the process does not run (a zombie does
// not).
int64_t StartTicks(std::string_view stat);

}  // namespace tench
