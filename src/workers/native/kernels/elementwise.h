// SPDX-License-Identifier: Apache-2.0
#pragma once
// Elementwise sum, product, maximum and power over arrays of one dense layout, forward and
// backward. `count` is the number of floats, layout padding included.
//
// Invariants: a target may be equal to a source of the same call; arrays do not overlap otherwise.
// Thread safety: a call splits its range over the calling thread's OpenMP team. Concurrent calls
// must not share a target.

#include <cstdint>
#include <span>

namespace tench::native {

// y = Σ coefficients[k] · sources[k]. y may be equal to sources[0] only.
void WeightedSum(float* y, std::span<float* const> sources, std::span<const float> coefficients,
                 int64_t count);
// y = factor · x
void Scale(float* y, const float* x, float factor, int64_t count);

// y = Π sources[k] over k ≠ left_out; the empty product is 1. y may be equal to the first factor
// only.
void Product(float* y, std::span<float* const> sources, size_t left_out, int64_t count);
// y *= x
void MultiplyInPlace(float* y, const float* x, int64_t count);

// y = max over the sources. NaN propagates.
void Max(float* y, std::span<float* const> sources, int64_t count);
// dx = dy where source `which` is the maximum, else 0. Among equal maxima the first one gets dy;
// among NaNs the last one does.
void MaxBackward(float* dx, const float* dy, std::span<float* const> sources, size_t which,
                 int64_t count);

struct PowerParameters {
  double power = 1, scale = 1, shift = 0;
};
// y = (shift + scale · x) ^ power
void PowerForward(float* y, const float* x, const PowerParameters& op, int64_t count);
// dx = dy · power · scale · (shift + scale · x) ^ (power − 1); 0 if power · scale is 0.
void PowerBackward(float* dx, const float* dy, const float* x, const PowerParameters& op,
                   int64_t count);

}  // namespace tench::native
