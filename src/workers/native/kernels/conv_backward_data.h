// SPDX-License-Identifier: Apache-2.0
#pragma once
// The gradient of a convolution's input, for images in blocks of eight channels and few channels:
// for some pixels of the output at a time a matrix product gives what each tap of the kernel and
// each input channel gets from them, which is then added to where the tap lies. Channels that only
// fill up a block cost nothing, and what a library pads at an image's edges is not computed. For
// CPUs with AVX2. Knows nothing of oneDNN.

#include <cstdint>

#include "workers/native/kernels/blocked_conv_shape.h"

namespace tench::native {

// Whether this CPU and this shape can have it: blocks of channels on both sides, whole ones if
// there are several groups.
bool HasConvBackwardData(const BlockedConvShape& shape);
// Floats of working memory, for `threads` threads.
int64_t ConvBackwardDataScratch(const BlockedConvShape& shape, int64_t threads);

void ConvBackwardData(const BlockedConvShape& shape, const float* dy, const float* w, float* dx,
                      float* scratch);

}  // namespace tench::native
