// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the control groups of this process allow it: the tightest limit of its group and of every
// group above. Versions 1 and 2, and both mounted at once. Inside a container that shows another
// path than its mounts do, the mounts' own root counts.

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
