// SPDX-License-Identifier: Apache-2.0
#pragma once
// PyTorch's devices: the CPU, and the GPUs that the NVIDIA driver lists. PyTorch's CUDA library is
// opened only for a job on a GPU, so that a run on the CPU does not map it. Before that nothing
// here asks PyTorch about CUDA, because PyTorch caches its first answer. The thread counts are
// settings of the process; call from one thread.

#include <c10/core/Device.h>

#include <map>
#include <string>

#include "base/error.h"
#include "worker/device_table.h"

namespace tench::pytorch {

GpuSupport Gpus();
// Versions of the oneDNN, MKL and OpenMP inside, and the instruction set in use.
std::map<std::string, std::string> LibraryFacts();

// Prepares the device: f32 without TF32; on the CPU, `threads` intra-op threads. kUnsupported with
// the reason if the device does not exist.
Result<c10::Device> OpenDevice(const std::string& name, int64_t threads);

void SeedDropout(uint64_t seed);
// Returns when all work on the device is complete.
void Synchronize(c10::Device device);

}  // namespace tench::pytorch
