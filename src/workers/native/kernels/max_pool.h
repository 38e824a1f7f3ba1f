// SPDX-License-Identifier: Apache-2.0
#pragma once
// Max pooling whose windows lie side by side and fill the image, for images in blocks of channels:
// every element of the input belongs to one window, so that its gradient is written once, and never
// cleared before. For CPUs with AVX2. Knows nothing of oneDNN.

#include <cstdint>

namespace tench::native {

struct MaxPoolShape {
  int64_t planes = 0;  // images × blocks of channels
  int64_t out_h = 0, out_w = 0;
  int64_t kernel_h = 0, kernel_w = 0;
  int64_t block = 8;  // channels side by side, a multiple of 8
};

bool HasMaxPool(const MaxPoolShape& shape);

// x: (planes, out_h · kernel_h, out_w · kernel_w, block). y and which: (planes, out_h, out_w,
// block); `which` is the place in its window of the first of the largest, row by row. A number that
// is none wins.
void MaxPoolForward(const MaxPoolShape& shape, const float* x, float* y, uint8_t* which);
// dx = dy where the largest was, else 0.
void MaxPoolBackward(const MaxPoolShape& shape, const float* dy, const uint8_t* which, float* dx);

}  // namespace tench::native
