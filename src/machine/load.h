// SPDX-License-Identifier: Apache-2.0
#pragma once
// CPU use of other processes, from two readings of /proc. The caller waits between them; nothing
// here sleeps.

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace tench {

struct ProcessTime {
  pid_t pid = 0;
  std::string name;
  int64_t start_ticks = 0, cpu_ns = 0, rss_bytes = 0;
};

struct BusyProcess {
  pid_t pid = 0;
  std::string name;
  double cpus = 0;  // mean number of CPUs in use between the two readings
  int64_t rss_bytes = 0;
};

std::vector<ProcessTime> ReadProcessTimes(const std::filesystem::path& proc = "/proc");

// The busiest processes first, at most `limit`, none below a twentieth of a CPU. Excludes the
// caller's process, `own`.
std::vector<BusyProcess> BusiestProcesses(const std::vector<ProcessTime>& before,
                                          const std::vector<ProcessTime>& after, int64_t elapsed_ns,
                                          size_t limit, pid_t own);

}  // namespace tench
