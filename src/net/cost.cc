// SPDX-License-Identifier: Apache-2.0
// The FLOPs of each op. Convolution, fully connected and LSTM count 2 per multiply-add; biases and
// gate functions are left out, as in publications. Any other op counts one per input element that
// an output element depends on:
//   relu, sigmoid, tanh, dropout        1 per element
//   softmax                             1 per element
//   pool                                every window element; global: the whole image
//   lrn                                 `size` per element; size² within a channel
//   batch_norm, scale                   2 per element: scale and shift
//   power                               2 per element: base and power
//   add, multiply, maximum              1 per input and element
//   mean_over_time                      every step of every sequence
//   softmax_cross_entropy               1 per score
//   other losses                        2 per element: value and target
//   input, concat, slice, flatten,
//   reshape, embedding                  0: they only move data
// Backward, the weight gradient (of ops with weights) and the data gradient (if a layer before has
// parameters) each cost as much as the forward pass. An LSTM always needs the data gradient of its
// hidden state. An embedding adds one gradient per output element to a row of its weights.
#include "net/cost.h"

#include <limits>

#include "net/op_traits.h"

namespace tench {
namespace {

// A valid network can have more FLOPs than an int64_t holds; the count saturates.
int64_t Times(int64_t x, int64_t y) {
  int64_t product = 0;
  return __builtin_mul_overflow(x, y, &product) ? std::numeric_limits<int64_t>::max() : product;
}
int64_t Plus(int64_t x, int64_t y) {
  int64_t sum = 0;
  return __builtin_add_overflow(x, y, &sum) ? std::numeric_limits<int64_t>::max() : sum;
}

struct Flops {
  int64_t forward = 0;
  int64_t weight_gradient = 0;
  int64_t data_gradient = 0;  // if a layer before has parameters
};

Flops MultiplyAdds(int64_t count) {
  const int64_t flops = Times(2, count);
  return {flops, flops, flops};
}
Flops Elements(int64_t count) { return {count, 0, count}; }

Flops OpFlops(const TypedGraph& graph, size_t index) {
  const TypedLayer& layer = graph.layers[index];
  const int64_t out = ElementCount(layer.output.shape);
  const auto in = [&](size_t input) -> const Shape& { return graph.InputType(index, input).shape; };
  const auto each_input = [&] {
    return Elements(Times(out, static_cast<int64_t>(layer.inputs.size())));
  };
  return std::visit(
      Overload{
          [&](const Convolution& op) {
            return MultiplyAdds(
                Times(out, Times(in(0)[1] / op.groups, Times(op.kernel.h, op.kernel.w))));
          },
          [&](const FullyConnected&) { return MultiplyAdds(Times(out, in(0)[1])); },
          [&](const Lstm& op) {
            const int64_t gates = Times(8, out);  // 4 gates, 2 FLOPs
            const int64_t input = Times(gates, in(0)[2]), hidden = Times(gates, op.hidden);
            return Flops{Plus(input, hidden), Plus(Plus(input, hidden), hidden), input};
          },
          [&](const Pooling& op) {
            return Elements(op.global ? ElementCount(in(0))
                                      : Times(out, Times(op.kernel.h, op.kernel.w)));
          },
          [&](const Lrn& op) {
            return Elements(Times(
                out, op.region == LrnRegion::kWithinChannel ? Times(op.size, op.size) : op.size));
          },
          [&](const BatchNorm& op) {
            return Flops{2 * out, op.affine ? 2 * out : 0, 2 * out};
          },
          [&](const Scale&) {
            return Flops{2 * out, 2 * out, 2 * out};
          },
          [&](const Power&) { return Elements(2 * out); },
          [&](const Embedding&) {
            return Flops{0, out, 0};
          },
          [&](const AnyOf<Add, Multiply, Maximum> auto&) { return each_input(); },
          [&](const MeanOverTime&) { return Elements(ElementCount(in(0))); },
          [&](const SoftmaxCrossEntropy&) { return Elements(ElementCount(in(0))); },
          [&](const AnyOf<SigmoidCrossEntropy, MeanSquaredError> auto&) {
            return Elements(2 * ElementCount(in(0)));
          },
          [](const AnyOf<Input, Concat, Slice, Flatten, Reshape> auto&) { return Flops{}; },
          [&](const AnyOf<Relu, Sigmoid, Tanh, Dropout, Softmax> auto&) { return Elements(out); }},
      layer.layer.op);
}

Cost CostOf(const TypedGraph& graph, size_t index, const std::vector<bool>& needs_gradient) {
  const TypedLayer& layer = graph.layers[index];
  const Flops flops = OpFlops(graph, index);
  Cost cost;
  cost.forward_flops = flops.forward;
  cost.backward_flops = flops.weight_gradient;
  for (size_t input : layer.inputs) {
    if (!needs_gradient[input]) continue;
    cost.backward_flops = Plus(cost.backward_flops, flops.data_gradient);
    break;
  }
  cost.activation_bytes = 4 * ElementCount(layer.output.shape);
  for (size_t i : layer.parameters) {
    const int64_t count = ElementCount(graph.parameters[i].shape);
    if (graph.parameters[i].trained) cost.parameters += count;
    cost.parameter_bytes += 4 * count;
  }
  return cost;
}

}  // namespace

std::vector<Cost> LayerCosts(const TypedGraph& graph) {
  const std::vector<bool> needs_gradient = NeedsGradient(graph);
  std::vector<Cost> costs;
  for (size_t i = 0; i < graph.layers.size(); ++i)
    costs.push_back(CostOf(graph, i, needs_gradient));
  return costs;
}

Cost LayerCost(const TypedGraph& graph, size_t layer) {
  return CostOf(graph, layer, NeedsGradient(graph));
}

Cost TotalCost(const TypedGraph& graph) {
  Cost total;
  for (const Cost& cost : LayerCosts(graph)) {
    total.parameters = Plus(total.parameters, cost.parameters);
    total.forward_flops = Plus(total.forward_flops, cost.forward_flops);
    total.backward_flops = Plus(total.backward_flops, cost.backward_flops);
    total.activation_bytes = Plus(total.activation_bytes, cost.activation_bytes);
    total.parameter_bytes = Plus(total.parameter_bytes, cost.parameter_bytes);
  }
  return total;
}

int64_t StepFlops(const TypedGraph& graph, Phase phase) {
  const Cost total = TotalCost(graph);
  if (phase == Phase::kForward) return total.forward_flops;
  const int64_t gradient = Plus(total.forward_flops, total.backward_flops);
  return phase == Phase::kGradient ? gradient : Plus(gradient, Times(4, total.parameters));
}

}  // namespace tench
