// SPDX-License-Identifier: Apache-2.0
#pragma once
// Every weight and every synthetic sample is a pure function of (seed, tensor name, index): a
// counter-based generator, so that each worker makes the identical bits itself, in any order and on
// any number of threads. Only integer arithmetic and correctly rounded IEEE operations are used;
// docs/generator.md states the formulas for workers in other languages, with test vectors.

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
  int64_t Integer(uint64_t index, int64_t low,
                  int64_t high) const;  // [low, high), at most 2^32 values

 private:
  uint64_t key_;
};

// Whether the fill's numbers make sense by themselves: finite, in order, integers where integers
// are made.
Status CheckFill(const Fill& fill);

// kXavier and kMsra with numbers put in, by the shape's fan; others unchanged.
Fill ResolveFill(const Fill& fill, const Shape& shape);

// Elements first_index, first_index + 1, … of the tensor; `fill` is resolved. Uses `threads`
// threads for large spans.
void FillTensor(uint64_t seed, std::string_view name, const Fill& fill, uint64_t first_index,
                std::span<float> out, int threads = 1);
void FillTensor(uint64_t seed, std::string_view name, const Fill& fill, uint64_t first_index,
                std::span<int32_t> out);

}  // namespace tench
