// SPDX-License-Identifier: Apache-2.0
#pragma once
// The shape of a fully connected layer, y (batch, out) = x (batch, in) · wᵀ + b, with the weights w
// (out, in). All matrices are dense and row-major.

#include <cstdint>

namespace tench::native {

struct DenseShape {
  int64_t batch = 0, in = 0, out = 0;
};

}  // namespace tench::native
