// SPDX-License-Identifier: Apache-2.0
#include "run/session/instruments.h"

#include "base/text.h"
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
  const size_t colon = device.find(':');
  if (colon == std::string::npos) return 0;
  const auto index = ParseInteger(device.substr(colon + 1));
  return index && *index >= 0 ? static_cast<size_t>(*index) : 0;
}

}  // namespace tench
