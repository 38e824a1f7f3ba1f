// SPDX-License-Identifier: Apache-2.0
#pragma once
// Local response normalisation across channels, forward and backward, for any dense image layout: a
// pixel's channels are gathered into a line that stays in the first-level cache, where the window
// slides. The backward pass works the sums out again from x instead of keeping them: that costs
// less than the memory. (oneDNN's backward pass has no generated code for this CPU family, and is
// many times slower.)

#include <cstdint>

namespace tench::native {

struct LrnShape {
  int64_t images = 0, pixels = 0, blocks = 0,
          block = 0;  // channels = blocks · block, padding included
  int64_t image_stride = 0, pixel_stride = 0, block_stride = 0;  // in elements
};
struct LrnParameters {
  int64_t size = 5;
  double alpha = 0, beta = 0, k = 1;
};

void LrnForward(const LrnShape& shape, const LrnParameters& op, const float* x, float* y);
void LrnBackward(const LrnShape& shape, const LrnParameters& op, const float* x, const float* dy,
                 float* dx);

}  // namespace tench::native
