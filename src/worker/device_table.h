// SPDX-License-Identifier: Apache-2.0
#pragma once
// The devices of a worker: the CPU, and the GPUs that its framework can use. Describe lists them in
// their canonical spelling, and a worker without a GPU records the reason, so that an `unsupported`
// outcome says why. Not aware of any framework: each adapter counts its GPUs itself. Plain values.

#include <cstdint>
#include <string>

#include "protocol/message.h"

namespace tench {

// The fact of a description that states the GPUs, or the reason that there is none.
inline constexpr const char* kGpuFact = "gpu";

struct GpuSupport {
  int64_t count = 0;
  std::string reason;  // why count is 0: "no CUDA device: …"
};

// Sets description.devices and the fact kGpuFact.
void DescribeDevices(const GpuSupport& gpus, Description& description);

// kUnsupported if the worker does not list `device`, in any spelling; with the reason if it lists
// no GPU.
Status CheckDevice(const std::string& device, const Description& worker);

}  // namespace tench
