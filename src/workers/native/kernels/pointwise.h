// SPDX-License-Identifier: Apache-2.0
#pragma once
// Kernels that touch each element once: gradient sums with an activation's derivative, bias and
// activation, residual batch norm, dropout. They are limited by memory bandwidth, so each fuses
// what would be separate passes.
//
// Invariants: pointers may be equal (in place); arrays do not overlap otherwise.
// Thread safety: a call uses the calling thread's OpenMP team. Results do not depend on the number
// of threads.

#include <cstdint>
#include <span>

#include "workers/native/kernels/activation.h"
#include "workers/native/kernels/rows.h"

namespace tench::native {

// target = (Σ sources) · f'(activated), where f is `activation` and `activated` its output. All
// rows have one count and one length. `activated` is not read if there is no activation.
void SumGradients(float* target, const Rows& rows, std::span<const RowPointer> sources,
                  const RowPointer& activated, Activation activation);

// target = activation(Σ sources)
void SumActivate(float* target, const Rows& rows, std::span<const RowPointer> sources,
                 Activation activation);

// y = activation(y + bias) for y (n, channels / block, inner, block). `channels` is a multiple of
// `block`.
void AddBias(float* y, const float* bias, int64_t n, int64_t channels, int64_t inner, int64_t block,
             Activation activation);

// Images (planes, inner, block), where plane = n · channel_blocks + channel block. `block` is 8 or
// 16.
struct BlockedImages {
  int64_t planes = 0, channel_blocks = 0, inner = 0, block = 0;
};
struct NormVectors {
  const float *mean = nullptr, *variance = nullptr;
  const float *scale = nullptr, *shift = nullptr;  // null: 1 and 0
  float eps = 0;
};
// y = (x − mean) · scale / √(variance + eps) + shift + other, then ReLU if `relu`.
void BatchNormAdd(const BlockedImages& images, const float* x, const NormVectors& norm,
                  const float* other, bool relu, float* y);

// The mask is a function of these values and of the element's index (net/fill's counter-based
// generator).
struct DropoutMask {
  uint64_t seed = 0, step = 0, layer = 0;
  double ratio = 0;  // the probability that an element is dropped
};
// target = source / (1 − ratio) where kept, else 0. Writes kept: one byte per element, 1 or 0.
void DropoutForward(float* target, const float* source, uint8_t* kept, int64_t count,
                    const DropoutMask& mask);
void DropoutBackward(float* target, const float* source, const uint8_t* kept, int64_t count,
                     double ratio);

}  // namespace tench::native
