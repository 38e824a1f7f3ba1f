// SPDX-License-Identifier: Apache-2.0
#pragma once
// A convolution of 3×3 or 5×5 taps and stride 1 by way of the values of polynomials
// (winograd_transform.h): an image is cut into tiles, tiles and kernels are turned into 36 numbers
// per channel, and what is left are 36 matrix products: a quarter (3×3) or 36 % (5×5) of the
// multiplications, but for tiles that reach beyond the edge. For CPUs with AVX2 or AVX-512, in
// blocks of 8 or 16 channels. Knows nothing of oneDNN.

#include <cstdint>

#include "workers/native/kernels/blocked_conv_shape.h"

namespace tench::native {

// Whether this CPU and this shape can have it. With several groups their channels must be whole
// blocks.
bool HasWinograd(const BlockedConvShape& shape);
// Whether it can be expected to lead: enough tiles that transforming the kernels does not weigh
// much.
bool FavoursWinograd(const BlockedConvShape& shape);
// Floats of working memory for any of the three, for as many threads as OpenMP has when that is
// asked.
int64_t WinogradScratch(const BlockedConvShape& shape);

// y = x * w + bias, then max(0, ·) if `relu`; `bias` may be null.
void WinogradForward(const BlockedConvShape& shape, const float* x, const float* w,
                     const float* bias, bool relu, float* y, float* scratch);
void WinogradBackwardData(const BlockedConvShape& shape, const float* dy, const float* w, float* dx,
                          float* scratch);
void WinogradBackwardWeights(const BlockedConvShape& shape, const float* x, const float* dy,
                             float* dw, float* scratch);

}  // namespace tench::native
