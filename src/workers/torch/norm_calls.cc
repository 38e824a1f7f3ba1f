// SPDX-License-Identifier: Apache-2.0
// Normalisation across channels and over the batch. The former is no operator of ATen but a function of the C++ front end, whose headers
// are large: this is the one source that reads them.
#include <ATen/ops/batch_norm.h>
#include <torch/nn/functional/normalization.h>

#include "workers/torch/layer_call.h"

namespace tench::pytorch {

Result<LayerCall> MakeCall(const Lrn& op, const LayerSite&) {
  const auto options = torch::nn::functional::LocalResponseNormFuncOptions(op.size).alpha(op.alpha).beta(op.beta).k(op.k);
  return LayerCall(
      [options](std::span<const at::Tensor> in) { return torch::nn::functional::local_response_norm(in[0], options); });
}

Result<LayerCall> MakeCall(const BatchNorm& op, const LayerSite& site) {
  const Shape& shape = site.input(0);
  if (site.training && ElementCount(shape) == shape[1]) {
    return Unsupported("PyTorch's batch norm cannot train on one value per channel: its unbiased variance has no value");
  }
  return LayerCall([p = site.parameters, training = site.training, op](std::span<const at::Tensor> in) {
    return at::batch_norm(in[0], p[0], p[1], p[2], p[3], training, op.momentum, op.eps, /*cudnn_enabled=*/true);
  });
}

}  // namespace tench::pytorch
