// SPDX-License-Identifier: Apache-2.0
#pragma once
// A count sketch of a tensor (Charikar, Chen and Farach-Colton 2002): its norm and 32 seeded
// projections. Each element is added, with a random sign, to one of 32 sums. Projections are
// linear, so the sketch of a difference is the difference of the sketches. Its root sum of squares
// estimates the norm of the difference: within about ±13 % for a spread difference, exactly for a
// single element. So two tensors can be compared without storing both. Pure.

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

// `name` seeds the signs; only sketches of the same name are comparable. A NaN or an infinity in
// the tensor propagates to the norm.
Sketch MakeSketch(std::string_view name, std::span<const float> values);

// The estimated norm of the difference; infinite if either tensor has a NaN or an infinity.
double Distance(const Sketch& a, const Sketch& b);

// Little-endian f32 in base64, four characters for three bytes, without padding characters.
std::string EncodeReals(std::span<const float> values);
Status DecodeReals(std::string_view text, std::span<float> values);

// 172 characters of base64 over the projections as little-endian f32; the rounding is far below any
// tolerance of parity.
std::string EncodeProjections(const Sketch& sketch);
Status DecodeProjections(std::string_view text, Sketch& sketch);

}  // namespace tench
