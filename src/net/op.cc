// SPDX-License-Identifier: Apache-2.0
#include "net/op.h"

#include <vector>

namespace tench {
namespace {

constexpr std::string_view kWithinChannel = "lrn.region", kNegativeSlope = "relu.negative_slope",
                           kCoefficients = "add.coefficients", kNotAffine = "batch_norm.affine",
                           kIgnoreLabel = "softmax_cross_entropy.ignore_label";

}  // namespace

std::span<const std::string> OpNames() {
  static const std::vector<std::string> names = {"input",
                                                 "conv",
                                                 "pool",
                                                 "lrn",
                                                 "relu",
                                                 "sigmoid",
                                                 "tanh",
                                                 "power",
                                                 "fc",
                                                 "dropout",
                                                 "concat",
                                                 "slice",
                                                 "add",
                                                 "multiply",
                                                 "maximum",
                                                 "flatten",
                                                 "reshape",
                                                 "batch_norm",
                                                 "scale",
                                                 "softmax",
                                                 "embedding",
                                                 "lstm",
                                                 "mean_over_time",
                                                 "softmax_cross_entropy",
                                                 "sigmoid_cross_entropy",
                                                 "mean_squared_error"};
  return names;
}

std::string_view OpName(const Op& op) { return OpNames()[op.index()]; }

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
          [](const auto&) { return std::string_view(); }},
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

bool IsLoss(const Op& op) {
  return std::holds_alternative<SoftmaxCrossEntropy>(op) ||
         std::holds_alternative<SigmoidCrossEntropy>(op) ||
         std::holds_alternative<MeanSquaredError>(op);
}

double LossWeight(const Op& op) {
  return std::visit(Overload{[](const SoftmaxCrossEntropy& loss) { return loss.loss_weight; },
                             [](const SigmoidCrossEntropy& loss) { return loss.loss_weight; },
                             [](const MeanSquaredError& loss) { return loss.loss_weight; },
                             [](const auto&) { return 0.0; }},
                    op);
}

}  // namespace tench
