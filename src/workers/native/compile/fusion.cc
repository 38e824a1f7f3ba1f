// SPDX-License-Identifier: Apache-2.0
#include "workers/native/compile/fusion.h"

#include <utility>

namespace tench::native {
namespace {

Activation ActivationOf(const Op& op) {
  return std::visit(Overload{[](const Relu& relu) {
                               return relu.negative_slope == 0 ? Activation::kRelu
                                                               : Activation::kNone;
                             },
                             [](const Sigmoid&) { return Activation::kSigmoid; },
                             [](const Tanh&) { return Activation::kTanh; },
                             [](const NonActivationOp auto&) { return Activation::kNone; }},
                    op);
}

bool CanAbsorb(const Op& op, Activation activation) {
  // oneDNN's batch norm fuses ReLU only; its mask costs one bit per element.
  const bool relu = activation == Activation::kRelu;
  return std::visit(
      Overload{[](const AnyOf<Convolution, FullyConnected> auto&) { return true; },
               [=](const BatchNorm&) { return relu; },
               [=](const Add& add) { return relu && add.coefficients.empty(); },
               [](const AnyOf<Input, Pooling, Lrn, Relu, Sigmoid, Tanh, Power, Dropout, Concat,
                              Slice, Multiply, Maximum, Flatten, Reshape, tench::Scale, Softmax,
                              Embedding, Lstm, MeanOverTime> auto&) { return false; },
               [](const LossOp auto&) { return false; }},
      op);
}

}  // namespace

Fusion PlanFusion(const TypedGraph& graph, bool enabled) {
  const size_t count = graph.layers.size();
  const std::vector<Activation> none(count, Activation::kNone);
  Fusion fusion{none, std::vector<bool>(count), none, std::vector<int>(count)};
  for (const TypedLayer& layer : graph.layers) {
    for (size_t input : layer.inputs) ++fusion.readers[input];
  }
  if (!enabled) return fusion;
  for (size_t i = 0; i < count; ++i) {
    const Activation activation = ActivationOf(graph.layers[i].layer.op);
    if (activation == Activation::kNone) continue;
    const size_t input = graph.layers[i].inputs[0];
    if (fusion.readers[input] != 1 || !CanAbsorb(graph.layers[input].layer.op, activation))
      continue;
    fusion.activation[input] = activation;
    fusion.absorbed[i] = true;
    if (!std::holds_alternative<BatchNorm>(graph.layers[input].layer.op))
      fusion.derivative[input] = activation;
  }
  for (size_t i = 0; i < count; ++i) {
    const Pooling* pool = std::get_if<Pooling>(&graph.layers[i].layer.op);
    if (pool == nullptr || pool->mode != PoolMode::kMax) continue;
    const size_t relu = graph.layers[i].inputs[0];
    if (!fusion.absorbed[relu] || fusion.readers[relu] != 1) continue;
    Activation& derivative = fusion.derivative[graph.layers[relu].inputs[0]];
    if (derivative == Activation::kRelu)
      fusion.derivative[i] = std::exchange(derivative, Activation::kNone);
  }
  return fusion;
}

}  // namespace tench::native
