// SPDX-License-Identifier: Apache-2.0
// LRN across and within channels, batch norm, softmax and scale. LRN is not an ATen operator but a
// function of the C++ front end; only this source includes its large headers.
#include <ATen/ops/addcmul.h>
#include <ATen/ops/avg_pool2d.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/div.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/softmax.h>
#include <torch/nn/functional/normalization.h>

#include "workers/torch/layer_call.h"

namespace tench::pytorch {

Result<LayerCall> MakeCall(const Lrn& op, const LayerSite&) {
  if (op.region == LrnRegion::kWithinChannel) {
    return LayerCall([op](std::span<const at::Tensor> in) {
      const at::Tensor mean = at::avg_pool2d(at::mul(in[0], in[0]), {op.size, op.size}, {1, 1},
                                             {op.size / 2, op.size / 2},
                                             /*ceil_mode=*/false, /*count_include_pad=*/true);
      return at::div(in[0], mean.mul(op.alpha).add(op.k).pow(op.beta));
    });
  }
  const auto options =
      torch::nn::functional::LocalResponseNormFuncOptions(op.size).alpha(op.alpha).beta(op.beta).k(
          op.k);
  return LayerCall([options](std::span<const at::Tensor> in) {
    return torch::nn::functional::local_response_norm(in[0], options);
  });
}

Result<LayerCall> MakeCall(const BatchNorm& op, const LayerSite& site) {
  const Shape& shape = site.input(0);
  if (site.training && ElementCount(shape) == shape[1]) {
    return Unsupported(
        "PyTorch's batch norm cannot train on one value per channel: its unbiased variance is "
        "undefined");
  }
  std::vector<at::Tensor> parameters = site.parameters;
  if (!op.affine) parameters.insert(parameters.begin(), 2, at::Tensor());
  return LayerCall(
      [p = std::move(parameters), training = site.training, op](std::span<const at::Tensor> in) {
        return at::batch_norm(in[0], p[0], p[1], p[2], p[3], training, op.momentum, op.eps,
                              /*cudnn_enabled=*/true);
      });
}

Result<LayerCall> MakeCall(const Scale& op, const LayerSite& site) {
  std::vector<int64_t> sizes(site.input(0).size(), 1);
  sizes[1] = site.input(0)[1];
  return LayerCall([p = site.parameters, op, sizes](std::span<const at::Tensor> in) {
    const at::Tensor weight = p[0].view(sizes);
    return op.bias ? at::addcmul(p[1].view(sizes), in[0], weight) : at::mul(in[0], weight);
  });
}

Result<LayerCall> MakeCall(const Softmax&, const LayerSite&) {
  return LayerCall([](std::span<const at::Tensor> in) { return at::softmax(in[0], 1); });
}

}  // namespace tench::pytorch
