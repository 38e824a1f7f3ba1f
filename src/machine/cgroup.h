// SPDX-License-Identifier: Apache-2.0
#pragma once
// Resource limits of this process's control groups: the tightest limit of its own group and of
// every ancestor. Reads cgroup v1, v2 and hybrid mounts. In a container whose cgroup path does not
// exist in its mount, the limits of the mount's root apply.

#include <cstdint>
#include <filesystem>
#include <optional>

namespace tench {

struct CgroupLimits {
  int version = 0;                      // of the memory controller; 0 = no cgroups
  std::optional<int64_t> memory_bytes;  // nullopt = no limit
  std::optional<int64_t> swap_bytes;    // version 2 only
  std::optional<double> cpus;           // quota over period
};

// Tests pass another `root`.
CgroupLimits ReadCgroupLimits(const std::filesystem::path& root = "/");

// The CPU time for which quotas have throttled the group and its ancestors so far; nullopt if no
// group reports it.
std::optional<int64_t> ReadThrottledNs(const std::filesystem::path& root = "/");

}  // namespace tench
