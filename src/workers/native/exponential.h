// SPDX-License-Identifier: Apache-2.0
#pragma once
// e^x for loops that the compiler vectorises: a polynomial after reduction to |r| ≤ ln 2 / 2, within 2 units in the last place over the whole
// range of float. The standard function is a call per element.

#include <algorithm>
#include <bit>
#include <cstdint>

namespace tench::native {

[[gnu::always_inline]] inline float Exponential(float x) {
  constexpr float kLog2E = 1.44269504089f;
  constexpr float kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
  constexpr float kRound = 12582912.0f;   // 1.5 · 2^23: adding it rounds to an integer
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

}  // namespace tench::native
