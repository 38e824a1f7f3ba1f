// SPDX-License-Identifier: Apache-2.0
#include "run/session/instruments.h"

#include "axis/device_name.h"
#include "machine/host.h"

namespace tench {

namespace {

constexpr int64_t kIdleNs = 1'000'000'000;

}  // namespace

Instruments& Instruments::OfThisMachine() {
  static Instruments instruments = [] {
    Instruments opened;
    opened.nvml = Nvml::Open();
    opened.idle_w = MeasureIdleWatts(opened.energy, kIdleNs);
    opened.memory_bytes = ReadHost().UsableMemoryBytes();
    return opened;
  }();
  return instruments;
}

size_t GpuIndex(const std::string& device) {
  const Result<DeviceName> name = ParseDevice(device);
  return name.ok() ? static_cast<size_t>(name->index) : 0;
}

}  // namespace tench
