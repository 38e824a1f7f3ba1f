// SPDX-License-Identifier: Apache-2.0
#pragma once
// A tensor in 33 numbers: its norm and 32 seeded projections. Each element goes, with a random
// sign, into one of 32 sums, so that every projection is a random ±1 vector over a thirty-second of
// the tensor. Projections are linear: those of a difference are the difference of the projections,
// and their root sum of squares is an unbiased estimate of the difference's norm (within about ±13
// % for a difference that is spread over the tensor, exact for one element). So two tensors can be
// compared without having both. Pure.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace tench {

inline constexpr size_t kProjections = 32;

struct Sketch {
  double norm = 0;
  std::array<double, kProjections> projections{};
};

// `name` seeds the signs: two sketches can be compared only when they are of the same name. A NaN
// or an infinity anywhere shows in the norm.
Sketch MakeSketch(std::string_view name, std::span<const float> values);

// The estimated norm of the difference; infinite when either holds a NaN or an infinity.
double Distance(const Sketch& a, const Sketch& b);

// 172 characters of base64 over the projections as little-endian f32; the rounding is far below any
// tolerance of parity.
std::string EncodeProjections(const Sketch& sketch);
Status DecodeProjections(std::string_view text, Sketch& sketch);

}  // namespace tench
