// SPDX-License-Identifier: Apache-2.0
#include "machine/gpu_series.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace tench {

void MeanPeak::Add(double value) {
  peak = count == 0 ? value : std::max(peak, value);
  ++count;
  mean += (value - mean) / static_cast<double>(count);
}

void GpuSeries::Add(std::span<const GpuReading> readings) {
  if (uses_.empty()) uses_.resize(readings.size());
  Check(uses_.size() == readings.size(), "the number of GPUs changed within a run");
  const auto add = [](MeanPeak& sum, const auto& value) {
    if (value) sum.Add(static_cast<double>(*value));
  };
  for (size_t i = 0; i < readings.size(); ++i) {
    add(uses_[i].utilisation_percent, readings[i].utilisation_percent);
    add(uses_[i].power_w, readings[i].power_w);
    add(uses_[i].memory_used_bytes, readings[i].memory_used_bytes);
    add(uses_[i].process_memory_bytes, readings[i].process_memory_bytes);
    add(uses_[i].temperature_c, readings[i].temperature_c);
  }
}

void AddReading(const GpuReading& reading, Sample& sample) {
  if (reading.utilisation_percent)
    sample.gpu_use_percent = std::lround(*reading.utilisation_percent);
  const auto memory =
      reading.process_memory_bytes ? reading.process_memory_bytes : reading.memory_used_bytes;
  if (memory) sample.gpu_memory_bytes = *memory;
}

}  // namespace tench
