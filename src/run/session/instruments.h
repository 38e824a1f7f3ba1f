// SPDX-License-Identifier: Apache-2.0
#pragma once
// The instruments that measure the machine rather than one process: NVML and the energy counters.
// Opened once per tench process, because opening NVML takes tens of milliseconds.
//
// Thread safety: none; for the main thread.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "machine/energy.h"
#include "machine/nvml.h"

namespace tench {

struct Instruments {
  std::unique_ptr<Nvml> nvml;  // null without a GPU
  EnergyMeter energy;
  std::optional<double> idle_w;  // before the first run; nullopt without counters
  int64_t memory_bytes = 0;      // available to this process, by machine and cgroup

  static Instruments& OfThisMachine();
};

// The index of the GPU to sample: the cell's device, or 0 for a run on the CPU.
size_t GpuIndex(const std::string& device);

}  // namespace tench
