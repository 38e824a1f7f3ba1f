// SPDX-License-Identifier: Apache-2.0
#include "net/op_traits.h"

namespace tench {

bool IsLoss(const Op& op) {
  return std::visit(Overload{[](const LossOp auto&) { return true; },
                             [](const NonLossOp auto&) { return false; }},
                    op);
}

double LossWeight(const Op& op) {
  return std::visit(Overload{[](const LossOp auto& loss) { return loss.loss_weight; },
                             [](const NonLossOp auto&) { return 0.0; }},
                    op);
}

bool IsAuxiliary(const Op& op) {
  return std::visit(
      Overload{[](const SoftmaxCrossEntropy& loss) { return loss.auxiliary; },
               [](const AnyOf<SigmoidCrossEntropy, MeanSquaredError> auto&) { return false; },
               [](const NonLossOp auto&) { return false; }},
      op);
}

bool IsActivation(const Op& op) {
  return std::visit(Overload{[](const ActivationOp auto&) { return true; },
                             [](const NonActivationOp auto&) { return false; }},
                    op);
}

bool IsPlainRelu(const Op& op) {
  return std::visit(Overload{[](const Relu& relu) { return relu.negative_slope == 0; },
                             [](const AnyOf<Sigmoid, Tanh> auto&) { return false; },
                             [](const NonActivationOp auto&) { return false; }},
                    op);
}

bool IsExact(const Op& op) {
  return std::visit(
      Overload{[](const Relu& relu) { return relu.negative_slope == 0; },
               [](const Pooling& pool) { return pool.mode == PoolMode::kMax; },
               [](const AnyOf<Dropout, Concat, Slice, Maximum, Flatten, Reshape, Embedding> auto&) {
                 return true;
               },
               [](const AnyOf<Input, Convolution, Lrn, Sigmoid, Tanh, Power, FullyConnected, Add,
                              Multiply, BatchNorm, Scale, Softmax, Lstm, MeanOverTime> auto&) {
                 return false;
               },
               [](const LossOp auto&) { return false; }},
      op);
}

bool ReadsOutput(const Op& op) {
  return std::visit(
      Overload{[](const AnyOf<Relu, Sigmoid, Tanh, Softmax, Lstm> auto&) { return true; },
               [](const AnyOf<Input, Convolution, Pooling, Lrn, Power, FullyConnected, Dropout,
                              Concat, Slice, Add, Multiply, Maximum, Flatten, Reshape, BatchNorm,
                              Scale, Embedding, MeanOverTime> auto&) { return false; },
               [](const LossOp auto&) { return false; }},
      op);
}

}  // namespace tench
