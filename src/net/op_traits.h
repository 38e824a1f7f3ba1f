// SPDX-License-Identifier: Apache-2.0
#pragma once
// Questions about an op whose answer does not depend on a framework, and the concepts with which
// code that visits an op names every alternative.
//
// Invariants: no visitor of Op has a generic fallback. A visitor lists each alternative, by type or
// by one of the concepts below, so that an op which is added to the variant fails to compile in
// every visitor that has no answer for it. An op that two lists name is ambiguous and fails too.
// The concepts come in pairs that partition the variant.
//
// Not aware of shapes (see op_shape.h), parameters (op_parameters.h) or FLOPs (cost.h).
// Thread safety: pure functions.

#include <concepts>

#include "net/op.h"

namespace tench {

// `[](const AnyOf<Relu, Tanh> auto& op) {…}` accepts these ops and no others.
template <class T, class... Ops>
concept AnyOf = (std::same_as<T, Ops> || ...);

template <class T>
concept LossOp = AnyOf<T, SoftmaxCrossEntropy, SigmoidCrossEntropy, MeanSquaredError>;
template <class T>
concept NonLossOp = AnyOf<T, Input, Convolution, Pooling, Lrn, Relu, Sigmoid, Tanh, Power,
                          FullyConnected, Dropout, Concat, Slice, Add, Multiply, Maximum, Flatten,
                          Reshape, BatchNorm, Scale, Softmax, Embedding, Lstm, MeanOverTime>;

// Ops that may have weights, a bias or running statistics.
template <class T>
concept ParameterOp = AnyOf<T, Convolution, FullyConnected, BatchNorm, Scale, Embedding, Lstm>;
template <class T>
concept ParameterlessOp =
    AnyOf<T, Input, Pooling, Lrn, Relu, Sigmoid, Tanh, Power, Dropout, Concat, Slice, Add, Multiply,
          Maximum, Flatten, Reshape, Softmax, MeanOverTime, SoftmaxCrossEntropy,
          SigmoidCrossEntropy, MeanSquaredError>;

// Element-wise functions of one input that frameworks fuse into the layer before.
template <class T>
concept ActivationOp = AnyOf<T, Relu, Sigmoid, Tanh>;
template <class T>
concept NonActivationOp =
    AnyOf<T, Input, Convolution, Pooling, Lrn, Power, FullyConnected, Dropout, Concat, Slice, Add,
          Multiply, Maximum, Flatten, Reshape, BatchNorm, Scale, Softmax, Embedding, Lstm,
          MeanOverTime, SoftmaxCrossEntropy, SigmoidCrossEntropy, MeanSquaredError>;

// Ops with an i32 input: tokens, lengths or labels.
template <class T>
concept IntegerInputOp = AnyOf<T, Embedding, MeanOverTime, SoftmaxCrossEntropy>;
template <class T>
concept RealInputOp =
    AnyOf<T, Input, Convolution, Pooling, Lrn, Relu, Sigmoid, Tanh, Power, FullyConnected, Dropout,
          Concat, Slice, Add, Multiply, Maximum, Flatten, Reshape, BatchNorm, Scale, Softmax, Lstm,
          SigmoidCrossEntropy, MeanSquaredError>;

bool IsLoss(const Op& op);
double LossWeight(const Op& op);  // 0 for ops that are no loss
bool IsAuxiliary(const Op& op);   // a loss that the forward phase leaves out
bool IsActivation(const Op& op);  // see ActivationOp
bool IsPlainRelu(const Op& op);   // a ReLU without a negative slope
// The forward pass only selects or copies values, so it is exact in any precision. Dropout counts,
// because parity trials run it as the identity.
bool IsExact(const Op& op);
bool ReadsOutput(const Op& op);  // the usual gradient formula reads the op's own output

}  // namespace tench
