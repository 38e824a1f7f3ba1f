// SPDX-License-Identifier: Apache-2.0
#pragma once
// The transforms of Winograd convolution F(m×m, r×r) with m + r − 1 = 6 (Lavin and Gray 2015),
// Y = Aᵀ [(G g Gᵀ) ⊙ (Bᵀ d B)] A, and their transposes for the backward directions, on vectors of
// one channel block. The interpolation points (Toom–Cook) are 0, ±a, ±2a and ∞. a = 3/4 has a
// smaller rounding error than the usual a = 1, and its powers are exact in binary. Pure functions.

#include <cstdint>

#include "workers/native/kernels/winograd/blocking.h"

namespace tench::native::winograd {

// Everything is inlined into functions that are compiled for several instruction sets, so the code
// uses the compiler's vector extension, whose operations become one instruction or two.
#define TENCH_WINOGRAD [[gnu::always_inline]] inline

template <int64_t kLanes>
struct VectorOf {
  typedef float Type [[gnu::vector_size(kLanes * sizeof(float))]];
  typedef int32_t Index [[gnu::vector_size(kLanes * sizeof(float))]];
};
template <class Vec>
constexpr int64_t kLanesOf = sizeof(Vec) / sizeof(float);

template <class Vec>
TENCH_WINOGRAD void Load(const float* from, Vec& to) {
  __builtin_memcpy(&to, from, sizeof to);
}
template <class Vec>
TENCH_WINOGRAD void Store(const Vec& from, float* to) {
  __builtin_memcpy(to, &from, sizeof from);
}

constexpr float kA = 0.75f, kB = 1.5f, kA2 = kA * kA, kB2 = kB * kB, kA3 = kA2 * kA, kB3 = kB2 * kB,
                kA4 = kA2 * kA2, kB4 = kB2 * kB2;
// The scale factors of G: 1 / the product of a point's differences to the other finite points.
constexpr float kScale0 = 1 / (kA2 * kB2), kScaleA = 1 / (2 * kA2 * (kA2 - kB2)),
                kScaleB = 1 / (2 * kB2 * (kB2 - kA2));

// Bᵀ: the input transform.
struct InputTransform {
  static constexpr int64_t kFrom = kAlpha, kTo = kAlpha;
  template <class Vec>
  TENCH_WINOGRAD static void Apply(const Vec (&v)[kFrom], Vec (&to)[kTo]) {
    to[0] = kA2 * kB2 * v[0] - (kA2 + kB2) * v[2] + v[4];
    const Vec even_a = v[4] - kB2 * v[2], odd_a = kA * (v[3] - kB2 * v[1]);
    to[1] = even_a + odd_a;
    to[2] = even_a - odd_a;
    const Vec even_b = v[4] - kA2 * v[2], odd_b = kB * (v[3] - kA2 * v[1]);
    to[3] = even_b + odd_b;
    to[4] = even_b - odd_b;
    to[5] = kA2 * kB2 * v[1] - (kA2 + kB2) * v[3] + v[5];
  }
};

// B: from the points back to the input, for backward-data.
struct InputTransformTransposed {
  static constexpr int64_t kFrom = kAlpha, kTo = kAlpha;
  template <class Vec>
  TENCH_WINOGRAD static void Apply(const Vec (&v)[kFrom], Vec (&to)[kTo]) {
    const Vec even_a = v[1] + v[2], odd_a = kA * (v[1] - v[2]), even_b = v[3] + v[4],
              odd_b = kB * (v[3] - v[4]);
    to[0] = kA2 * kB2 * v[0];
    to[1] = kA2 * kB2 * v[5] - kB2 * odd_a - kA2 * odd_b;
    to[2] = -(kA2 + kB2) * v[0] - kB2 * even_a - kA2 * even_b;
    to[3] = odd_a + odd_b - (kA2 + kB2) * v[5];
    to[4] = v[0] + even_a + even_b;
    to[5] = v[5];
  }
};

// Evaluates a polynomial with kCount coefficients at the points (a Vandermonde matrix). It is A for
// kCount = m, and G without its scale factors for kCount = r.
template <int kCount>
struct Evaluate {
  static constexpr int64_t kFrom = kCount, kTo = kAlpha;
  template <class Vec>
  TENCH_WINOGRAD static void Apply(const Vec (&v)[kFrom], Vec (&to)[kTo]) {
    Vec even_a = v[0], even_b = v[0], odd_a = kA * v[1], odd_b = kB * v[1];
    if constexpr (kCount > 2) even_a += kA2 * v[2], even_b += kB2 * v[2];
    if constexpr (kCount > 3) odd_a += kA3 * v[3], odd_b += kB3 * v[3];
    if constexpr (kCount > 4) even_a += kA4 * v[4], even_b += kB4 * v[4];
    to[0] = v[0];
    to[1] = even_a + odd_a;
    to[2] = even_a - odd_a;
    to[3] = even_b + odd_b;
    to[4] = even_b - odd_b;
    to[5] = v[kCount - 1];
  }
};

// The transpose, from the points to kCount results. It is Aᵀ for kCount = m.
template <int kCount>
struct EvaluateTransposed {
  static constexpr int64_t kFrom = kAlpha, kTo = kCount;
  template <class Vec>
  TENCH_WINOGRAD static void Apply(const Vec (&v)[kFrom], Vec (&to)[kTo]) {
    const Vec even_a = v[1] + v[2], odd_a = v[1] - v[2], even_b = v[3] + v[4], odd_b = v[3] - v[4];
    to[0] = v[0] + even_a + even_b;
    to[1] = kA * odd_a + kB * odd_b;
    if constexpr (kCount > 2) to[2] = kA2 * even_a + kB2 * even_b;
    if constexpr (kCount > 3) to[3] = kA3 * odd_a + kB3 * odd_b;
    if constexpr (kCount > 4) to[4] = kA4 * even_a + kB4 * even_b;
    to[kCount - 1] += v[5];
  }
};

template <int kOut>
using OutputTransformTransposed = Evaluate<kOut>;  // A
template <int kOut>
using OutputTransform = EvaluateTransposed<kOut>;  // Aᵀ

// G: the weight transform.
template <int kCount>
struct WeightTransform : Evaluate<kCount> {
  template <class Vec>
  TENCH_WINOGRAD static void Apply(const Vec (&v)[kCount], Vec (&to)[kAlpha]) {
    Evaluate<kCount>::Apply(v, to);
    to[0] *= kScale0;
    to[1] *= kScaleA, to[2] *= kScaleA;
    to[3] *= kScaleB, to[4] *= kScaleB;
  }
};
// Gᵀ: from the points back to the weight gradient.
template <int kCount>
struct WeightTransformTransposed : EvaluateTransposed<kCount> {
  template <class Vec>
  TENCH_WINOGRAD static void Apply(const Vec (&v)[kAlpha], Vec (&to)[kCount]) {
    const Vec scaled[kAlpha] = {kScale0 * v[0], kScaleA * v[1], kScaleA * v[2],
                                kScaleB * v[3], kScaleB * v[4], v[5]};
    EvaluateTransposed<kCount>::Apply(scaled, to);
  }
};

// T · X · Tᵀ for the one-dimensional transform T = Line.
template <class Line, class Vec>
TENCH_WINOGRAD void Transform2d(const Vec (&from)[Line::kFrom][Line::kFrom],
                                Vec (&to)[Line::kTo][Line::kTo]) {
  Vec half[Line::kTo][Line::kFrom];
#pragma GCC unroll 6
  for (int64_t column = 0; column < Line::kFrom; ++column) {
    Vec line[Line::kFrom], result[Line::kTo];
#pragma GCC unroll 6
    for (int64_t i = 0; i < Line::kFrom; ++i) line[i] = from[i][column];
    Line::Apply(line, result);
#pragma GCC unroll 6
    for (int64_t i = 0; i < Line::kTo; ++i) half[i][column] = result[i];
  }
#pragma GCC unroll 6
  for (int64_t row = 0; row < Line::kTo; ++row) Line::Apply(half[row], to[row]);
}

// Transposes the square matrix whose rows are the vectors: swaps off-diagonal quadrants, then those
// of each quadrant, and so on.
template <class Vec, int64_t kHalf = kLanesOf<Vec> / 2>
TENCH_WINOGRAD void Transpose(Vec (&v)[kLanesOf<Vec>]) {
  constexpr int64_t kLanes = kLanesOf<Vec>;
  typename VectorOf<kLanes>::Index upper, lower;
#pragma GCC unroll 16
  for (int32_t lane = 0; lane < kLanes; ++lane) {
    upper[lane] = lane & kHalf ? kLanes + lane - kHalf : lane;
    lower[lane] = lane & kHalf ? kLanes + lane : lane + kHalf;
  }
#pragma GCC unroll 16
  for (int64_t i = 0; i < kLanes; ++i) {
    if (i & kHalf) continue;
    const Vec a = v[i], b = v[i + kHalf];
    v[i] = __builtin_shuffle(a, b, upper);
    v[i + kHalf] = __builtin_shuffle(a, b, lower);
  }
  if constexpr (kHalf > 1) Transpose<Vec, kHalf / 2>(v);
}

#undef TENCH_WINOGRAD

}  // namespace tench::native::winograd
