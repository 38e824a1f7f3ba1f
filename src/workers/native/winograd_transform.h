// SPDX-License-Identifier: Apache-2.0
#pragma once
// Products of polynomials by way of their values (Toom and Cook; for convolutions Winograd): the three transforms of a convolution with six
// points, in one dimension and in two, on vectors of eight channels. The points are 0, ±a, ±2a and infinity; a = 3/4 keeps rounding
// smaller than the usual a = 1 does (1.1e-6 instead of 2.1e-6 of the result's norm for 3×3 kernels and 256 channels), and sixteenths are exact in binary.

#ifdef __x86_64__
#include <immintrin.h>

#include <cstdint>

#include "workers/native/winograd_geometry.h"

namespace tench::native::winograd {

#define TENCH_WINOGRAD [[gnu::target("avx2,fma"), gnu::always_inline]] inline

constexpr float kA = 0.75f, kB = 1.5f, kA2 = kA * kA, kB2 = kB * kB, kA3 = kA2 * kA, kB3 = kB2 * kB, kA4 = kA2 * kA2, kB4 = kB2 * kB2;
// 1 / the product of a point's distances to the other finite ones.
constexpr float kAt0 = 1 / (kA2 * kB2), kAtA = 1 / (2 * kA2 * (kA2 - kB2)), kAtB = 1 / (2 * kB2 * (kB2 - kA2));

// What a tile's input is turned into.
struct Input {
  static constexpr int64_t kFrom = kSide, kTo = kSide;
  TENCH_WINOGRAD static void Apply(const __m256 (&v)[kFrom], __m256 (&to)[kTo]) {
    to[0] = kA2 * kB2 * v[0] - (kA2 + kB2) * v[2] + v[4];
    const __m256 even_a = v[4] - kB2 * v[2], odd_a = kA * (v[3] - kB2 * v[1]);
    to[1] = even_a + odd_a;
    to[2] = even_a - odd_a;
    const __m256 even_b = v[4] - kA2 * v[2], odd_b = kB * (v[3] - kA2 * v[1]);
    to[3] = even_b + odd_b;
    to[4] = even_b - odd_b;
    to[5] = kA2 * kB2 * v[1] - (kA2 + kB2) * v[3] + v[5];
  }
};

// The transposed map: what a tile's input gets back.
struct InputGradient {
  static constexpr int64_t kFrom = kSide, kTo = kSide;
  TENCH_WINOGRAD static void Apply(const __m256 (&v)[kFrom], __m256 (&to)[kTo]) {
    const __m256 even_a = v[1] + v[2], odd_a = kA * (v[1] - v[2]), even_b = v[3] + v[4], odd_b = kB * (v[3] - v[4]);
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
  TENCH_WINOGRAD static void Apply(const __m256 (&v)[kFrom], __m256 (&to)[kTo]) {
    __m256 even_a = v[0], even_b = v[0], odd_a = kA * v[1], odd_b = kB * v[1];
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
  TENCH_WINOGRAD static void Apply(const __m256 (&v)[kFrom], __m256 (&to)[kTo]) {
    const __m256 even_a = v[1] + v[2], odd_a = v[1] - v[2], even_b = v[3] + v[4], odd_b = v[3] - v[4];
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
  TENCH_WINOGRAD static void Apply(const __m256 (&v)[kCount], __m256 (&to)[kSide]) {
    Values<kCount>::Apply(v, to);
    to[0] *= kAt0;
    to[1] *= kAtA, to[2] *= kAtA;
    to[3] *= kAtB, to[4] *= kAtB;
  }
};
template <int kCount>
struct ScaledResults : Results<kCount> {
  TENCH_WINOGRAD static void Apply(const __m256 (&v)[kSide], __m256 (&to)[kCount]) {
    const __m256 scaled[kSide] = {kAt0 * v[0], kAtA * v[1], kAtA * v[2], kAtB * v[3], kAtB * v[4], v[5]};
    Results<kCount>::Apply(scaled, to);
  }
};

// Both dimensions: down the columns, then along the rows.
template <class Line>
TENCH_WINOGRAD void Square(const __m256 (&from)[Line::kFrom][Line::kFrom], __m256 (&to)[Line::kTo][Line::kTo]) {
  __m256 half[Line::kTo][Line::kFrom];
#pragma GCC unroll 6
  for (int64_t column = 0; column < Line::kFrom; ++column) {
    __m256 line[Line::kFrom], result[Line::kTo];
#pragma GCC unroll 6
    for (int64_t i = 0; i < Line::kFrom; ++i) line[i] = from[i][column];
    Line::Apply(line, result);
#pragma GCC unroll 6
    for (int64_t i = 0; i < Line::kTo; ++i) half[i][column] = result[i];
  }
#pragma GCC unroll 6
  for (int64_t row = 0; row < Line::kTo; ++row) Line::Apply(half[row], to[row]);
}

// Eight vectors as the rows of a matrix to its columns.
TENCH_WINOGRAD void Transpose(__m256 (&v)[8]) {
  __m256 pair[8], four[8];
#pragma GCC unroll 4
  for (int64_t i = 0; i < 8; i += 2) {
    pair[i] = _mm256_unpacklo_ps(v[i], v[i + 1]);
    pair[i + 1] = _mm256_unpackhi_ps(v[i], v[i + 1]);
  }
#pragma GCC unroll 2
  for (int64_t i = 0; i < 8; i += 4) {
    four[i] = _mm256_shuffle_ps(pair[i], pair[i + 2], 0x44);
    four[i + 1] = _mm256_shuffle_ps(pair[i], pair[i + 2], 0xEE);
    four[i + 2] = _mm256_shuffle_ps(pair[i + 1], pair[i + 3], 0x44);
    four[i + 3] = _mm256_shuffle_ps(pair[i + 1], pair[i + 3], 0xEE);
  }
#pragma GCC unroll 4
  for (int64_t i = 0; i < 4; ++i) {
    v[i] = _mm256_permute2f128_ps(four[i], four[i + 4], 0x20);
    v[i + 4] = _mm256_permute2f128_ps(four[i], four[i + 4], 0x31);
  }
}

#undef TENCH_WINOGRAD

}  // namespace tench::native::winograd
#endif
