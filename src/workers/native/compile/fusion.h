// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which layers are computed together: an activation that alone reads a convolution, a fully
// connected layer, a batch norm or a sum becomes part of that layer. Pure: a network in, marks out;
// how a pair is computed is the lowering's matter.

#include <vector>

#include "net/graph.h"
#include "net/op_traits.h"
#include "workers/native/kernels/activation.h"

namespace tench::native {

struct Fusion {
  std::vector<Activation> activation;  // by layer: what it applies to its own result
  std::vector<bool> absorbed;          // by layer: its work is done by the layer that it reads
  // By layer: through whose derivative, taken where the layer's output is, its gradient goes first.
  // That of a convolution's rectifier which a max pool alone reads is taken at the pool: where the
  // largest of a window is not above zero, nothing comes back. So the convolution's own output,
  // several times as large, is not needed in the backward pass. Batch norm keeps a mask instead.
  std::vector<Activation> derivative;
  std::vector<int> readers;  // by layer: how many inputs name its output
};

// With `enabled` false only `readers` is worked out: an observer wants every layer's own output.
Fusion PlanFusion(const TypedGraph& graph, bool enabled);

}  // namespace tench::native
