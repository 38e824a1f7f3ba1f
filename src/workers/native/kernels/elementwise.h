// SPDX-License-Identifier: Apache-2.0
#pragma once
// Element by element over several inputs of one dense layout: weighted sums, products, maxima, and
// powers. Targets may be equal to a source of the same call but not overlap otherwise.

#include <cstdint>
#include <span>

namespace tench::native {

// y = Σ coefficients · sources
void WeightedSum(float* y, std::span<float* const> sources, std::span<const float> coefficients,
                 int64_t count);
// y = factor · x
void Scale(float* y, const float* x, float factor, int64_t count);

// y = Π sources, without the one that is left out; of none of them it is 1.
void Product(float* y, std::span<float* const> sources, size_t left_out, int64_t count);
// y *= x
void MultiplyInPlace(float* y, const float* x, int64_t count);

// y = max sources. A source that is not a number wins.
void Max(float* y, std::span<float* const> sources, int64_t count);
// dx = dy where source `which` is the first of the largest ones, else 0.
void MaxBackward(float* dx, const float* dy, std::span<float* const> sources, size_t which,
                 int64_t count);

struct PowerParameters {
  double power = 1, scale = 1, shift = 0;
};
// y = (shift + scale · x) ^ power
void PowerForward(float* y, const float* x, const PowerParameters& op, int64_t count);
// dx = dy · the slope at x
void PowerBackward(float* dx, const float* dy, const float* x, const PowerParameters& op,
                   int64_t count);

}  // namespace tench::native
