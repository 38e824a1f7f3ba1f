// SPDX-License-Identifier: Apache-2.0
#include "net/op.h"

#include <utility>
#include <vector>

#include "net/op_traits.h"

namespace tench {
namespace {

constexpr std::string_view kWithinChannel = "lrn.region", kNegativeSlope = "relu.negative_slope",
                           kCoefficients = "add.coefficients", kNotAffine = "batch_norm.affine",
                           kIgnoreLabel = "softmax_cross_entropy.ignore_label";

constexpr Overload kNameOf{
    [](const Input&) -> std::string_view { return "input"; },
    [](const Convolution&) -> std::string_view { return "conv"; },
    [](const Pooling&) -> std::string_view { return "pool"; },
    [](const Lrn&) -> std::string_view { return "lrn"; },
    [](const Relu&) -> std::string_view { return "relu"; },
    [](const Sigmoid&) -> std::string_view { return "sigmoid"; },
    [](const Tanh&) -> std::string_view { return "tanh"; },
    [](const Power&) -> std::string_view { return "power"; },
    [](const FullyConnected&) -> std::string_view { return "fc"; },
    [](const Dropout&) -> std::string_view { return "dropout"; },
    [](const Concat&) -> std::string_view { return "concat"; },
    [](const Slice&) -> std::string_view { return "slice"; },
    [](const Add&) -> std::string_view { return "add"; },
    [](const Multiply&) -> std::string_view { return "multiply"; },
    [](const Maximum&) -> std::string_view { return "maximum"; },
    [](const Flatten&) -> std::string_view { return "flatten"; },
    [](const Reshape&) -> std::string_view { return "reshape"; },
    [](const BatchNorm&) -> std::string_view { return "batch_norm"; },
    [](const Scale&) -> std::string_view { return "scale"; },
    [](const Softmax&) -> std::string_view { return "softmax"; },
    [](const Embedding&) -> std::string_view { return "embedding"; },
    [](const Lstm&) -> std::string_view { return "lstm"; },
    [](const MeanOverTime&) -> std::string_view { return "mean_over_time"; },
    [](const SoftmaxCrossEntropy&) -> std::string_view { return "softmax_cross_entropy"; },
    [](const SigmoidCrossEntropy&) -> std::string_view { return "sigmoid_cross_entropy"; },
    [](const MeanSquaredError&) -> std::string_view { return "mean_squared_error"; }};

template <size_t... Alternatives>
std::vector<std::string> NamesOf(std::index_sequence<Alternatives...>) {
  return {std::string(kNameOf(std::variant_alternative_t<Alternatives, Op>()))...};
}

}  // namespace

std::span<const std::string> OpNames() {
  static const std::vector<std::string> names =
      NamesOf(std::make_index_sequence<std::variant_size_v<Op>>());
  return names;
}

std::string_view OpName(const Op& op) { return std::visit(kNameOf, op); }

std::vector<std::string> OpNeeds(const Op& op) {
  std::vector<std::string> words = {std::string(OpName(op))};
  const auto field = std::visit(
      Overload{
          [](const Lrn& lrn) {
            return lrn.region == LrnRegion::kWithinChannel ? kWithinChannel : "";
          },
          [](const Relu& relu) { return relu.negative_slope != 0 ? kNegativeSlope : ""; },
          [](const Add& add) { return !add.coefficients.empty() ? kCoefficients : ""; },
          [](const BatchNorm& norm) { return !norm.affine ? kNotAffine : ""; },
          [](const SoftmaxCrossEntropy& loss) { return loss.ignore_label ? kIgnoreLabel : ""; },
          [](const AnyOf<Input, Convolution, Pooling, Sigmoid, Tanh, Power, FullyConnected, Dropout,
                         Concat, Slice, Multiply, Maximum, Flatten, Reshape, Scale, Softmax,
                         Embedding, Lstm, MeanOverTime, SigmoidCrossEntropy,
                         MeanSquaredError> auto&) { return std::string_view(); }},
      op);
  if (!field.empty()) words.emplace_back(field);
  return words;
}

std::span<const std::string> OpAbilities() {
  static const std::vector<std::string> words = [] {
    std::vector<std::string> all(OpNames().begin(), OpNames().end());
    for (const std::string_view field :
         {kWithinChannel, kNegativeSlope, kCoefficients, kNotAffine, kIgnoreLabel})
      all.emplace_back(field);
    return all;
  }();
  return words;
}

}  // namespace tench
