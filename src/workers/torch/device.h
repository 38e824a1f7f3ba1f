// SPDX-License-Identifier: Apache-2.0
#pragma once
// The devices: "cpu" always, "cuda:N" where the NVIDIA driver lists a GPU. PyTorch's CUDA library
// is opened only when a GPU is asked for, so that a run on the CPU does not carry it. Until then
// nothing here asks PyTorch about CUDA: it remembers its first answer.

#include <c10/core/Device.h>

#include <map>
#include <string>
#include <vector>

#include "base/error.h"

namespace tench::pytorch {

std::vector<std::string> DeviceNames();
std::map<std::string, std::string>
LibraryFacts();  // versions of oneDNN, MKL and OpenMP inside, and the instruction set in use

// Makes the device ready: computing in full f32, on `threads` threads when it is the CPU.
// Unsupported, with the reason, when it is not there.
Result<c10::Device> OpenDevice(const std::string& name, int64_t threads);

void SeedDropout(uint64_t seed);
void Synchronize(c10::Device device);  // returns when all work on the device is complete

}  // namespace tench::pytorch
