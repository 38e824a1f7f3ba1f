// SPDX-License-Identifier: Apache-2.0
#include "parity/op_probe.h"

#include <algorithm>
#include <cmath>

#include "net/op_parameters.h"
#include "net/op_traits.h"

namespace tench {
namespace {

constexpr int64_t kMaxProjectionsPerChannel = 8;
// Uniform, because tench's Gaussian has few distinct values: max pooling would meet ties, which
// frameworks break differently.
const Fill kValues{FillKind::kUniform, -1.7, 1.7};
const Fill kTargets{FillKind::kUniform, 0, 1};

// A fractional or negative exponent needs a base that is positive and not near zero.
Fill InputFor(const Power& op) {
  if (op.scale == 0 || (op.power >= 0 && op.power == std::floor(op.power))) return kValues;
  const double low = (0.25 - op.shift) / op.scale, high = (2 - op.shift) / op.scale;
  return {FillKind::kUniform, std::min(low, high), std::max(low, high)};
}

// How one op is probed.
struct ProbeRule {
  bool probed = true;
  Fill input = kValues;
  Fill weight = {};
};

ProbeRule RuleFor(const Op& op) {
  return std::visit(
      Overload{
          [](const Input&) { return ProbeRule{.probed = false}; },
          // Its random mask differs by framework; a trial of its own checks its statistics.
          [](const Dropout&) { return ProbeRule{.probed = false}; },
          [](const Power& power) { return ProbeRule{.input = InputFor(power)}; },
          [](const AnyOf<Convolution, FullyConnected, Lstm> auto&) {
            return ProbeRule{.weight = {FillKind::kXavier, 0, 0}};
          },
          // A scale that starts at the constant 1 would hide that a worker ignores it.
          [](const AnyOf<BatchNorm, Scale> auto&) {
            return ProbeRule{.weight = {FillKind::kUniform, 0.5, 1.5}};
          },
          [](const Embedding&) { return ProbeRule{.weight = kValues}; },
          [](const AnyOf<Pooling, Lrn, Relu, Sigmoid, Tanh, Concat, Slice, Add, Multiply, Maximum,
                         Flatten, Reshape, Softmax, MeanOverTime> auto&) { return ProbeRule{}; },
          [](const LossOp auto&) { return ProbeRule{}; }},
      op);
}

Shape Sample(const Shape& shape) { return {shape.begin() + 1, shape.end()}; }

void SetProbeFills(Layer& layer) {
  if (HasWeight(layer.op)) layer.weight.fill = RuleFor(layer.op).weight;
  // A bias that starts at a constant would hide that a worker ignores it.
  if (HasBias(layer.op)) layer.bias.fill = {FillKind::kUniform, -0.5, 0.5};
  if (auto* softmax = std::get_if<SoftmaxCrossEntropy>(&layer.op)) softmax->auxiliary = false;
}

class ProbeBuilder {
 public:
  explicit ProbeBuilder(const TypedGraph& graph) : graph_(graph) {
    probe_.network.name = graph.name + "/ops";
  }

  OpProbe Build() {
    for (size_t i = 0; i < graph_.layers.size(); ++i) {
      if (RuleFor(graph_.layers[i].layer.op).probed && !Known(i)) AddBranch(i);
    }
    return std::move(probe_);
  }

 private:
  bool Known(size_t index) {
    const TypedLayer& layer = graph_.layers[index];
    std::vector<TensorType> types;
    for (size_t i = 0; i < layer.inputs.size(); ++i) types.push_back(graph_.InputType(index, i));
    const bool known = std::any_of(seen_.begin(), seen_.end(), [&](const auto& earlier) {
      return earlier.first == layer.layer.op && earlier.second == types;
    });
    if (!known) seen_.emplace_back(layer.layer.op, std::move(types));
    return known;
  }

