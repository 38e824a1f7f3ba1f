// SPDX-License-Identifier: Apache-2.0
#include "workers/native/compile/fusion.h"

#include <utility>

namespace tench::native {
namespace {

Activation ActivationOf(const Op& op) {
  if (IsPlainRelu(op)) return Activation::kRelu;
  if (std::holds_alternative<Sigmoid>(op)) return Activation::kSigmoid;
  if (std::holds_alternative<Tanh>(op)) return Activation::kTanh;
  return Activation::kNone;
}

bool CanAbsorb(const Op& op, Activation activation) {
  if (std::holds_alternative<Convolution>(op) || std::holds_alternative<FullyConnected>(op))
    return true;
  // oneDNN's batch norm knows ReLU only, and its mask costs a bit per element.
  const Add* add = std::get_if<Add>(&op);
  return activation == Activation::kRelu &&
         (std::holds_alternative<BatchNorm>(op) || (add != nullptr && add->coefficients.empty()));
}

}  // namespace

bool IsPlainRelu(const Op& op) {
  const Relu* relu = std::get_if<Relu>(&op);
  return relu != nullptr && relu->negative_slope == 0;
}

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
    const size_t rectifier = graph.layers[i].inputs[0];
    if (!fusion.absorbed[rectifier] || fusion.readers[rectifier] != 1) continue;
    Activation& derivative = fusion.derivative[graph.layers[rectifier].inputs[0]];
    if (derivative == Activation::kRelu)
      fusion.derivative[i] = std::exchange(derivative, Activation::kNone);
  }
  return fusion;
}

}  // namespace tench::native
