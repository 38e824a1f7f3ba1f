// SPDX-License-Identifier: Apache-2.0
#pragma once
// What measures the machine rather than one process. Opened once per tench process, because NVML
// takes tens of milliseconds to open and a run's overhead must stay far below that. For the main
// thread alone.

#include <cstdint>
#include <memory>
#include <string>

#include "machine/energy.h"
#include "machine/nvml.h"

namespace tench {

struct Instruments {
  std::unique_ptr<Nvml> nvml;  // null without a GPU
  EnergyMeter energy;
  int64_t memory_bytes = 0;  // that this process may use, by machine and cgroup

  static Instruments& OfThisMachine();
};

// The GPU that a cell's device means: "cuda:1" is 1; "gpu", and a CPU run on a machine with a GPU,
// is 0.
size_t GpuIndex(const std::string& device);

}  // namespace tench
