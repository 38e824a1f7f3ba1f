// SPDX-License-Identifier: Apache-2.0
// Activations, dropout, and what only moves or adds up.
#include <ATen/ops/add.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/flatten.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/tanh.h>

#include "workers/torch/layer_call.h"

namespace tench::pytorch {

Result<LayerCall> MakeCall(const Relu&, const LayerSite& site) {
  if (site.overwrite) {
    return LayerCall([](std::span<const at::Tensor> in) {
      at::Tensor value = in[0];
      return at::relu_(value);
    });
  }
  return LayerCall([](std::span<const at::Tensor> in) { return at::relu(in[0]); });
}

Result<LayerCall> MakeCall(const Sigmoid&, const LayerSite&) {
  return LayerCall([](std::span<const at::Tensor> in) { return at::sigmoid(in[0]); });
}

Result<LayerCall> MakeCall(const Tanh&, const LayerSite&) {
  return LayerCall([](std::span<const at::Tensor> in) { return at::tanh(in[0]); });
}

Result<LayerCall> MakeCall(const FullyConnected& op, const LayerSite& site) {
  return LayerCall([weight = site.parameters[0], bias = op.bias ? site.parameters[1] : at::Tensor()](
                       std::span<const at::Tensor> in) { return at::linear(in[0], weight, bias); });
}

Result<LayerCall> MakeCall(const Dropout& op, const LayerSite& site) {
  if (!site.training || !site.dropout) return LayerCall([](std::span<const at::Tensor> in) { return in[0]; });
  return LayerCall([ratio = op.ratio](std::span<const at::Tensor> in) { return at::dropout(in[0], ratio, /*train=*/true); });
}

Result<LayerCall> MakeCall(const Concat&, const LayerSite&) {
  return LayerCall([](std::span<const at::Tensor> in) { return at::cat(at::TensorList(in.data(), in.size()), 1); });
}

Result<LayerCall> MakeCall(const Add&, const LayerSite& site) {
  return LayerCall([overwrite = site.overwrite](std::span<const at::Tensor> in) {
    at::Tensor sum = in[0];
    for (size_t i = 1; i < in.size(); ++i) sum = overwrite || i > 1 ? sum.add_(in[i]) : at::add(sum, in[i]);
    return sum;
  });
}

Result<LayerCall> MakeCall(const Flatten&, const LayerSite&) {
  return LayerCall([](std::span<const at::Tensor> in) { return at::flatten(in[0], 1); });
}

}  // namespace tench::pytorch
