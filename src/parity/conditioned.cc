// SPDX-License-Identifier: Apache-2.0
#include "parity/conditioned.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "net/fill.h"
#include "net/op_parameters.h"
#include "net/op_traits.h"

namespace tench {
namespace {

constexpr uint64_t kConditionedSeed = 0x636f6e64;

// A convolution or dense layer before a ReLU averages its input and adds a random filter and a
// bias: 0.8 ± 0.15 + 0.2, or 0.8 ± 0.15 - 1.8 in a quarter of the channels. Averaging keeps the
// direction of a ramp through any number of layers. Zero is five deviations away.
constexpr double kAverage = 0.8, kFilter = 0.15;
constexpr double kPositiveBias[] = {0.1, 0.3}, kNegativeBias[] = {-1.9, -1.7};
// A batch norm before a ReLU: an eighth of its normalized input ± 1. No element of an image comes
// near zero, so that a shift which the next batch norm removes has no gradient at all.
constexpr double kNormScale[] = {0.1, 0.15}, kNormBias[] = {0.9, 1.1};
// A residual branch adds 0.05 ± 0.03 to the sum. After n blocks the mean is 1 + 0.05·n and the
// deviation √(0.016 + 0.001·n), at most an eighth of the mean.
constexpr double kResidualShare = 0.05, kResidualScale = 0.25;
constexpr double kNegativeChannels = 0.25;  // of the channels
constexpr int64_t kMinChannels = 4;         // fewer channels are all positive

constexpr double kOffset[] = {0.9, 1.1}, kRise[] = {0.1, 0.25};  // of a ramp, over the whole image
constexpr double kTexture = 0.2;  // of the ramp's step from pixel to pixel

enum class Role {
  kPlain,
  kShifted,   // before a ReLU: biases of both signs
  kPositive,  // the main term of a sum before a ReLU: positive biases only
  kResidual,  // another term of such a sum
};

double Between(const double (&bounds)[2], double uniform) {
  return bounds[0] + (bounds[1] - bounds[0]) * uniform;
}
Fill Uniform(const double (&bounds)[2], double scale = 1) {
  return {FillKind::kUniform, scale * bounds[0], scale * bounds[1]};
}
bool IsNorm(const Op& op) {
  return std::holds_alternative<BatchNorm>(op) || std::holds_alternative<Scale>(op);
}

bool IsMaxPool(const Op& op) {
  const auto* pool = std::get_if<Pooling>(&op);
  return pool != nullptr && pool->mode == PoolMode::kMax;
}

bool NeedsConditioning(const Graph& network) {
  return std::any_of(network.layers.begin(), network.layers.end(), [](const Layer& layer) {
    return std::holds_alternative<Relu>(layer.op) || std::holds_alternative<Maximum>(layer.op) ||
           IsMaxPool(layer.op);
  });
}

// Ops that pass the sign of their input on.
bool IsTransparent(const Op& op) {
  return std::visit(
      Overload{[](const AnyOf<Pooling, Lrn, Dropout, Concat, Slice, Flatten, Reshape> auto&) {
                 return true;
               },
               [](const AnyOf<Input, Convolution, Relu, Sigmoid, Tanh, Power, FullyConnected, Add,
                              Multiply, Maximum, BatchNorm, Scale, Softmax, Embedding, Lstm,
                              MeanOverTime> auto&) { return false; },
               [](const LossOp auto&) { return false; }},
      op);
}

// Ops whose bias can shift their output.
bool CanShift(const Op& op) {
  return std::visit(Overload{[&](const AnyOf<Convolution, FullyConnected, BatchNorm, Scale> auto&) {
                               return HasBias(op) && HasWeight(op);
                             },
                             [](const AnyOf<Embedding, Lstm> auto&) { return false; },
                             [](const ParameterlessOp auto&) { return false; }},
                    op);
}

class Conditioner {
 public:
  explicit Conditioner(const TypedGraph& graph)
      : graph_(graph), roles_(graph.layers.size()), means_(graph.layers.size(), 1) {
    result_.network.name = graph.name;
    for (const TypedLayer& layer : graph.layers) result_.network.layers.push_back(layer.layer);
  }

  ConditionedNetwork Run() {
    for (size_t i = 0; i < graph_.layers.size(); ++i) {
      if (std::holds_alternative<Relu>(graph_.layers[i].layer.op))
        Shift(graph_.layers[i].inputs[0], Role::kShifted);
    }
    for (size_t i = 0; i < graph_.layers.size(); ++i) {
      if (IsMaxPool(OpOf(i))) Shift(graph_.layers[i].inputs[0], Role::kPositive);
    }
    for (size_t i = 0; i < graph_.layers.size(); ++i) {
      SetInput(i);
      SetFills(i);
      means_[i] = EstimateMean(i);
    }
    return std::move(result_);
  }

 private:
  const Op& OpOf(size_t layer) const { return graph_.layers[layer].layer.op; }

  // Gives the role to the layers that make this output. The first role of a layer holds.
  void Shift(size_t layer, Role role) {
    if (CanShift(OpOf(layer))) {
      if (roles_[layer] == Role::kPlain) roles_[layer] = role;
    } else if (IsTransparent(OpOf(layer))) {
      for (const size_t input : graph_.layers[layer].inputs) Shift(input, role);
    } else if (std::holds_alternative<Add>(OpOf(layer))) {
      ShiftSum(graph_.layers[layer].inputs);
    }
  }

