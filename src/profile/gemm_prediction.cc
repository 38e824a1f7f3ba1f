// SPDX-License-Identifier: Apache-2.0
#include "profile/gemm_prediction.h"

namespace tench {

Result<GemmCounts> PredictCaffeGemms(const TypedGraph& graph, int64_t forward, int64_t backward,
                                     BlasPath path) {
  const std::vector<bool> needs_gradient = NeedsGradient(graph);
  GemmCounts counts;
  // The CPU's kinds. cuBLAS computes the transposed product, which exchanges nt and tn.
  for (size_t i = 0; i < graph.layers.size(); ++i) {
    const TypedLayer& typed = graph.layers[i];
    const Op& op = typed.layer.op;
    if (std::holds_alternative<Lstm>(op) || std::holds_alternative<Embedding>(op))
      return Unsupported("{}: the number of matrix products of layer '{}' ({}) is not fixed",
                         graph.name, typed.layer.name, OpName(op));
    const bool data_gradient = !typed.inputs.empty() && needs_gradient[typed.inputs[0]];
    if (const auto* conv = std::get_if<Convolution>(&op)) {
      const int64_t products = graph.batch * conv->groups;
      counts.nn += products * forward;
      counts.nt += products * backward;
      if (data_gradient) counts.tn += products * backward;
      if (conv->bias) counts.bias += graph.batch * forward;
    } else if (const auto* fc = std::get_if<FullyConnected>(&op)) {
      counts.nt += forward;
      counts.tn += backward;
      if (data_gradient) counts.nn += backward;
      if (fc->bias) counts.bias += forward;
    }
  }
  if (path == BlasPath::kGpu) std::swap(counts.nt, counts.tn);
  return counts;
}

}  // namespace tench
