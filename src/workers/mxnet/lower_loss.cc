// SPDX-License-Identifier: Apache-2.0
// Losses: a scalar value for the step's result, and a head where MXNet's gradient of the loss
// starts.
#include "workers/mxnet/lowering.h"

namespace tench::mxnet {

Result<Symbol> Lowering::Scaled(const std::string& name, Symbol values, double factor) {
  const Symbol sum = TENCH_TRY(maker_.Apply("sum", name + ".sum", {}, {values}));
  return maker_.Apply("_mul_scalar", name + ".scaled", {{"scalar", fmt::format("{}", factor)}},
                      {sum});
}

Result<Symbol> Lowering::Constant(const std::string& name, Symbol symbol) {
  return maker_.Apply("BlockGrad", name, {}, {symbol});
}

// SoftmaxOutput starts the backward pass. Its output is a probability, whose logarithm near 1 would
// be rounding only, so the value comes from log_softmax.
Result<Symbol> Lowering::Lower(size_t i, const SoftmaxCrossEntropy& op) {
  if (op.ignore_label) return LowerIgnoring(i, op);
  const Symbol scores = TENCH_TRY(In(i)), labels = TENCH_TRY(In(i, 1));
  const double factor = op.loss_weight / static_cast<double>(graph_.batch);
  if (training()) {
    const Attributes attributes = {{"grad_scale", fmt::format("{}", factor)},
                                   {"normalization", "null"}};
    gradient_heads_.push_back(
        TENCH_TRY(Apply(i, "SoftmaxOutput", attributes, {scores, labels}, ".gradient")));
  }
  const Symbol constant = TENCH_TRY(Constant(NameOf(i) + ".scores", scores));
  const Symbol logarithms =
      TENCH_TRY(Apply(i, "log_softmax", {{"axis", "1"}}, {constant}, ".log_softmax"));
  const Symbol chosen = TENCH_TRY(Apply(i, "pick", {{"axis", "1"}}, {logarithms, labels}, ".pick"));
  loss_values_.push_back(TENCH_TRY(Scaled(NameOf(i), chosen, -factor)));
  lowered_.losses.push_back(NameOf(i));
  return loss_values_.back();
}

// Only labels that count contribute. `pick` clips an ignored label to a valid class, and its sample
// has the weight 0.
Result<Symbol> Lowering::LowerIgnoring(size_t i, const SoftmaxCrossEntropy& op) {
  const Symbol scores = TENCH_TRY(In(i)), labels = TENCH_TRY(In(i, 1));
  const std::string ignored = std::to_string(*op.ignore_label);
  if (training()) {
    const Attributes attributes = {{"grad_scale", fmt::format("{}", op.loss_weight)},
                                   {"normalization", "valid"},
                                   {"use_ignore", "True"},
                                   {"ignore_label", ignored}};
    gradient_heads_.push_back(
        TENCH_TRY(Apply(i, "SoftmaxOutput", attributes, {scores, labels}, ".gradient")));
  }
  const Symbol constant = TENCH_TRY(Constant(NameOf(i) + ".scores", scores));
  const Symbol logarithms =
      TENCH_TRY(Apply(i, "log_softmax", {{"axis", "1"}}, {constant}, ".log_softmax"));
  const Symbol chosen = TENCH_TRY(Apply(i, "pick", {{"axis", "1"}}, {logarithms, labels}, ".pick"));
  const Symbol counts =
      TENCH_TRY(Apply(i, "_not_equal_scalar", {{"scalar", ignored}}, {labels}, ".counts"));
  const Symbol weighed = TENCH_TRY(Apply(i, "elemwise_mul", {}, {chosen, counts}, ".weighed"));
  const Symbol sum = TENCH_TRY(Scaled(NameOf(i), weighed, -op.loss_weight));
  const Symbol counted = TENCH_TRY(Apply(i, "sum", {}, {counts}, ".counted"));
  const Symbol divisor = TENCH_TRY(WithNumber(i, "_maximum_scalar", counted, 1, ".divisor"));
  loss_values_.push_back(TENCH_TRY(Apply(i, "elemwise_div", {}, {sum, divisor})));
  lowered_.losses.push_back(NameOf(i));
  return loss_values_.back();
}

// MXNet's regression outputs divide the gradient by the elements of one sample, not by the batch.
Result<Symbol> Lowering::Lower(size_t i, const SigmoidCrossEntropy& op) {
  const Symbol scores = TENCH_TRY(In(i)), targets = TENCH_TRY(In(i, 1));
  const double batch = static_cast<double>(graph_.batch);
  const double features = static_cast<double>(ElementCount(graph_.InputType(i, 0).shape)) / batch;
  if (training()) {
    const std::string scale = fmt::format("{}", op.loss_weight * features / batch);
    gradient_heads_.push_back(TENCH_TRY(Apply(
        i, "LogisticRegressionOutput", {{"grad_scale", scale}}, {scores, targets}, ".gradient")));
  }
  // log(1 + exp(x)) - x·z; softrelu is x for large x, so no exponential overflows.
  const Symbol x = TENCH_TRY(Constant(NameOf(i) + ".scores", scores));
  const Symbol positive =
      TENCH_TRY(Apply(i, "Activation", {{"act_type", "softrelu"}}, {x}, ".softrelu"));
  const Symbol product = TENCH_TRY(Apply(i, "elemwise_mul", {}, {x, targets}, ".product"));
  const Symbol values = TENCH_TRY(Apply(i, "elemwise_sub", {}, {positive, product}, ".values"));
  loss_values_.push_back(TENCH_TRY(Scaled(NameOf(i), values, op.loss_weight / batch)));
  lowered_.losses.push_back(NameOf(i));
  return loss_values_.back();
}

Result<Symbol> Lowering::Lower(size_t i, const MeanSquaredError& op) {
  const Symbol made = TENCH_TRY(In(i)), targets = TENCH_TRY(In(i, 1));
  const double elements = static_cast<double>(ElementCount(graph_.InputType(i, 0).shape));
  if (training()) {
    const std::string scale =
        fmt::format("{}", 2 * op.loss_weight / static_cast<double>(graph_.batch));
    gradient_heads_.push_back(TENCH_TRY(
        Apply(i, "LinearRegressionOutput", {{"grad_scale", scale}}, {made, targets}, ".gradient")));
  }
  const Symbol x = TENCH_TRY(Constant(NameOf(i) + ".values", made));
  const Symbol difference = TENCH_TRY(Apply(i, "elemwise_sub", {}, {x, targets}, ".difference"));
  const Symbol squares = TENCH_TRY(Apply(i, "square", {}, {difference}, ".squares"));
  loss_values_.push_back(TENCH_TRY(Scaled(NameOf(i), squares, op.loss_weight / elements)));
  lowered_.losses.push_back(NameOf(i));
  return loss_values_.back();
}

}  // namespace tench::mxnet
