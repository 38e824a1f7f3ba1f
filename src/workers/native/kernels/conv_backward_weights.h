// SPDX-License-Identifier: Apache-2.0
#pragma once
// The gradient of a convolution's weights, straight from images in blocks of eight channels: a tile
// of input channels × output channels stays in registers while the pixels of an image pass by. For
// CPUs with AVX2. oneDNN's kernel for the same writes its sums to memory after every row of pixels.
// Knows nothing of oneDNN.

#include <cstdint>

#include "workers/native/kernels/blocked_conv_shape.h"

namespace tench::native {

// Whether this CPU and this shape can have it. With several groups their channels must be whole
// blocks.
bool HasConvBackwardWeights(const BlockedConvShape& shape);

// Floats of working memory, for `threads` threads.
int64_t ConvBackwardWeightsScratch(const BlockedConvShape& shape, int64_t threads);

void ConvBackwardWeights(const BlockedConvShape& shape, const float* x, const float* dy, float* dw,
                         float* scratch);
// db: (o), the sum of each channel, for blocks of 8 or 16.
void ConvBackwardBias(const BlockedConvShape& shape, const float* dy, float* db);

}  // namespace tench::native
