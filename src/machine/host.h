// SPDX-License-Identifier: Apache-2.0
#pragma once
// Facts about this machine that a result must carry. Read once per study. A passive struct; an
// unknown value is empty or 0. Every fact comes from a file below `root`, so that tests supply
// their own machine. Processes that are busy at the moment are in load.h.

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "machine/cgroup.h"
#include "machine/cpu.h"
#include "machine/nvml.h"

namespace tench {

struct HostFacts {
  std::string machine;  // the host's name, or TENCH_MACHINE
  // 16 hex digits: a hash of name, CPU, cores and memory, stable over kernel upgrades.
  std::string machine_id;
  CpuFacts cpu;
  std::vector<int> allowed_cpus;  // by affinity and cpuset
  CgroupLimits cgroup;
  int64_t memory_bytes = 0, available_bytes = 0;
  int64_t swap_bytes = 0, free_swap_bytes = 0;
  int swappiness = -1;                    // -1: unknown
  std::string kernel, distribution;       // "6.1.0-18-amd64", "Debian GNU/Linux 12 (bookworm)"
  std::string virtualisation, container;  // "kvm", "docker"; "" if none is detected
  std::string huge_pages;                 // transparent ones: "always", "madvise", "never"
  std::string clock_source;               // "tsc"
  std::array<double, 3> load{};           // averages over 1, 5 and 15 minutes
  std::vector<GpuDevice> gpus;
  std::string gpu_driver;

  // The memory and CPUs that this process may use: the machine's, limited by its cgroups.
  int64_t UsableMemoryBytes() const;
  double UsableCpus() const;
};

// `nvml` may be null.
HostFacts ReadHost(const Nvml* nvml = nullptr, const std::filesystem::path& root = "/");
Json HostToJson(const HostFacts& host);

}  // namespace tench
