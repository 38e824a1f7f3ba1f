// SPDX-License-Identifier: Apache-2.0
#pragma once
// The theoretical cost of a network: parameters, FLOPs (a multiply-add is two) and bytes, per layer
// and in total. Counts the arithmetic of the op's definition, not of an implementation.
// Convolution, fully connected and LSTM are counted exactly; cost.cc lists the rule of every other
// op. Counts saturate at the largest int64_t.

#include <cstdint>
#include <vector>

#include "net/graph.h"
#include "record/phase.h"

namespace tench {

struct Cost {
  int64_t parameters = 0;     // trained
  int64_t forward_flops = 0;  // for the whole batch
  // Data gradient and weight gradient. No data gradient if no layer before has parameters.
  int64_t backward_flops = 0;
  int64_t activation_bytes = 0;  // the output, f32
  int64_t parameter_bytes = 0;   // trained and state, f32
};

std::vector<Cost> LayerCosts(const TypedGraph& graph);  // one per layer
Cost LayerCost(const TypedGraph& graph, size_t layer);
Cost TotalCost(const TypedGraph& graph);
// FLOPs of one step of the given graph; the caller passes the InferenceGraph for the forward phase.
// The train phase adds 4 per parameter (momentum, weight decay).
int64_t StepFlops(const TypedGraph& graph, Phase phase);

}  // namespace tench
