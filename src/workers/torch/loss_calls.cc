// SPDX-License-Identifier: Apache-2.0
// Losses: PyTorch's fused operators, which do not materialise the probabilities.
#include <ATen/core/Reduction.h>
#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/div.h>
#include <ATen/ops/mse_loss.h>
#include <ATen/ops/ne.h>

#include "workers/torch/layer_call.h"

namespace tench::pytorch {
namespace {

at::Tensor Weighted(at::Tensor loss, double weight) {
  return weight == 1 ? loss : loss.mul(weight);
}

}  // namespace

Result<LayerCall> MakeCall(const SoftmaxCrossEntropy& op, const LayerSite&) {
  if (op.ignore_label) {
    // PyTorch's own mean has no value where every label is ignored.
    return LayerCall([weight = op.loss_weight,
                      ignored = *op.ignore_label](std::span<const at::Tensor> in) {
      const at::Tensor sum = at::cross_entropy_loss(in[0], in[1], {}, at::Reduction::Sum, ignored);
      return Weighted(at::div(sum, at::ne(in[1], ignored).sum().clamp_min(1)), weight);
    });
  }
  return LayerCall([weight = op.loss_weight](std::span<const at::Tensor> in) {
    return Weighted(at::cross_entropy_loss(in[0], in[1]), weight);
  });
}

Result<LayerCall> MakeCall(const SigmoidCrossEntropy& op, const LayerSite& site) {
  const double weight = op.loss_weight / static_cast<double>(site.input(0)[0]);
  return LayerCall([weight](std::span<const at::Tensor> in) {
    return Weighted(at::binary_cross_entropy_with_logits(in[0], in[1], {}, {}, at::Reduction::Sum),
                    weight);
  });
}

Result<LayerCall> MakeCall(const MeanSquaredError& op, const LayerSite&) {
  return LayerCall([weight = op.loss_weight](std::span<const at::Tensor> in) {
    return Weighted(at::mse_loss(in[0], in[1]), weight);
  });
}

}  // namespace tench::pytorch
