// SPDX-License-Identifier: Apache-2.0
#pragma once
// The CPU time that was withheld from a run: by the hypervisor (steal time in /proc/stat, of the
// run's CPUs) and by the quotas of this process's control groups (cpu.stat of its own group and its
// ancestors). Two readings give the shares of the time between them. A machine that reports neither
// has no shares. The resolution of steal time is a kernel tick, 10 ms; a tick per CPU is
// subtracted, so that a single tick is no evidence in a short run.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace tench {

struct WithheldTime {
  int64_t time_ns = 0;  // of the reading
  // Since boot, and since the group was made; nullopt = not reported.
  std::optional<int64_t> steal_ns, throttled_ns;
};

// Reads the steal time of `cpus`. Tests pass another `root`.
WithheldTime ReadWithheldTime(const std::vector<int>& cpus,
                              const std::filesystem::path& root = "/");

struct WithheldShares {
  std::optional<double> steal, throttled;  // of the time of all CPUs
};
WithheldShares SharesBetween(const WithheldTime& begin, const WithheldTime& end, size_t cpus);

}  // namespace tench
