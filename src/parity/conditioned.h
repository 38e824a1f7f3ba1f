// SPDX-License-Identifier: Apache-2.0
#pragma once
// A well-conditioned variant of a network, in which rounding errors stay small at any depth. The
// layers, shapes and ops are those of the network, so that a worker compiles the same kernels,
// fusions and recomputations. Only initial values and the input differ:
//   - Images are linear ramps with little texture, whose maximum within a pooling window does not
//     depend on rounding.
//   - The convolutions and dense layers before a ReLU or a max pooling average their input and add
//   a
//     random filter of small variance, so that ramps stay ramps. Their biases make the ReLU input
//     positive, or negative in a quarter of the channels. It is five standard deviations away from
//     zero: its sign does not depend on rounding, and both branches of the ReLU are taken.
//   - Batch norms (and Scale layers) before a ReLU are shifted likewise. The last one of a residual
//     branch is scaled down, so that the sum stays positive through any number of blocks.
// A network without ReLU, max pooling and Maximum is smooth already, and is not changed.
// docs/parity.md gives the reasons. Pure.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "net/graph.h"

namespace tench {

struct ConditionedNetwork {
  Graph network;
  // Biases and inputs that no fill can generate, by name, for the given batch.
  std::map<std::string, std::vector<float>> reals;
};

Result<ConditionedNetwork> Condition(const Graph& network, int64_t batch);

}  // namespace tench
