// SPDX-License-Identifier: Apache-2.0
#pragma once
// Winograd convolution, F(4×4,3×3) and F(2×2,5×5), of stride 1, in all three directions (Lavin and
// Gray 2015, "Fast Algorithms for Convolutional Neural Networks"). A tile of 6×6 input pixels takes
// 36 multiplications per pair of channels, which is 1/4 (3×3) or 36 % (5×5) of a direct
// convolution's. Layouts are those of blocked_conv_shape.h with blocks of 8 or 16 channels; for
// CPUs with AVX2 or AVX-512. Not aware of oneDNN. Scratch memory is the caller's; nothing is
// allocated.
//
// Invariants: results differ from a direct convolution's by rounding alone; transform.h has the
// interpolation points. Results may differ in rounding between numbers of threads.
// Thread safety: a call uses the calling thread's OpenMP team; concurrent calls need their own
// scratch.

#include <cstdint>

#include "workers/native/kernels/blocked_conv_shape.h"

namespace tench::native {

// Whether the CPU has AVX2 and the shape is supported: 3×3 or 5×5, stride and dilation 1, padding
// smaller than the kernel, at least a block of channels, whole blocks per group.
bool HasWinograd(const BlockedConvShape& shape);
// Whether it is the default candidate: supported, with enough tiles to amortise the weight
// transform.
bool FavoursWinograd(const BlockedConvShape& shape);

// Floats of scratch for any direction. It holds for OpenMP's number of threads at the time of the
// query.
int64_t WinogradScratch(const BlockedConvShape& shape);

// y = x ∗ w + bias, then ReLU if `relu`. `bias` may be null.
void WinogradForward(const BlockedConvShape& shape, const float* x, const float* w,
                     const float* bias, bool relu, float* y, float* scratch);
// Overwrites dx.
void WinogradBackwardData(const BlockedConvShape& shape, const float* dy, const float* w, float* dx,
                          float* scratch);
// Overwrites dw.
void WinogradBackwardWeights(const BlockedConvShape& shape, const float* x, const float* dy,
                             float* dw, float* scratch);

}  // namespace tench::native
