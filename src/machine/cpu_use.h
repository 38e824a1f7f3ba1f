// SPDX-License-Identifier: Apache-2.0
#pragma once
// CPU time of the whole machine by /proc/stat, summed over some CPUs: the work of all processes and
// the time that a hypervisor gave to other guests (steal). The difference of two readings shows
// whether a run had its CPUs for itself.
// Thread safety: no shared state.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace tench {

struct CpuUse {
  int64_t busy_ns = 0;  // user, nice, system and interrupts; guests are part of user
  int64_t steal_ns = 0;
};

// nullopt if /proc/stat cannot be read or names none of the CPUs. The resolution is a kernel tick.
std::optional<CpuUse> ReadCpuUse(const std::vector<int>& cpus,
                                 const std::filesystem::path& proc = "/proc");

}  // namespace tench
