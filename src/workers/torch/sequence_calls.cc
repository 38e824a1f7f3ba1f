// SPDX-License-Identifier: Apache-2.0
// Tokens and sequences.
#include <ATen/ops/arange.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/lstm.h>
#include <ATen/ops/zeros.h>

#include "workers/torch/layer_call.h"

namespace tench::pytorch {

Result<LayerCall> MakeCall(const Embedding&, const LayerSite& site) {
  return LayerCall([weight = site.parameters[0]](std::span<const at::Tensor> in) {
    return at::embedding(weight, in[0]);
  });
}

Result<LayerCall> MakeCall(const Lstm& op, const LayerSite& site) {
  // PyTorch's LSTM has two biases. The second stays zero and untrained: two trained biases would
  // move twice as far.
  const at::Tensor no_bias =
      at::zeros({4 * op.hidden}, site.parameters[2].options().requires_grad(false));
  const at::Tensor start = at::zeros({1, site.input(0)[0], op.hidden}, no_bias.options());
  const std::vector<at::Tensor> weights = {site.parameters[0], site.parameters[1],
                                           site.parameters[2], no_bias};
  return LayerCall([weights, states = std::vector<at::Tensor>{start, start},
                    training = site.training](std::span<const at::Tensor> in) {
    return std::get<0>(at::lstm(in[0], states, weights, /*has_biases=*/true, /*num_layers=*/1,
                                /*dropout=*/0, training,
                                /*bidirectional=*/false, /*batch_first=*/true));
  });
}

Result<LayerCall> MakeCall(const MeanOverTime&, const LayerSite& site) {
  return LayerCall([steps = site.input(0)[1]](std::span<const at::Tensor> in) {
    // The mean as one matrix product: weights 1 / length for the steps that count, 0 for the
    // others.
    const at::Tensor lengths = in[1].unsqueeze(1);
    const at::Tensor counts = at::arange(steps, lengths.options()).unsqueeze(0).lt(lengths);
    const at::Tensor weights = counts.to(in[0].scalar_type()).div_(lengths);
    return at::bmm(weights.unsqueeze(1), in[0]).squeeze(1);
  });
}

}  // namespace tench::pytorch
