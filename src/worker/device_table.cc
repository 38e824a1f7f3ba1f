// SPDX-License-Identifier: Apache-2.0
#include "worker/device_table.h"

#include <algorithm>

#include "axis/device_name.h"
#include "base/text.h"

namespace tench {

void DescribeDevices(const GpuSupport& gpus, Description& description) {
  description.devices = {ToString(DeviceName{})};
  for (int64_t index = 0; index < gpus.count; ++index)
    description.devices.push_back(ToString(DeviceName{DeviceKind::kGpu, index}));
  description.facts[kGpuFact] =
      gpus.count > 0 ? fmt::format("{} visible", gpus.count) : gpus.reason;
}

Status CheckDevice(const std::string& device, const Description& worker) {
  const DeviceName wanted = TENCH_TRY(ParseDevice(device).In("device"));
  bool has_gpu = false;
  for (const std::string& listed : worker.devices) {
    const Result<DeviceName> known = ParseDevice(listed);
    if (!known.ok()) continue;
    if (*known == wanted) return Ok();
    has_gpu = has_gpu || known->is_gpu();
  }
  const auto reason = worker.facts.find(kGpuFact);
  const bool explained = wanted.is_gpu() && !has_gpu && reason != worker.facts.end();
  return Unsupported("{} has no device '{}' (it has: {}){}", worker.name, ToString(wanted),
                     Join(worker.devices, ", "), explained ? ": " + reason->second : "");
}

}  // namespace tench
