// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "workers/native/compile/op_lowering.h"
#include "workers/native/kernels/max_pool.h"
#include "workers/native/kernels/parallel.h"

namespace tench::native {
namespace {

using dnnl::algorithm;
using dnnl::prop_kind;

struct Windows {
  Shape kernel, stride, pad_left, pad_right;
  bool beyond = false;  // with ceil mode the last window exceeds the padded image
};

Windows WindowsOf(const Pooling& op, const Shape& in, const Shape& out) {
  if (op.global) return {{in[2], in[3]}, {1, 1}, {0, 0}, {0, 0}, false};
  Windows w{{op.kernel.h, op.kernel.w},
            {op.stride.h, op.stride.w},
            {op.pad.h, op.pad.w},
            {op.pad.h, op.pad.w},
            false};
  for (int i = 0; i < 2; ++i) {
    const int64_t needed = (out[2 + i] - 1) * w.stride[i] + w.kernel[i] - in[2 + i] - w.pad_left[i];
    if (needed > w.pad_right[i]) w.beyond = true;
    w.pad_right[i] = std::max(w.pad_right[i], needed);
  }
  return w;
}

// Average pooling with padding and ceil mode. The divisor is the part of the window inside the
// padded image; oneDNN offers the whole window or the part inside the image only.
struct PlainAverage {
  Shape in, out;
  Windows w;

