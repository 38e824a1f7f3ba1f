// SPDX-License-Identifier: Apache-2.0
#include "workers/reference/kernel.h"

namespace tench {

std::unique_ptr<Kernel> MakeKernel(const KernelSite& site) {
  using Made = std::unique_ptr<Kernel>;
  return std::visit(
      Overload{
          [](const Input&) -> Made { return nullptr; },
          [&](const Convolution& op) { return MakeConvolution(op, site); },
          [&](const Pooling& op) { return MakePooling(op, site); },
          [&](const Lrn& op) { return MakeLrn(op, site); },
          [](const Relu& op) { return MakeRelu(op); },
          [](const Sigmoid&) { return MakeSigmoid(); },
          [](const Tanh&) { return MakeTanh(); },
          [](const Power& op) { return MakePower(op); },
          [&](const FullyConnected& op) { return MakeFullyConnected(op, site); },
          [&](const Dropout& op) { return MakeDropout(op, site); },
          [&](const Concat&) { return MakeConcat(site); },
          [&](const Slice& op) { return MakeSlice(op, site); },
          [](const Add& op) { return MakeAdd(op); },
          [](const Multiply&) { return MakeMultiply(); },
          [](const Maximum&) { return MakeMaximum(); },
          [](const Flatten&) { return MakeFlatten(); },
          [](const Reshape&) { return MakeFlatten(); },
          [&](const BatchNorm& op) { return MakeBatchNorm(op, site); },
          [&](const Scale& op) { return MakeScale(op, site); },
          [&](const Softmax&) { return MakeSoftmax(site); },
          [&](const Embedding& op) { return MakeEmbedding(op, site); },
          [&](const Lstm& op) { return MakeLstm(op, site); },
          [&](const MeanOverTime&) { return MakeMeanOverTime(site); },
          [&](const SoftmaxCrossEntropy& op) { return MakeSoftmaxCrossEntropy(op, site); },
          [&](const SigmoidCrossEntropy& op) { return MakeSigmoidCrossEntropy(op, site); },
          [](const MeanSquaredError& op) { return MakeMeanSquaredError(op); },
      },
      site.graph.layers[site.layer].layer.op);
}

}  // namespace tench
