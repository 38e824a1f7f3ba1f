// SPDX-License-Identifier: Apache-2.0
#pragma once
// The reference adapter: runs one kernel per layer, forward in order and backward in reverse, and
// updates the parameters. It is the oracle of parity, not a competitor: plain loops, sums in
// double, the same bits for every number of threads.

#include <memory>

#include "worker/adapter.h"
#include "workers/reference/kernel.h"

namespace tench {

std::unique_ptr<Adapter> MakeReferenceAdapter(KernelMaker make_kernel = MakeKernel);

}  // namespace tench