  // A term that a ReLU or an earlier sum made is positive, and the others are residuals to it. If
  // there is none, the last term takes its place.
  void ShiftSum(const std::vector<size_t>& terms) {
    const bool all =
        std::all_of(terms.begin(), terms.end(), [&](size_t i) { return Shiftable(i); });
    for (size_t i = 0; i < terms.size(); ++i) {
      if (Shiftable(terms[i]))
        Shift(terms[i], all && i + 1 == terms.size() ? Role::kPositive : Role::kResidual);
    }
  }

  bool Shiftable(size_t layer) const {
    while (IsTransparent(OpOf(layer))) layer = graph_.layers[layer].inputs[0];
    return CanShift(OpOf(layer));
  }

  bool IsTarget(size_t layer) const {
    return std::any_of(graph_.layers.begin(), graph_.layers.end(), [&](const TypedLayer& reader) {
      return IsLoss(reader.layer.op) &&
             std::find(reader.inputs.begin(), reader.inputs.end(), layer) != reader.inputs.end();
    });
  }

  void SetInput(size_t layer) {
    auto* input = std::get_if<Input>(&result_.network.layers[layer].op);
    if (input == nullptr || input->role != InputRole::kData || IsTarget(layer)) return;
    const Shape& shape = graph_.layers[layer].output.shape;
    if (shape.size() == 4) {
      SetRamps(graph_.layers[layer].layer.name, shape);
    } else {
      input->fill = {FillKind::kUniform, 0.75, 1.25};
    }
  }

  void SetRamps(const std::string& name, const Shape& shape) {
    const Generator random(kConditionedSeed, name);
    const int64_t height = shape[2], width = shape[3];
    std::vector<float>& values = result_.reals[name];
    values.resize(static_cast<size_t>(ElementCount(shape)));
    size_t at = 0;
    for (int64_t plane = 0; plane < shape[0] * shape[1]; ++plane) {
      const uint64_t index = static_cast<uint64_t>(plane) * 3;
      const double offset = Between(kOffset, random.Uniform(index)),
                   down = Between(kRise, random.Uniform(index + 1)) / static_cast<double>(height),
                   right = Between(kRise, random.Uniform(index + 2)) / static_cast<double>(width),
                   grain = kTexture * std::min(down, right);
      for (int64_t y = 0; y < height; ++y) {
        for (int64_t x = 0; x < width; ++x, ++at) {
          const double texture = 2 * random.Uniform((uint64_t{1} << 40) + at) - 1;
          values[at] =
              static_cast<float>(offset + down * static_cast<double>(y - height / 2) +
                                 right * static_cast<double>(x - width / 2) + grain * texture);
        }
      }
    }
  }

  void SetFills(size_t layer) {
    if (roles_[layer] == Role::kPlain) return;
    Layer& changed = result_.network.layers[layer];
    const bool residual = roles_[layer] == Role::kResidual, norm = IsNorm(OpOf(layer));
    if (norm) {
      changed.weight.fill = Uniform(kNormScale, residual ? kResidualScale : 1);
    } else {
      const Parameter& weight = graph_.parameters[graph_.layers[layer].parameters[0]];
      const double fan_in = static_cast<double>(ElementCount(weight.shape)) /
                            static_cast<double>(weight.shape[0]),
                   mean = means_[graph_.layers[layer].inputs[0]];
      changed.weight.fill = {FillKind::kGaussian, residual ? 0 : kAverage / (mean * fan_in),
                             (residual ? kResidualShare : kFilter) / (mean * std::sqrt(fan_in))};
    }
    changed.bias.fill = residual ? Uniform(kNormBias, kResidualShare)
                        : norm   ? Uniform(kNormBias)
                                 : Uniform(kPositiveBias);
    if (roles_[layer] == Role::kShifted) SetSignedBias(layer);
  }

  void SetSignedBias(size_t layer) {
    const Parameter& bias = graph_.parameters[graph_.layers[layer].parameters[1]];
    const int64_t channels = bias.shape[0];
    if (channels < kMinChannels) return;
    const Generator random(kConditionedSeed, bias.name);
    const bool norm = IsNorm(OpOf(layer));
    std::vector<float>& values = result_.reals[bias.name];
    for (int64_t c = 0; c < channels; ++c) {
      const auto index = static_cast<uint64_t>(2 * c);
      const double uniform = random.Uniform(index);
      const bool negative = random.Uniform(index + 1) < kNegativeChannels;
      const double value = norm ? (negative ? -1 : 1) * Between(kNormBias, uniform)
                                : Between(negative ? kNegativeBias : kPositiveBias, uniform);
      values.push_back(static_cast<float>(value));
    }
  }

  // Of the output, after the ReLU that follows.
  double EstimateMean(size_t layer) const {
    switch (roles_[layer]) {
      case Role::kShifted:
        return result_.reals.contains(result_.network.layers[layer].name + ".bias")
                   ? 1 - kNegativeChannels
                   : 1;
      case Role::kPositive:
        return 1;
      case Role::kResidual:
        return kResidualShare;
      case Role::kPlain:
        break;
    }
    double largest = 0, sum = 0;
    for (const size_t input : graph_.layers[layer].inputs) {
      largest = std::max(largest, means_[input]);
      sum += means_[input];
    }
    if (std::holds_alternative<Add>(OpOf(layer))) return sum;
    return graph_.layers[layer].inputs.empty() ? 1 : largest;
  }

  const TypedGraph& graph_;
  std::vector<Role> roles_;
  std::vector<double> means_;  // estimated, of each output
  ConditionedNetwork result_;
};

}  // namespace

Result<ConditionedNetwork> Condition(const Graph& network, int64_t batch) {
  if (!NeedsConditioning(network)) return ConditionedNetwork{network, {}};
  const TypedGraph graph = TENCH_TRY(Infer(network, batch));
  return Conditioner(graph).Run();
}

}  // namespace tench
