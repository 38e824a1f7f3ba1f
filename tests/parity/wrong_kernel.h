// SPDX-License-Identifier: Apache-2.0
#pragma once
// Kernels with an injected fault, forward and backward: a batch norm that keeps the biased
// variance, and a dropout that does not scale the kept activations.

#include <memory>

#include "workers/reference/kernel.h"

namespace tench {

std::unique_ptr<Kernel> MakeBiasedBatchNorm(const BatchNorm& op, const KernelSite& site);
std::unique_ptr<Kernel> MakeUnscaledDropout(const Dropout& op, const KernelSite& site);

}  // namespace tench
