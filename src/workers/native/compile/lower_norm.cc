// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "workers/native/compile/op_lowering.h"
#include "workers/native/kernels/lrn.h"

namespace tench::native {

using dnnl::normalization_flags;
using dnnl::prop_kind;

namespace {

// For plain, channel-blocked and channels-last layouts.
LrnShape LrnShapeOf(const Md& md) {
  const auto dims = md.get_padded_dims(), strides = md.get_strides();
  LrnShape shape;
  shape.images = dims[0];
  shape.pixels = dims[2] * dims[3];
  shape.image_stride = strides[0];
  shape.pixel_stride = strides[3];
  const bool blocked = md.get_inner_nblks() == 1;
  const bool channels_last = !blocked && strides[1] == 1;
  shape.block = blocked ? md.get_inner_blks()[0] : channels_last ? dims[1] : 1;
  shape.blocks = dims[1] / shape.block;
  shape.block_stride = channels_last ? 0 : strides[1];
  return shape;
}

}  // namespace

void LowerLrn(Lowering& low, size_t layer, const Lrn& op) {
  const Tensor in = low.InputAs(layer, 0, DenseLike(low.InputOf(layer).md));
  const Tensor out = low.NewOutput(in.md);
  const LrnShape shape = LrnShapeOf(in.md);
  const LrnParameters window{op.size, op.alpha, op.beta, op.k};
  const int64_t flops = ElementCount(low.OutputShape(layer)) * (op.size + 6);
  low.AddKernel(
      layer, Direction::kForward, "lrn", {in, out},
      [shape, window](std::span<float* const> p, RunState&) {
        LrnForward(shape, window, p[0], p[1]);
      },
      flops);
  low.SetOutput(layer, out);
  if (!low.WantsInputGradient(layer)) return;
  low.OnBackward([&low, layer, window, shape, in, flops] {
    const Lowering::Gradient gradient = low.TakeGradient(layer);
    if (!gradient) return;
    const Tensor dy = low.InLayout(layer, Direction::kBackwardData, gradient.tensor, in.md);
    const Tensor dx = low.Reuse(gradient, in.md);
    low.AddKernel(
        layer, Direction::kBackwardData, "lrn", {in, dy, dx},
        [shape, window](std::span<float* const> p, RunState&) {
          LrnBackward(shape, window, p[0], p[1], p[2]);
        },
        2 * flops);
    low.ContributeToInput(layer, 0, {dx, true});
  });
}

void LowerLrnWithin(Lowering& low, size_t layer, const Lrn& op) {
  constexpr auto kWithin = dnnl::algorithm::lrn_within_channel;
  const Tensor in = low.InputAs(layer, 0, DenseLike(low.InputOf(layer).md));
  const Tensor out = low.NewOutput(in.md);
  const auto alpha = static_cast<float>(op.alpha), beta = static_cast<float>(op.beta),
             k = static_cast<float>(op.k);
  const dnnl::lrn_forward::primitive_desc pd(
      low.engine, low.training ? prop_kind::forward_training : prop_kind::forward_inference,
      kWithin, in.md, in.md, op.size, alpha, beta, k, PlainAttributes());
  std::vector<Argument> arguments = {{DNNL_ARG_SRC, in}, {DNNL_ARG_DST, out}};
  Tensor workspace;
  if (low.training && pd.workspace_desc().get_size() > 0) {
    workspace = low.NewTensor(pd.workspace_desc());
    arguments.push_back({DNNL_ARG_WORKSPACE, workspace});
  }
  const int64_t flops = ElementCount(low.OutputShape(layer)) * (op.size * op.size + 6);
  low.AddPrimitive(layer, Direction::kForward, pd, dnnl::lrn_forward(pd), std::move(arguments),
                   flops);
  low.SetOutput(layer, out);
  if (!low.WantsInputGradient(layer)) return;
  low.OnBackward([=, &low, size = op.size] {
    const Lowering::Gradient gradient = low.TakeGradient(layer);
    if (!gradient) return;
    const dnnl::lrn_backward::primitive_desc back(low.engine, kWithin, in.md, in.md, in.md, size,
                                                  alpha, beta, k, pd, PlainAttributes());
    const Tensor dy = low.InLayout(layer, Direction::kBackwardData, gradient.tensor, in.md),
                 dx = low.NewTensor(in.md);
    std::vector<Argument> back_arguments = {
        {DNNL_ARG_SRC, in}, {DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_DIFF_SRC, dx}};
    if (workspace) back_arguments.push_back({DNNL_ARG_WORKSPACE, workspace});
    low.AddPrimitive(layer, Direction::kBackwardData, back, dnnl::lrn_backward(back),
                     std::move(back_arguments), 2 * flops);
    low.ContributeToInput(layer, 0, {dx, true});
  });
}

namespace {

struct Norm : Lowering::Norm {
  normalization_flags flags;
  Tensor workspace;
};

// Adds the optional operands.
void AddScaleAndShift(const Norm& norm, std::vector<Argument>& arguments) {
  if (norm.scale) arguments.push_back({DNNL_ARG_SCALE, norm.scale});
  if (norm.shift) arguments.push_back({DNNL_ARG_SHIFT, norm.shift});
}

// The running variance accumulates the unbiased batch variance.
void AddRunningStatistics(Lowering& low, size_t layer, const BatchNorm& op, const Norm& norm,
                          const Tensor& mean, const Tensor& variance) {
  const Shape& shape = low.OutputShape(layer);
  const int64_t channels = shape[1];
  const double count = static_cast<double>(ElementCount(shape) / channels);
  const double unbias = count > 1 ? count / (count - 1) : 1;
  low.AddKernel(
      layer, Direction::kForward, "running statistics", {norm.mean, norm.variance, mean, variance},
      [channels, momentum = op.momentum, unbias](std::span<float* const> p, RunState&) {
        for (int64_t c = 0; c < channels; ++c) {
          p[2][c] = static_cast<float>((1 - momentum) * p[2][c] + momentum * p[0][c]);
          p[3][c] = static_cast<float>((1 - momentum) * p[3][c] + momentum * unbias * p[1][c]);
        }
      });
}

void AddNormBackward(Lowering& low, size_t layer, const Norm& norm,
                     const dnnl::batch_normalization_forward::primitive_desc& pd) {
  const Lowering::Gradient gradient = low.TakeGradient(layer);
  if (!gradient) return;
  const Md& md = norm.in.md;
  const dnnl::batch_normalization_backward::primitive_desc back(
      low.engine, prop_kind::backward, md, md, md, norm.eps, norm.flags, pd, PlainAttributes());
  const Lowering::Gradient dy = {low.InLayout(layer, Direction::kBackwardData, gradient.tensor, md),
                                 gradient.exclusive || gradient.tensor.md != md};
  const Tensor dx = low.Reuse(dy, md);
  std::vector<Argument> arguments = {{DNNL_ARG_SRC, norm.in},
                                     {DNNL_ARG_MEAN, norm.mean},
                                     {DNNL_ARG_VARIANCE, norm.variance},
                                     {DNNL_ARG_DIFF_DST, dy.tensor},
                                     {DNNL_ARG_DIFF_SRC, dx}};
  Tensor d_scale, d_shift;
  if (norm.scale) {
    arguments.push_back({DNNL_ARG_SCALE, norm.scale});
    arguments.push_back({DNNL_ARG_DIFF_SCALE, d_scale = low.NewGradient(layer, 0, norm.scale.md)});
  }
  if (norm.shift)
    arguments.push_back({DNNL_ARG_DIFF_SHIFT, d_shift = low.NewGradient(layer, 1, norm.shift.md)});
  if (norm.workspace) arguments.push_back({DNNL_ARG_WORKSPACE, norm.workspace});
  low.AddPrimitive(layer, Direction::kBackwardData, back, dnnl::batch_normalization_backward(back),
                   std::move(arguments), ElementCount(md.get_dims()) * 10);
  if (low.WantsInputGradient(layer)) low.ContributeToInput(layer, 0, {dx, true});
  if (d_scale) low.Update(layer, 0, d_scale);
  if (d_shift) low.Update(layer, 1, d_shift);
}

// Only convolutions read the output: their weight gradient reads it again, and one more pass over
// the activation costs less than keeping it.
bool WorthRecomputing(const Lowering& low, size_t layer) {
  return low.training && !low.options.observe &&
         low.fusion.activation[layer] == Activation::kRelu && low.IsReadOnlyBy<Convolution>(layer);
}

Tensor Recompute(Lowering& low, size_t layer, const Norm& norm) {
  const dnnl::batch_normalization_forward::primitive_desc pd(
      low.engine, prop_kind::forward_inference, norm.in.md, norm.in.md, norm.eps,
      norm.flags | normalization_flags::use_global_stats, PlainAttributes());
  const Tensor out = low.NewTensor(norm.in.md);
  std::vector<Argument> arguments = {{DNNL_ARG_SRC, norm.in},
                                     {DNNL_ARG_DST, out},
                                     {DNNL_ARG_MEAN, norm.mean},
                                     {DNNL_ARG_VARIANCE, norm.variance}};
  AddScaleAndShift(norm, arguments);
  low.AddPrimitive(layer, Direction::kBackwardData, std::string("recompute ") + pd.impl_info_str(),
                   pd.scratchpad_desc(), dnnl::batch_normalization_forward(pd),
                   std::move(arguments), ElementCount(norm.in.md.get_dims()) * 4);
  return out;
}

}  // namespace

void LowerBatchNorm(Lowering& low, size_t layer, const BatchNorm& op) {
  const int64_t channels = low.OutputShape(layer)[1];
  const Md vector = PlainMd({channels});
  Norm norm;
  norm.in = low.InputAs(layer, 0, DenseLike(low.InputOf(layer).md));
  norm.eps = static_cast<float>(op.eps);
  norm.flags = normalization_flags::none;
  if (op.affine) {
    norm.flags = normalization_flags::use_scale | normalization_flags::use_shift;
    norm.scale = low.DeclareParameter(layer, 0, vector, vector);
    norm.shift = low.DeclareParameter(layer, 1, vector, vector);
  }
  const size_t statistics = op.affine ? 2 : 0;
  const Tensor running_mean = low.DeclareParameter(layer, statistics, vector, vector);
  const Tensor running_variance = low.DeclareParameter(layer, statistics + 1, vector, vector);
  if (low.fusion.activation[layer] == Activation::kRelu)
    norm.flags = norm.flags | normalization_flags::fuse_norm_relu;
  if (!low.training) norm.flags = norm.flags | normalization_flags::use_global_stats;
  const dnnl::batch_normalization_forward::primitive_desc pd(
      low.engine, low.training ? prop_kind::forward_training : prop_kind::forward_inference,
      norm.in.md, norm.in.md, norm.eps, norm.flags, PlainAttributes());
  norm.mean = low.training ? low.NewTensor(vector) : running_mean;
  norm.variance = low.training ? low.NewTensor(vector) : running_variance;
  const Tensor out =
      !low.training && low.MayOverwrite(layer, 0) ? norm.in : low.NewOutput(norm.in.md);
  std::vector<Argument> arguments = {{DNNL_ARG_SRC, norm.in},
                                     {DNNL_ARG_DST, out},
                                     {DNNL_ARG_MEAN, norm.mean},
                                     {DNNL_ARG_VARIANCE, norm.variance}};
  AddScaleAndShift(norm, arguments);
  if (low.training && pd.workspace_desc().get_size() > 0) {
    norm.workspace = low.NewTensor(pd.workspace_desc());
    arguments.push_back({DNNL_ARG_WORKSPACE, norm.workspace});
  }
  low.AddPrimitive(layer, Direction::kForward, pd, dnnl::batch_normalization_forward(pd),
                   std::move(arguments), ElementCount(low.OutputShape(layer)) * 7);
  if (low.training) AddRunningStatistics(low, layer, op, norm, running_mean, running_variance);
  low.SetOutput(layer, out);
  if (low.fusion.activation[layer] == Activation::kNone) low.SetNorm(layer, norm);
  if (WorthRecomputing(low, layer))
    low.OnRecompute(layer, [&low, layer, norm] { return Recompute(low, layer, norm); });
  low.OnBackward([&low, layer, norm, pd] { AddNormBackward(low, layer, norm, pd); });
}

// A batch norm with global statistics, mean 0 and variance + eps = 1 is exactly a scale and shift,
// and oneDNN has it in every layout. Both summands are 1/2: in the padding of a channel block
// oneDNN reads a variance of 0, where eps = 0 would divide by zero.
void LowerScale(Lowering& low, size_t layer, const tench::Scale& op) {
  const int64_t channels = low.OutputShape(layer)[1];
  const Md vector = PlainMd({channels});
  Norm norm;
  norm.in = low.InputAs(layer, 0, DenseLike(low.InputOf(layer).md));
  norm.eps = 0.5f;
  norm.flags = normalization_flags::use_global_stats | normalization_flags::use_scale;
  norm.scale = low.DeclareParameter(layer, 0, vector, vector);
  if (op.bias) {
    norm.flags = norm.flags | normalization_flags::use_shift;
    norm.shift = low.DeclareParameter(layer, 1, vector, vector);
  }
  norm.mean = low.NewTensor(vector);
  norm.variance = low.NewTensor(vector);
  low.AddKernel(layer, Direction::kForward, "statistics", {norm.mean, norm.variance},
                [channels](std::span<float* const> p, RunState&) {
                  std::fill_n(p[0], channels, 0.0f);
                  std::fill_n(p[1], channels, 0.5f);
                });
  const dnnl::batch_normalization_forward::primitive_desc pd(
      low.engine, low.training ? prop_kind::forward_training : prop_kind::forward_inference,
      norm.in.md, norm.in.md, norm.eps, norm.flags, PlainAttributes());
  const Tensor out = low.NewOutput(norm.in.md);
  std::vector<Argument> arguments = {{DNNL_ARG_SRC, norm.in},
                                     {DNNL_ARG_DST, out},
                                     {DNNL_ARG_MEAN, norm.mean},
                                     {DNNL_ARG_VARIANCE, norm.variance}};
  AddScaleAndShift(norm, arguments);
  low.AddPrimitive(layer, Direction::kForward, pd, dnnl::batch_normalization_forward(pd),
                   std::move(arguments), ElementCount(low.OutputShape(layer)) * 2);
  low.SetOutput(layer, out);
  low.OnBackward([&low, layer, norm, pd] { AddNormBackward(low, layer, norm, pd); });
}

}  // namespace tench::native
