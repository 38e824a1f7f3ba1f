// SPDX-License-Identifier: Apache-2.0
#pragma once
// Shapes and host tensors. A shape has the logical order (N, C, H, W), independent of a framework's
// memory layout; dimension 0 is the batch. Workers use host tensors only to exchange data.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tench {

using Shape = std::vector<int64_t>;

enum class DType { kF32, kI32 };

struct TensorType {
  DType dtype = DType::kF32;
  Shape shape;
  bool operator==(const TensorType&) const = default;
};

// 1 for an empty shape; saturates at the largest integer.
int64_t ElementCount(const Shape& shape);
std::string ToString(const Shape& shape);  // "64x1x28x28"; "scalar" for an empty shape

// Owns its elements; exactly one of the vectors is used, by dtype.
struct HostTensor {
  std::string name;
  TensorType type;
  std::vector<float> f32;
  std::vector<int32_t> i32;
};

}  // namespace tench
