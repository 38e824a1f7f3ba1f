// SPDX-License-Identifier: Apache-2.0
#pragma once
// One function per op: adds the layer's forward steps, sets its output, and registers a function
// that adds its backward steps. Lowering calls them in graph order; a dnnl::error that one throws
// means that oneDNN has no implementation for the layer. Implemented in lower_*.cc.

#include "workers/native/compile/lowering.h"

namespace tench::native {

void LowerInput(Lowering& low, size_t layer);
void LowerConvolution(Lowering& low, size_t layer, const Convolution& op);
void LowerPooling(Lowering& low, size_t layer, const Pooling& op);
void LowerLrn(Lowering& low, size_t layer, const Lrn& op);
void LowerBatchNorm(Lowering& low, size_t layer, const BatchNorm& op);
void LowerFullyConnected(Lowering& low, size_t layer, const FullyConnected& op);
void LowerActivation(Lowering& low, size_t layer, Activation activation);
void LowerDropout(Lowering& low, size_t layer, const Dropout& op);
void LowerConcat(Lowering& low, size_t layer);
void LowerSlice(Lowering& low, size_t layer, const Slice& op);
void LowerAdd(Lowering& low, size_t layer);
void LowerWeightedSum(Lowering& low, size_t layer, const Add& op);
void LowerProduct(Lowering& low, size_t layer);
void LowerMaximum(Lowering& low, size_t layer);
void LowerFlatten(Lowering& low, size_t layer);
void LowerReshape(Lowering& low, size_t layer);
void LowerScale(Lowering& low, size_t layer, const tench::Scale& op);
void LowerSoftmax(Lowering& low, size_t layer);
void LowerLeakyRelu(Lowering& low, size_t layer, const Relu& op);
void LowerPower(Lowering& low, size_t layer, const Power& op);
void LowerLrnWithin(Lowering& low, size_t layer, const Lrn& op);
void LowerEmbedding(Lowering& low, size_t layer, const Embedding& op);
void LowerLstm(Lowering& low, size_t layer, const Lstm& op);
void LowerMeanOverTime(Lowering& low, size_t layer);
void LowerSoftmaxLoss(Lowering& low, size_t layer, const SoftmaxCrossEntropy& op);
void LowerSigmoidLoss(Lowering& low, size_t layer, const SigmoidCrossEntropy& op);
void LowerSquaredLoss(Lowering& low, size_t layer, const MeanSquaredError& op);

}  // namespace tench::native
