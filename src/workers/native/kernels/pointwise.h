// SPDX-License-Identifier: Apache-2.0
#pragma once
// Kernels that meet every element once: sums of gradients with the derivative of an activation,
// bias and activation, dropout. They run at memory bandwidth; a pass saved is worth more than any
// instruction. Pointers may be equal (work in place) but not overlap otherwise.

#include <cstdint>
#include <span>

#include "workers/native/kernels/activation.h"
#include "workers/native/kernels/rows.h"

namespace tench::native {

// target = Σ sources, times the derivative of `activation` where its output was `activated`. All
// rows have one count and one length.
void SumGradients(float* target, const Rows& rows, std::span<const RowPointer> sources,
                  const RowPointer& activated, Activation activation);

// target = activation(Σ sources).
void SumActivate(float* target, const Rows& rows, std::span<const RowPointer> sources,
                 Activation activation);

// y = activation(y + bias) where the channel of an element is its place in a row of `block`
// channels; (n, channel blocks, inner, block).
void AddBias(float* y, const float* bias, int64_t n, int64_t channels, int64_t inner, int64_t block,
             Activation activation);

// Images in blocks of channels: so many planes (n, channel block) of `inner` places with `block`
// channels each.
struct BlockedImages {
  int64_t planes = 0, channel_blocks = 0, inner = 0, block = 0;
};
struct NormVectors {
  const float *mean = nullptr, *variance = nullptr, *scale = nullptr,
              *shift = nullptr;  // the latter two may be null
  float eps = 0;
};
// y = the batch norm of x, by given statistics, + other; then max(0, ·) if `relu`.
void BatchNormAdd(const BlockedImages& images, const float* x, const NormVectors& norm,
                  const float* other, bool relu, float* y);

struct DropoutMask {
  uint64_t seed = 0, step = 0, layer = 0;
  double ratio = 0;
};
// Writes one byte per element: 1 = it survives.
void DropoutForward(float* target, const float* source, uint8_t* kept, int64_t count,
                    const DropoutMask& mask);
void DropoutBackward(float* target, const float* source, const uint8_t* kept, int64_t count,
                     double ratio);

}  // namespace tench::native
