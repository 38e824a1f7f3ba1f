// SPDX-License-Identifier: Apache-2.0
#include "run/session/instruments.h"

#include "axis/device_name.h"
#include "machine/host.h"

namespace tench {

Instruments& Instruments::OfThisMachine() {
  static Instruments instruments = [] {
    Instruments opened;
    opened.nvml = Nvml::Open();
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
