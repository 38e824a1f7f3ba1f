// SPDX-License-Identifier: Apache-2.0
#pragma once
// e^x, the logistic function and tanh for loops that the compiler vectorises, where the standard
// functions would be one call per element. e^x is Cody and Waite's range reduction to |r| ≤ ln 2 /
// 2 followed by a polynomial; its error is at most 2 ulp on [−87, 88], and x is clamped to that
// range.
//
// Invariants: NaN propagates; by the clamp, e^x is otherwise positive and finite.
// Thread safety: pure functions.

#include <algorithm>
#include <bit>
#include <cstdint>

namespace tench::native {

[[gnu::always_inline]] inline float Exponential(float x) {
  constexpr float kLog2E = 1.44269504089f;
  constexpr float kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
  constexpr float kRound = 12582912.0f;  // 1.5 · 2^23: adding it rounds to integer
  x = x < -87.0f ? -87.0f : x;
  x = x > 88.0f ? 88.0f : x;
  const float shifted = x * kLog2E + kRound;
  const float n = shifted - kRound;
  const float r = (x - n * kLn2High) - n * kLn2Low;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  const int32_t bits = (static_cast<int32_t>(n) + 127) << 23;
  return p * std::bit_cast<float>(bits);
}

[[gnu::always_inline]] inline float Logistic(float x) { return 1.0f / (1.0f + Exponential(-x)); }

[[gnu::always_inline]] inline float HyperbolicTangent(float x) {
  // Near zero the difference below suffers catastrophic cancellation; the Taylor series does not.
  const float square = x * x;
  float series = -1382.0f / 155925.0f;
  series = series * square + 62.0f / 2835.0f;
  series = series * square - 17.0f / 315.0f;
  series = series * square + 2.0f / 15.0f;
  series = series * square - 1.0f / 3.0f;
  series = series * square * x + x;
  const float far = 1.0f - 2.0f / (1.0f + Exponential(2.0f * x));
  return square < 0.1225f ? series : far;
}

}  // namespace tench::native
