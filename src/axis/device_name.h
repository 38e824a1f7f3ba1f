// SPDX-License-Identifier: Apache-2.0
#pragma once
// The name of a compute device: the CPU, or one GPU by its index. This is the only parser of device
// names: flags, suites, jobs, workers and the sampler all use it.
//
// Accepted spellings: `cpu`; `gpu`, `gpu:N`, `cuda` and `cuda:N`, N from 0 to 9999 without leading
// zeros. A missing index means 0. The canonical spellings are `cpu` and `gpu:N`; the device axis
// stores nothing else, so that one device has one cell id.
//
// Not aware of which devices exist: worker/device_table.h lists those of a worker. A plain value.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace tench {

enum class DeviceKind { kCpu, kGpu };

struct DeviceName {
  DeviceKind kind = DeviceKind::kCpu;
  int64_t index = 0;  // of the GPU; 0 for the CPU

  bool is_gpu() const { return kind == DeviceKind::kGpu; }
  bool operator==(const DeviceName&) const = default;
};

// The accepted spellings in words, for help texts and messages.
inline constexpr std::string_view kDeviceForms = "cpu, gpu, gpu:N, cuda or cuda:N";

Result<DeviceName> ParseDevice(std::string_view text);

// The canonical spelling: ParseDevice(ToString(d)) == d.
std::string ToString(const DeviceName& device);

}  // namespace tench
