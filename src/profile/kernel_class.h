// SPDX-License-Identifier: Apache-2.0
#pragma once
// Classifies a kernel by the op of its layer, its direction and its name. The name decides only
// what the op cannot: layout conversions and copies within a layer, and kernels of no layer.
// Thread safety: pure.

#include "net/op.h"
#include "record/kernel_group.h"
#include "record/profile_row.h"

namespace tench {

// `op` is null for a kernel of no layer.
KernelGroup GroupOf(const Op* op, const ProfileRow& row);
// Whether the kernel executes fewer multiply-adds than the op's definition has (Winograd, FFT), so
// that its FLOP/s are effective ones.
bool IsFastAlgorithm(std::string_view implementation);

}  // namespace tench
