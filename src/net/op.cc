// SPDX-License-Identifier: Apache-2.0
#include "net/op.h"

#include <vector>

namespace tench {

std::span<const std::string> OpNames() {
  static const std::vector<std::string> names = {
      "input",   "conv",   "pool", "lrn",     "relu",       "sigmoid",   "tanh", "fc",
      "dropout", "concat", "add",  "flatten", "batch_norm", "embedding", "lstm", "mean_over_time",
      "softmax_cross_entropy", "sigmoid_cross_entropy", "mean_squared_error"};
  return names;
}

std::string_view OpName(const Op& op) { return OpNames()[op.index()]; }

bool IsLoss(const Op& op) {
  return std::holds_alternative<SoftmaxCrossEntropy>(op) || std::holds_alternative<SigmoidCrossEntropy>(op) ||
         std::holds_alternative<MeanSquaredError>(op);
}

double LossWeight(const Op& op) {
  return std::visit(
      Overload{[](const SoftmaxCrossEntropy& loss) { return loss.loss_weight; },
               [](const SigmoidCrossEntropy& loss) { return loss.loss_weight; },
               [](const MeanSquaredError& loss) { return loss.loss_weight; }, [](const auto&) { return 0.0; }},
      op);
}

}  // namespace tench
