// SPDX-License-Identifier: Apache-2.0
#pragma once
// Resource limits of this process's control groups: the tightest limit of its own group and of
// every group above. Reads cgroup v1, v2 and hybrid mounts. Inside a container whose paths differ
// from its mounts, the root of the mounts counts.

#include <cstdint>
#include <filesystem>
#include <optional>

namespace tench {

struct CgroupLimits {
  int version = 0;                      // 0: there are none; 1 or 2: where memory is accounted
  std::optional<int64_t> memory_bytes;  // absent: no limit
  std::optional<int64_t> swap_bytes;    // version 2 only
  std::optional<double> cpus;           // quota over period
};

// `root` is "/" but for tests.
CgroupLimits ReadCgroupLimits(const std::filesystem::path& root = "/");

}  // namespace tench
