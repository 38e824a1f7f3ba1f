// SPDX-License-Identifier: Apache-2.0
#pragma once
// Selects the CPUs of a run's threads by the machine's topology: cores, SMT siblings and NUMA
// nodes. A core's first CPU is used before the second CPU of any core, where the placement allows
// it.
//
//  - first: the lowest numbers, whatever the topology.
//  - spread: one CPU of every NUMA node in turn.
//  - compact: as few NUMA nodes as possible, the largest first.
//  - node:N: only CPUs of NUMA node N.
//
// Memory follows the threads by the kernel's first-touch policy. Pure but for ReadTopology.

#include <filesystem>
#include <string>
#include <vector>

#include "axis/placement_name.h"
#include "base/error.h"
#include "base/json.h"

namespace tench {

struct CpuPlace {
  int cpu = 0;
  int node = 0;     // 0 without NUMA
  int core = 0;     // the lowest CPU of the core
  int sibling = 0;  // place among the CPUs of the core, from 0

  bool operator==(const CpuPlace&) const = default;
};

// The places of `cpus`, which are ascending; tests pass another `root`.
std::vector<CpuPlace> ReadTopology(const std::vector<int>& cpus,
                                   const std::filesystem::path& root = "/");

// The number of CPUs that the placement offers.
size_t PlaceableCpus(const std::vector<CpuPlace>& topology, const PlacementName& placement);

// `threads` CPUs, ascending; kUnsupported if the placement offers fewer.
Result<std::vector<int>> PlaceThreads(const std::vector<CpuPlace>& topology,
                                      const PlacementName& placement, int64_t threads);

// {"cpus":"0-3","nodes":"0","cores":2,"smt":true}: `smt` = two of the CPUs share a core.
Json PlacementToJson(const std::vector<CpuPlace>& topology, const std::vector<int>& cpus);

}  // namespace tench
