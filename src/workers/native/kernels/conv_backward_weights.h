// SPDX-License-Identifier: Apache-2.0
#pragma once
// Direct backward-weights convolution, dw and db from x and dy, for AVX2. A register-blocked
// accumulator tile of input channels × output channels is kept over many pixels, so that dw is
// read and written once per several image rows. Layouts are those of blocked_conv_shape.h with
// blocks of eight channels. Not aware of oneDNN. Scratch memory is the caller's; nothing is
// allocated.
//
// Thread safety: a call uses the calling thread's OpenMP team; concurrent calls need their own
// scratch and results. Each weight is summed by one thread, so results do not depend on timing.

#include <cstdint>

#include "workers/native/kernels/blocked_conv_shape.h"

namespace tench::native {

// Whether the CPU has AVX2 and the kernel supports the shape: at least a block of channels on each
// blocked side, one group if x is plain, and whole blocks per group if there are several.
bool HasConvBackwardWeights(const BlockedConvShape& shape);

// Floats of scratch for `threads` threads.
int64_t ConvBackwardWeightsScratch(const BlockedConvShape& shape, int64_t threads);

// Overwrites dw, the unused channels of partly used blocks included.
void ConvBackwardWeights(const BlockedConvShape& shape, const float* x, const float* dy, float* dw,
                         float* scratch);

// db (o) = the sum of dy over images and pixels. Portable, for blocks of 8 or 16 channels.
void ConvBackwardBias(const BlockedConvShape& shape, const float* dy, float* db);

}  // namespace tench::native
