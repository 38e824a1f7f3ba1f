// SPDX-License-Identifier: Apache-2.0
#pragma once
// Kernels with an injected fault: a batch norm that keeps the biased variance, dropouts with wrong
// masks, and a kernel without weight gradients.

#include <memory>

#include "workers/reference/kernel.h"

namespace tench {

std::unique_ptr<Kernel> MakeBiasedBatchNorm(const BatchNorm& op, const KernelSite& site);

enum class DropoutFault {
  kUnscaled,          // survivors keep their value
  kUnmaskedBackward,  // every element gets a gradient
  kRepeatedMask,      // every step has the same mask
  kSharedMask,        // every sample has the same mask
};
std::unique_ptr<Kernel> MakeWrongDropout(const Dropout& op, const KernelSite& site,
                                         DropoutFault fault);

// Computes no gradients of its parameters.
std::unique_ptr<Kernel> MakeSilentKernel(const KernelSite& site);

}  // namespace tench
