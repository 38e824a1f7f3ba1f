// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a network costs on paper: parameters, FLOPs (a multiply-add is two) and bytes, per layer and
// in all. It counts the arithmetic that the op's definition needs, not what any framework does.
// Only convolution, fully connected and LSTM are counted multiply by multiply; for the rest one
// FLOP per output element and input that it reads (documented in cost.cc per op). Counts that no
// integer holds stay at the largest one.

#include <cstdint>
#include <vector>

#include "net/graph.h"
#include "record/phase.h"

namespace tench {

struct Cost {
  int64_t parameters = 0;     // trained ones
  int64_t forward_flops = 0;  // for the whole batch
  int64_t backward_flops =
      0;  // gradients of data and weights; none of data where no parameter lies before the layer
  int64_t activation_bytes = 0;  // the output, f32
  int64_t parameter_bytes = 0;   // trained and state, f32
};

std::vector<Cost> LayerCosts(const TypedGraph& graph);  // one per layer
Cost LayerCost(const TypedGraph& graph, size_t layer);
Cost TotalCost(const TypedGraph& graph);
// FLOPs of one step: forward counts InferenceGraph's when the caller passes that; train adds 4 per
// parameter (momentum, decay).
int64_t StepFlops(const TypedGraph& graph, Phase phase);

}  // namespace tench
