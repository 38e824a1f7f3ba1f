// SPDX-License-Identifier: Apache-2.0
#pragma once
// Products of polynomials by way of their values (Toom and Cook; for convolutions Winograd): the
// three transforms of a convolution with six points, in one dimension and in two, on vectors of a
// block of channels. The points are 0, ±a, ±2a and infinity; a = 3/4 keeps rounding smaller than
// the usual a = 1 does (1.1e-6 instead of 2.1e-6 of the result's norm for 3×3 kernels and 256
// channels), and sixteenths are exact in binary.

#include <cstdint>

#include "workers/native/kernels/winograd/blocking.h"

namespace tench::native::winograd {

// Vectors of the compiler's own kind: one instruction or two, by what the function that all this is
// inlined into was compiled for.
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
// 1 / the product of a point's distances to the other finite ones.
constexpr float kAt0 = 1 / (kA2 * kB2), kAtA = 1 / (2 * kA2 * (kA2 - kB2)),
                kAtB = 1 / (2 * kB2 * (kB2 - kA2));

// What a tile's input is turned into.
struct Input {
  static constexpr int64_t kFrom = kSide, kTo = kSide;
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

// The transposed map: what a tile's input gets back.
struct InputGradient {
  static constexpr int64_t kFrom = kSide, kTo = kSide;
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

// The values at the points of a polynomial with `kCount` coefficients.
template <int kCount>
struct Values {
  static constexpr int64_t kFrom = kCount, kTo = kSide;
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

// The transposed map: from the points back to `kCount` results.
template <int kCount>
struct Results {
  static constexpr int64_t kFrom = kSide, kTo = kCount;
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

// Values and results of the kernel's polynomial are divided by the distances of the points.
template <int kCount>
struct ScaledValues : Values<kCount> {
  template <class Vec>
  TENCH_WINOGRAD static void Apply(const Vec (&v)[kCount], Vec (&to)[kSide]) {
    Values<kCount>::Apply(v, to);
    to[0] *= kAt0;
    to[1] *= kAtA, to[2] *= kAtA;
    to[3] *= kAtB, to[4] *= kAtB;
  }
};
template <int kCount>
struct ScaledResults : Results<kCount> {
  template <class Vec>
  TENCH_WINOGRAD static void Apply(const Vec (&v)[kSide], Vec (&to)[kCount]) {
    const Vec scaled[kSide] = {kAt0 * v[0], kAtA * v[1], kAtA * v[2],
                               kAtB * v[3], kAtB * v[4], v[5]};
    Results<kCount>::Apply(scaled, to);
  }
};

// Both dimensions: down the columns, then along the rows.
template <class Line, class Vec>
TENCH_WINOGRAD void Square(const Vec (&from)[Line::kFrom][Line::kFrom],
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

// As many vectors as each has lanes, as the rows of a matrix, to its columns: exchanges squares of
// half the size, then of a quarter, and so on.
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
