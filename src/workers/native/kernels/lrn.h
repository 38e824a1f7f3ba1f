// SPDX-License-Identifier: Apache-2.0
#pragma once
// Local response normalisation across channels, forward and backward:
//   y = x · s^−beta, s = k + alpha / size · Σ x² over a window of `size` channels centred on x
// It supports every dense image layout that is plain, channel-blocked or channels-last. The
// backward pass recomputes s from x, which is cheaper than keeping it.
//
// Thread safety: a call uses the calling thread's OpenMP team.

#include <cstdint>

namespace tench::native {

// Channels = blocks · block, padding included. Strides are in elements.
struct LrnShape {
  int64_t images = 0, pixels = 0, blocks = 0, block = 0;
  int64_t image_stride = 0, pixel_stride = 0, block_stride = 0;
};

struct LrnParameters {
  int64_t size = 5;  // odd
  double alpha = 0, beta = 0, k = 1;
};

void LrnForward(const LrnShape& shape, const LrnParameters& op, const float* x, float* y);
// dx may be equal to dy.
void LrnBackward(const LrnShape& shape, const LrnParameters& op, const float* x, const float* dy,
                 float* dx);

}  // namespace tench::native
