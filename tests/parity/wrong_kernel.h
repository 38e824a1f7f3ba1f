// SPDX-License-Identifier: Apache-2.0
#pragma once
// Kernels that compute a known mistake, forward and backward: a batch norm that keeps the biased
// variance, and a dropout that forgets to scale what it keeps.

#include <memory>

#include "workers/reference/kernel.h"

namespace tench {

std::unique_ptr<Kernel> MakeBiasedBatchNorm(const BatchNorm& op, const KernelSite& site);
std::unique_ptr<Kernel> MakeUnscaledDropout(const Dropout& op, const KernelSite& site);

}  // namespace tench
