// SPDX-License-Identifier: Apache-2.0
#pragma once
// A counter-based random number generator. Every weight and every synthetic sample is a pure
// function of (seed, tensor name, index), so each worker generates identical bits in any order and
// on any number of threads. Uses only integer arithmetic and correctly rounded IEEE operations.
// docs/generator.md has the formulas and test vectors for workers in other languages.

#include <cstdint>
#include <span>
#include <string_view>

#include "net/graph.h"

namespace tench {

class Generator {
 public:
  Generator(uint64_t seed, std::string_view tensor_name);
  uint64_t Bits(uint64_t counter) const;  // 64 random bits
  double Uniform(uint64_t index) const;   // [0, 1), 53 bits
  double Gaussian(uint64_t index) const;  // mean 0, variance 1: eight summed 16-bit uniforms, exact
  // In [low, high), at most 2^32 values.
  int64_t Integer(uint64_t index, int64_t low, int64_t high) const;

 private:
  uint64_t key_;
};

// Checks a fill by itself: finite, ordered bounds, integer bounds for kInteger.
Status CheckFill(const Fill& fill);

// Replaces kXavier and kMsra by the distribution for the shape's fan; others are unchanged.
Fill ResolveFill(const Fill& fill, const Shape& shape);

// Elements first_index, first_index + 1, … of the tensor; `fill` is resolved. Uses `threads`
// threads for large spans.
void FillTensor(uint64_t seed, std::string_view name, const Fill& fill, uint64_t first_index,
                std::span<float> out, int threads = 1);
void FillTensor(uint64_t seed, std::string_view name, const Fill& fill, uint64_t first_index,
                std::span<int32_t> out);

}  // namespace tench
