// SPDX-License-Identifier: Apache-2.0
#pragma once
// The readings of a machine's GPUs over one run, as means and peaks per device. Pure: not aware of
// NVML, processes or time.

#include <cstdint>
#include <span>
#include <vector>

#include "machine/nvml.h"
#include "machine/sampler.h"

namespace tench {

// Mean and peak over the readings that have the value.
struct MeanPeak {
  int64_t count = 0;
  double mean = 0, peak = 0;

  void Add(double value);
};

struct GpuUse {
  MeanPeak utilisation_percent, power_w, memory_used_bytes, process_memory_bytes, temperature_c;
};

class GpuSeries {
 public:
  // One reading per device, always in the same order.
  void Add(std::span<const GpuReading> readings);
  const std::vector<GpuUse>& uses() const { return uses_; }

 private:
  std::vector<GpuUse> uses_;
};

// Adds the run's GPU to a sample: the worker's own memory if the driver reports it, otherwise the
// memory in use by all processes.
void AddReading(const GpuReading& reading, Sample& sample);

}  // namespace tench
