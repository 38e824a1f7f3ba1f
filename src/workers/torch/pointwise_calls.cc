// SPDX-License-Identifier: Apache-2.0
// Activations, dropout, and ops that move or add elements.
#include <ATen/ops/add.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/flatten.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/reshape.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/slice.h>
#include <ATen/ops/tanh.h>

#include <cmath>

#include "workers/torch/layer_call.h"

namespace tench::pytorch {

Result<LayerCall> MakeCall(const Relu& op, const LayerSite& site) {
  if (op.negative_slope != 0)
    return LayerCall([slope = op.negative_slope](std::span<const at::Tensor> in) {
      return at::leaky_relu(in[0], slope);
    });
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

Result<LayerCall> MakeCall(const Power& op, const LayerSite&) {
  // A constant: the gradient is zero, also where autograd would multiply zero by infinity.
  if (op.power == 0 || op.scale == 0) {
    return LayerCall([value = std::pow(op.shift, op.power)](std::span<const at::Tensor> in) {
      return at::full_like(in[0].detach(), value);
    });
  }
  return LayerCall([op](std::span<const at::Tensor> in) {
    at::Tensor base = op.scale == 1 ? in[0] : at::mul(in[0], op.scale);
    if (op.shift != 0) base = at::add(base, op.shift);
    return op.power == 1 ? base : at::pow(base, op.power);
  });
}

Result<LayerCall> MakeCall(const FullyConnected& op, const LayerSite& site) {
  return LayerCall(
      [weight = site.parameters[0], bias = op.bias ? site.parameters[1] : at::Tensor()](
          std::span<const at::Tensor> in) { return at::linear(in[0], weight, bias); });
}

Result<LayerCall> MakeCall(const Dropout& op, const LayerSite& site) {
  if (!site.training || !site.dropout)
    return LayerCall([](std::span<const at::Tensor> in) { return in[0]; });
  return LayerCall([ratio = op.ratio](std::span<const at::Tensor> in) {
    return at::dropout(in[0], ratio, /*train=*/true);
  });
}

Result<LayerCall> MakeCall(const Concat&, const LayerSite&) {
  return LayerCall([](std::span<const at::Tensor> in) {
    return at::cat(at::TensorList(in.data(), in.size()), 1);
  });
}

Result<LayerCall> MakeCall(const Slice& op, const LayerSite&) {
  return LayerCall(
      [op](std::span<const at::Tensor> in) { return at::slice(in[0], 1, op.begin, op.end); });
}

Result<LayerCall> MakeCall(const Add& op, const LayerSite& site) {
  if (!op.coefficients.empty()) {
    return LayerCall([coefficients = op.coefficients](std::span<const at::Tensor> in) {
      at::Tensor sum = at::mul(in[0], coefficients[0]);
      for (size_t i = 1; i < in.size(); ++i) sum = sum.add_(in[i], coefficients[i]);
      return sum;
    });
  }
  return LayerCall([overwrite = site.overwrite](std::span<const at::Tensor> in) {
    at::Tensor sum = in[0];
    for (size_t i = 1; i < in.size(); ++i)
      sum = overwrite || i > 1 ? sum.add_(in[i]) : at::add(sum, in[i]);
    return sum;
  });
}

Result<LayerCall> MakeCall(const Multiply&, const LayerSite&) {
  return LayerCall([](std::span<const at::Tensor> in) {
    at::Tensor product = at::mul(in[0], in[1]);
    for (size_t i = 2; i < in.size(); ++i) product = at::mul(product, in[i]);
    return product;
  });
}

Result<LayerCall> MakeCall(const Maximum&, const LayerSite&) {
  return LayerCall([](std::span<const at::Tensor> in) {
    at::Tensor largest = at::maximum(in[0], in[1]);
    for (size_t i = 2; i < in.size(); ++i) largest = at::maximum(largest, in[i]);
    return largest;
  });
}

Result<LayerCall> MakeCall(const Reshape&, const LayerSite& site) {
  return LayerCall([shape = site.graph.layers[site.layer].output.shape](
                       std::span<const at::Tensor> in) { return at::reshape(in[0], shape); });
}

Result<LayerCall> MakeCall(const Flatten&, const LayerSite&) {
  return LayerCall([](std::span<const at::Tensor> in) { return at::flatten(in[0], 1); });
}

}  // namespace tench::pytorch
