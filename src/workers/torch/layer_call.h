// SPDX-License-Identifier: Apache-2.0
#pragma once
// One layer as a call of libtorch's operators. A call keeps the layer's parameters (tensors are
// shared handles) and its settings, and maps the inputs of one step to the layer's output. Autograd
// remembers on its own what the backward pass needs; a call keeps nothing of a step.

#include <ATen/core/Tensor.h>

#include <functional>
#include <span>
#include <vector>

#include "base/error.h"
#include "net/graph.h"

namespace tench::pytorch {

using LayerCall = std::function<at::Tensor(std::span<const at::Tensor> inputs)>;

// The input of MakeLayerCall.
struct LayerSite {
  const TypedGraph& graph;
  size_t layer;
  std::vector<at::Tensor> parameters;  // in the order of the op's comment
  bool training;                       // batch norm uses the batch's statistics, dropout drops
  bool dropout;
  bool overwrite;  // may run in place: no other layer and no backward pass reads the first input

  const Shape& input(size_t i) const { return graph.InputType(layer, i).shape; }
};

// kUnsupported if PyTorch rejects a valid op; the error does not name the layer.
Result<LayerCall> MakeLayerCall(const LayerSite& site);

// The operators of one kind each, called by MakeLayerCall.
Result<LayerCall> MakeCall(const Convolution& op, const LayerSite& site);
Result<LayerCall> MakeCall(const Pooling& op, const LayerSite& site);
Result<LayerCall> MakeCall(const Lrn& op, const LayerSite& site);
Result<LayerCall> MakeCall(const Relu& op, const LayerSite& site);
Result<LayerCall> MakeCall(const Sigmoid& op, const LayerSite& site);
Result<LayerCall> MakeCall(const Tanh& op, const LayerSite& site);
Result<LayerCall> MakeCall(const Power& op, const LayerSite& site);
Result<LayerCall> MakeCall(const FullyConnected& op, const LayerSite& site);
Result<LayerCall> MakeCall(const Dropout& op, const LayerSite& site);
Result<LayerCall> MakeCall(const Concat& op, const LayerSite& site);
Result<LayerCall> MakeCall(const Slice& op, const LayerSite& site);
Result<LayerCall> MakeCall(const Add& op, const LayerSite& site);
Result<LayerCall> MakeCall(const Multiply& op, const LayerSite& site);
Result<LayerCall> MakeCall(const Maximum& op, const LayerSite& site);
Result<LayerCall> MakeCall(const Flatten& op, const LayerSite& site);
Result<LayerCall> MakeCall(const Reshape& op, const LayerSite& site);
Result<LayerCall> MakeCall(const BatchNorm& op, const LayerSite& site);
Result<LayerCall> MakeCall(const Scale& op, const LayerSite& site);
Result<LayerCall> MakeCall(const Softmax& op, const LayerSite& site);
Result<LayerCall> MakeCall(const Embedding& op, const LayerSite& site);
Result<LayerCall> MakeCall(const Lstm& op, const LayerSite& site);
Result<LayerCall> MakeCall(const MeanOverTime& op, const LayerSite& site);
Result<LayerCall> MakeCall(const SoftmaxCrossEntropy& op, const LayerSite& site);
Result<LayerCall> MakeCall(const SigmoidCrossEntropy& op, const LayerSite& site);
Result<LayerCall> MakeCall(const MeanSquaredError& op, const LayerSite& site);

}  // namespace tench::pytorch