  template <class Visit>
  void ForEachWindow(const Visit& visit) const {
    const int64_t planes = in[0] * in[1], out_area = out[2] * out[3];
    ParallelFor(planes, std::max<int64_t>(1, 4096 / out_area), [&](int64_t first, int64_t last) {
      for (int64_t plane = first; plane < last; ++plane) {
        for (int64_t i = 0; i < out_area; ++i)
          visit(plane, i / out[3], i % out[3], plane * out_area + i);
      }
    });
  }
  // The window's part inside the image, and the reciprocal of the divisor.
  struct Span {
    int64_t h0, h1, w0, w1;
    float share;
  };
  Span At(int64_t oh, int64_t ow, const Shape& pad) const {
    const int64_t h0 = oh * w.stride[0] - pad[0], w0 = ow * w.stride[1] - pad[1];
    const int64_t h1 = std::min(h0 + w.kernel[0], in[2] + pad[0]),
                  w1 = std::min(w0 + w.kernel[1], in[3] + pad[1]);
    return {std::max<int64_t>(h0, 0), std::min(h1, in[2]), std::max<int64_t>(w0, 0),
            std::min(w1, in[3]), 1.0f / static_cast<float>((h1 - h0) * (w1 - w0))};
  }
  void Forward(const float* x, float* y) const {
    ForEachWindow([&](int64_t plane, int64_t oh, int64_t ow, int64_t at) {
      const Span s = At(oh, ow, w.pad_left);
      float sum = 0;
      for (int64_t h = s.h0; h < s.h1; ++h) {
        for (int64_t v = s.w0; v < s.w1; ++v) sum += x[(plane * in[2] + h) * in[3] + v];
      }
      y[at] = sum * s.share;
    });
  }
  void Backward(const float* dy, float* dx) const {
    std::fill_n(dx, ElementCount(in), 0.0f);
    ForEachWindow([&](int64_t plane, int64_t oh, int64_t ow, int64_t at) {
      const Span s = At(oh, ow, w.pad_left);
      for (int64_t h = s.h0; h < s.h1; ++h) {
        for (int64_t v = s.w0; v < s.w1; ++v)
          dx[(plane * in[2] + h) * in[3] + v] += dy[at] * s.share;
      }
    });
  }
};

void LowerPlainAverage(Lowering& low, size_t layer, const PlainAverage& average) {
  const Md in_md = PlainMd(average.in), out_md = PlainMd(average.out);
  const Tensor out = low.NewOutput(out_md);
  low.AddKernel(layer, Direction::kForward, "average", {low.InputAs(layer, 0, in_md), out},
                [average](std::span<float* const> p, RunState&) { average.Forward(p[0], p[1]); });
  low.SetOutput(layer, out);
  low.OnBackward([&low, layer, average, in_md, out_md] {
    const Lowering::Gradient gradient = low.TakeGradient(layer);
    if (!gradient || !low.WantsInputGradient(layer)) return;
    const Tensor dx = low.NewTensor(in_md);
    low.AddKernel(
        layer, Direction::kBackwardData, "average",
        {low.InLayout(layer, Direction::kBackwardData, gradient.tensor, out_md), dx},
        [average](std::span<float* const> p, RunState&) { average.Backward(p[0], p[1]); });
    low.ContributeToInput(layer, 0, {dx, true});
  });
}

// Nothing unless the windows do not overlap, cover the image exactly, and the layout is blocked.
std::optional<MaxPoolShape> NonOverlapping(const Pooling& op, const Windows& w, const Md& in,
                                           const Shape& in_shape, const Shape& out) {
  const bool fill = w.stride == w.kernel && w.pad_left == Shape{0, 0} &&
                    w.pad_right == Shape{0, 0} && in_shape[2] == out[2] * w.kernel[0] &&
                    in_shape[3] == out[3] * w.kernel[1];
  if (op.mode != PoolMode::kMax || !fill || in.get_inner_nblks() != 1 ||
      in != ActivationMd(in_shape))
    return {};
  const int64_t block = in.get_inner_blks()[0];
  const MaxPoolShape shape{in.get_padded_dims()[0] * in.get_padded_dims()[1] / block,
                           out[2],
                           out[3],
                           w.kernel[0],
                           w.kernel[1],
                           block};
  return HasMaxPool(shape) ? std::optional(shape) : std::nullopt;
}

void LowerNonOverlappingMaxPool(Lowering& low, size_t layer, const MaxPoolShape& shape,
                                const Tensor& in) {
  const Tensor out = low.NewOutput(ActivationMd(low.OutputShape(layer)));
  const int64_t outputs = shape.planes * shape.out_h * shape.out_w * shape.block;
  const Tensor argmax = low.NewTensor(PlainMd({outputs}, dnnl::memory::data_type::u8));
  const int64_t flops = ElementCount(low.OutputShape(layer)) * shape.kernel_h * shape.kernel_w;
  low.AddKernel(
      layer, Direction::kForward, "max:avx2", {in, out, argmax},
      [shape](std::span<float* const> p, RunState&) {
        MaxPoolForward(shape, p[0], p[1], reinterpret_cast<uint8_t*>(p[2]));
      },
      flops);
  low.SetOutput(layer, out);
  low.OnBackward([&low, layer, shape, argmax, in_md = in.md, out_md = out.md, flops] {
    const Lowering::Gradient gradient = low.TakeGradient(layer);
    if (!gradient) return;
    const Tensor dy = low.InLayout(layer, Direction::kBackwardData, gradient.tensor, out_md),
                 dx = low.NewTensor(in_md);
    low.AddKernel(
        layer, Direction::kBackwardData, "max:avx2", {dy, argmax, dx},
        [shape](std::span<float* const> p, RunState&) {
          MaxPoolBackward(shape, p[0], reinterpret_cast<const uint8_t*>(p[1]), p[2]);
        },
        flops);
    low.ContributeToInput(layer, 0, {dx, true});
  });
}

}  // namespace

void LowerPooling(Lowering& low, size_t layer, const Pooling& op) {
  const Windows w = WindowsOf(op, low.InputShape(layer), low.OutputShape(layer));
  const bool padded = w.pad_left != Shape{0, 0};
  if (op.mode == PoolMode::kAvg && padded && w.beyond) {
    LowerPlainAverage(low, layer, {low.InputShape(layer), low.OutputShape(layer), w});
    return;
  }
  const algorithm kind = op.mode == PoolMode::kMax ? algorithm::pooling_max
                         : padded                  ? algorithm::pooling_avg_include_padding
                                                   : algorithm::pooling_avg_exclude_padding;
  const Tensor in = low.InputAs(layer, 0, DenseLike(low.InputOf(layer).md));
  const Md any(low.OutputShape(layer), dnnl::memory::data_type::f32, dnnl::memory::format_tag::any);
  const Shape dilation = {0, 0};
  const bool backward = low.WantsInputGradient(layer);
  if (const auto shape =
          NonOverlapping(op, w, in.md, low.InputShape(layer), low.OutputShape(layer));
      shape && backward) {
    LowerNonOverlappingMaxPool(low, layer, *shape, in);
    return;
  }
  const dnnl::pooling_forward::primitive_desc pd(
      low.engine, backward ? prop_kind::forward_training : prop_kind::forward_inference, kind,
      in.md, any, w.stride, w.kernel, dilation, w.pad_left, w.pad_right, PlainAttributes());
  const Tensor out = low.NewOutput(pd.dst_desc());
  std::vector<Argument> arguments = {{DNNL_ARG_SRC, in}, {DNNL_ARG_DST, out}};
  Tensor workspace;
  if (backward && op.mode == PoolMode::kMax) {
    workspace = low.NewTensor(pd.workspace_desc());
    arguments.push_back({DNNL_ARG_WORKSPACE, workspace});
  }
  const int64_t flops = ElementCount(low.OutputShape(layer)) * w.kernel[0] * w.kernel[1];
  low.AddPrimitive(layer, Direction::kForward, pd, dnnl::pooling_forward(pd), std::move(arguments),
                   flops);
  low.SetOutput(layer, out);
  if (!backward) return;
  low.OnBackward([&low, layer, kind, pd, w, dilation, workspace, in_md = in.md, flops] {
    const Lowering::Gradient gradient = low.TakeGradient(layer);
    if (!gradient) return;
    const dnnl::pooling_backward::primitive_desc back(low.engine, kind, in_md, pd.dst_desc(),
                                                      w.stride, w.kernel, dilation, w.pad_left,
                                                      w.pad_right, pd, PlainAttributes());
    const Tensor dx = low.NewTensor(in_md);
    std::vector<Argument> arguments_back = {
        {DNNL_ARG_DIFF_DST,
         low.InLayout(layer, Direction::kBackwardData, gradient.tensor, pd.dst_desc())},
        {DNNL_ARG_DIFF_SRC, dx}};
    if (workspace) arguments_back.push_back({DNNL_ARG_WORKSPACE, workspace});
    low.AddPrimitive(layer, Direction::kBackwardData, back, dnnl::pooling_backward(back),
                     std::move(arguments_back), flops);
    low.ContributeToInput(layer, 0, {dx, true});
  });
}

}  // namespace tench::native
