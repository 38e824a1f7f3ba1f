// SPDX-License-Identifier: Apache-2.0
// Convolution and pooling.
#include <ATen/ops/adaptive_avg_pool2d.h>
#include <ATen/ops/adaptive_max_pool2d.h>
#include <ATen/ops/avg_pool2d.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/max_pool2d.h>

#include <array>

#include "workers/torch/layer_call.h"

namespace tench::pytorch {
namespace {

using Pair = std::array<int64_t, 2>;

Pair PairOf(const Hw& hw) { return {hw.h, hw.w}; }

}  // namespace

Result<LayerCall> MakeCall(const Convolution& op, const LayerSite& site) {
  return LayerCall([weight = site.parameters[0], bias = op.bias ? site.parameters[1] : at::Tensor(),
                    stride = PairOf(op.stride), pad = PairOf(op.pad),
                    dilation = PairOf(op.dilation),
                    groups = op.groups](std::span<const at::Tensor> in) {
    return at::conv2d(in[0], weight, bias, stride, pad, dilation, groups);
  });
}

Result<LayerCall> MakeCall(const Pooling& op, const LayerSite&) {
  const bool max = op.mode == PoolMode::kMax;
  if (op.global) {
    static constexpr Pair kOne = {1, 1};
    if (max)
      return LayerCall([](std::span<const at::Tensor> in) {
        return std::get<0>(at::adaptive_max_pool2d(in[0], kOne));
      });
    return LayerCall(
        [](std::span<const at::Tensor> in) { return at::adaptive_avg_pool2d(in[0], kOne); });
  }
  if (2 * op.pad.h > op.kernel.h || 2 * op.pad.w > op.kernel.w) {
    return Unsupported("PyTorch pads a pool by at most half its kernel, not {}x{} by {}x{}",
                       op.kernel.h, op.kernel.w, op.pad.h, op.pad.w);
  }
  // Ceil mode and the average's divisor are Caffe's rules in PyTorch too.
  return LayerCall([max, kernel = PairOf(op.kernel), stride = PairOf(op.stride),
                    pad = PairOf(op.pad), ceil = op.ceil_mode](std::span<const at::Tensor> in) {
    if (max) return at::max_pool2d(in[0], kernel, stride, pad, {1, 1}, ceil);
    return at::avg_pool2d(in[0], kernel, stride, pad, ceil, /*count_include_pad=*/true);
  });
}

}  // namespace tench::pytorch