  void Append(Layer layer) {
    probe_.branch_of[layer.name] = branch_;
    probe_.network.layers.push_back(std::move(layer));
  }

  void AddBranch(size_t index) {
    const TypedLayer& typed = graph_.layers[index];
    Layer layer = typed.layer;
    branch_ = layer.name;
    for (size_t i = 0; i < typed.inputs.size(); ++i) layer.inputs[i] = AddInput(index, i);
    SetProbeFills(layer);
    probe_.ops.push_back(layer.name);
    Append(layer);
    if (IsLoss(layer.op)) return;
    Append({branch_ + ".target",
            Input{InputRole::kData, Sample(typed.output.shape), kTargets},
            {},
            {},
            {}});
    Append({branch_ + ".loss", MeanSquaredError{}, {branch_, branch_ + ".target"}, {}, {}});
  }

  std::string AddInput(size_t index, size_t position) {
    const std::string name = branch_ + ".x" + std::to_string(position);
    const TypedLayer& producer = graph_.layers[graph_.layers[index].inputs[position]];
    const Shape& shape = producer.output.shape;
    const Fill values = RuleFor(graph_.layers[index].layer.op).input;
    if (producer.output.dtype == DType::kI32) {
      Append({name, producer.layer.op, {}, {}, {}});
    } else if (IsLoss(graph_.layers[index].layer.op) && position == 1) {
      Append({name, Input{InputRole::kData, Sample(shape), kTargets}, {}, {}, {}});
    } else if (shape.size() == 4) {
      AddImage(name, shape, values);
    } else if (shape.size() == 3) {
      AddSequence(name, shape, values);
    } else {
      AddVector(name, shape, values);
    }
    return name;
  }

  void AddImage(const std::string& name, const Shape& shape, const Fill& values) {
    const int64_t channels = shape[1];
    int64_t width = std::min(channels, kMaxProjectionsPerChannel);
    while (channels % width != 0) --width;
    Append({name + ".data", Input{InputRole::kData, Sample(shape), values}, {}, {}, {}});
    Convolution identity{channels};
    identity.groups = channels / width;
    identity.bias = false;
    Append({name, identity, {name + ".data"}, {}, {}});
    std::vector<float>& weight = probe_.reals[name + ".weight"];
    weight.resize(static_cast<size_t>(channels * width));
    for (int64_t c = 0; c < channels; ++c) weight[static_cast<size_t>(c * width + c % width)] = 1;
  }

  void AddSequence(const std::string& name, const Shape& shape, const Fill& values) {
    const int64_t rows = shape[0] * shape[1];
    Append(
        {name + ".data",
         Input{InputRole::kTokens, {shape[1]}, {FillKind::kInteger, 0, static_cast<double>(rows)}},
         {},
         {},
         {}});
    Append({name, Embedding{rows, shape[2]}, {name + ".data"}, {values}, {}});
    std::vector<int32_t>& tokens = probe_.integers[name + ".data"];
    for (int64_t i = 0; i < rows; ++i) tokens.push_back(static_cast<int32_t>(i));
  }

  void AddVector(const std::string& name, const Shape& shape, const Fill& values) {
    const int64_t batch = shape[0];
    Append({name + ".data", Input{InputRole::kData, {batch}, values}, {}, {}, {}});
    Append({name, FullyConnected{shape[1], false}, {name + ".data"}, {values}, {}});
    std::vector<float>& identity = probe_.reals[name + ".data"];
    identity.resize(static_cast<size_t>(batch * batch));
    for (int64_t i = 0; i < batch; ++i) identity[static_cast<size_t>(i * batch + i)] = 1;
  }

  const TypedGraph& graph_;
  OpProbe probe_;
  std::string branch_;
  std::vector<std::pair<Op, std::vector<TensorType>>> seen_;
};

}  // namespace

OpProbe MakeOpProbe(const TypedGraph& graph) { return ProbeBuilder(graph).Build(); }

}  // namespace tench
