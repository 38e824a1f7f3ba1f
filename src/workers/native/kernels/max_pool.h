// SPDX-License-Identifier: Apache-2.0
#pragma once
// Max pooling with windows that tile the image (stride equal to the kernel, no padding), in a
// channel-blocked layout, for AVX2. Each input element belongs to one window, so backward writes
// each element of dx once and needs no clearing pass. Not aware of oneDNN.
//   x, dx             (planes, out_h · kernel_h, out_w · kernel_w, block)
//   y, dy, which      (planes, out_h, out_w, block)
//
// Thread safety: a call uses the calling thread's OpenMP team.

#include <cstdint>

namespace tench::native {

struct MaxPoolShape {
  int64_t planes = 0;  // images × channel blocks
  int64_t out_h = 0, out_w = 0;
  int64_t kernel_h = 0, kernel_w = 0;
  int64_t block = 8;  // channels, a multiple of 8
};

// Whether the CPU has AVX2 and the kernel supports the shape: windows of at most 256 elements.
bool HasMaxPool(const MaxPoolShape& shape);

// `which` is the index of the maximum in its window, row-major; the first one among equal maxima.
// NaN propagates.
void MaxPoolForward(const MaxPoolShape& shape, const float* x, float* y, uint8_t* which);
// dx = dy at the index of the maximum, else 0.
void MaxPoolBackward(const MaxPoolShape& shape, const float* dy, const uint8_t* which, float* dx);

}  // namespace tench::native
