// SPDX-License-Identifier: Apache-2.0
#pragma once
// The fusion pass: an activation that is the only reader of a convolution, a fully connected layer,
// a batch norm (ReLU only) or a sum (ReLU only) is fused into that layer. Pure: a graph in,
// annotations out; not aware of primitives or layouts.

#include <vector>

#include "net/graph.h"
#include "net/op_traits.h"
#include "workers/native/kernels/activation.h"

namespace tench::native {

struct Fusion {
  // All are indexed by layer.
  std::vector<Activation> activation;  // applied by the layer to its result
  std::vector<bool> absorbed;          // fused into the layer's input
  // The derivative that multiplies the gradient of the layer's output, evaluated at that output.
  // A convolution's ReLU that only a max pool reads is differentiated at the pool: a window whose
  // maximum is not positive passes no gradient. The convolution's output, several times as large,
  // then need not be kept for the backward pass. Batch norm has none: oneDNN keeps a mask.
  std::vector<Activation> derivative;
  std::vector<int> readers;  // the number of layer inputs that name its output
};

// Without `enabled` only `readers` is set: an observing build needs every layer's own output.
Fusion PlanFusion(const TypedGraph& graph, bool enabled);

}  // namespace tench::native
