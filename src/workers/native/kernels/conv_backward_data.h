// SPDX-License-Identifier: Apache-2.0
#pragma once
// Direct backward-data convolution, dx from dy and w, for AVX2: a GEMM over a few output pixels,
// followed by col2im. Layouts are those of blocked_conv_shape.h with blocks of eight channels. It
// pays for few channels and for small images: unused channels of a block and taps in the padding
// cost nothing. Not aware of oneDNN. Scratch memory is the caller's; nothing is allocated.
//
// Thread safety: a call uses the calling thread's OpenMP team; concurrent calls need their own
// scratch and dx.

#include <cstdint>

#include "workers/native/kernels/blocked_conv_shape.h"

namespace tench::native {

// Whether the CPU has AVX2 and the kernel supports the shape: blocked x and y, and whole blocks per
// group if there are several groups.
bool HasConvBackwardData(const BlockedConvShape& shape);

// Floats of scratch for `threads` threads.
int64_t ConvBackwardDataScratch(const BlockedConvShape& shape, int64_t threads);

// Overwrites dx, the unused channels of its last block included.
void ConvBackwardData(const BlockedConvShape& shape, const float* dy, const float* w, float* dx,
                      float* scratch);

}  // namespace tench::native
