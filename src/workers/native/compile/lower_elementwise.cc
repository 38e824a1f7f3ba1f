// SPDX-License-Identifier: Apache-2.0
#include "workers/native/compile/op_lowering.h"
#include "workers/native/kernels/elementwise.h"

namespace tench::native {
namespace {

int64_t FloatCount(const Md& md) { return static_cast<int64_t>(md.get_size() / sizeof(float)); }

// All inputs in one dense layout. These ops map zeros to zero, so the padding of channel blocks
// stays zero.
std::vector<Tensor> Sources(Lowering& low, size_t layer) {
  const Md md = DenseLike(low.InputOf(layer).md);
  std::vector<Tensor> sources;
  for (size_t i = 0; i < low.graph.layers[layer].inputs.size(); ++i)
    sources.push_back(low.InputAs(layer, i, md));
  return sources;
}

using ForwardKernel = std::function<void(float* y, std::span<float* const> sources)>;
using BackwardKernel =
    std::function<void(float* dx, const float* dy, std::span<float* const> sources, size_t input)>;

// `backward` runs once per input that needs a gradient; its sources are empty unless
// `reads_sources`.
void LowerElementwise(Lowering& low, size_t layer, const char* name, const ForwardKernel& forward,
                      bool reads_sources, const BackwardKernel& backward) {
  const std::vector<Tensor> sources = Sources(low, layer);
  const Md md = sources[0].md;
  const Tensor out = low.NewOutput(md);
  const int64_t flops = FloatCount(md) * static_cast<int64_t>(sources.size());
  std::vector<Tensor> tensors = {out};
  tensors.insert(tensors.end(), sources.begin(), sources.end());
  low.AddKernel(
      layer, Direction::kForward, name, tensors,
      [forward](std::span<float* const> p, RunState&) { forward(p[0], p.subspan(1)); }, flops);
  low.SetOutput(layer, out);
  low.OnBackward([=, &low] {
    const Lowering::Gradient gradient = low.TakeGradient(layer);
    if (!gradient) return;
    const Tensor dy = low.InLayout(layer, Direction::kBackwardData, gradient.tensor, md);
    for (size_t i = 0; i < sources.size(); ++i) {
      if (!low.WantsInputGradient(layer, i)) continue;
      const Tensor dx = low.NewTensor(md);
      std::vector<Tensor> read = {dx, dy};
      if (reads_sources) read.insert(read.end(), sources.begin(), sources.end());
      low.AddKernel(
          layer, Direction::kBackwardData, name, read,
          [backward, i](std::span<float* const> p, RunState&) {
            backward(p[0], p[1], p.subspan(2), i);
          },
          flops);
      low.ContributeToInput(layer, i, {dx, true});
    }
  });
}

// The input in a layout without padding, for functions that do not map zero to zero.
Tensor UnpaddedInput(Lowering& low, size_t layer) {
  const Md md = DenseLike(low.InputOf(layer).md);
  return low.InputAs(layer, 0, IsPadded(md) ? PlainMd(md.get_dims()) : md);
}

}  // namespace

void LowerWeightedSum(Lowering& low, size_t layer, const Add& op) {
  const int64_t count = FloatCount(DenseLike(low.InputOf(layer).md));
  const std::vector<float> coefficients(op.coefficients.begin(), op.coefficients.end());
  LowerElementwise(
      low, layer, "weighted sum",
      [=](float* y, std::span<float* const> sources) {
        WeightedSum(y, sources, coefficients, count);
      },
      false,
      [=](float* dx, const float* dy, std::span<float* const>, size_t input) {
        Scale(dx, dy, coefficients[input], count);
      });
}

void LowerProduct(Lowering& low, size_t layer) {
  const int64_t count = FloatCount(DenseLike(low.InputOf(layer).md));
  LowerElementwise(
      low, layer, "product",
      [=](float* y, std::span<float* const> sources) {
        Product(y, sources, sources.size(), count);
      },
      true,
      [=](float* dx, const float* dy, std::span<float* const> sources, size_t input) {
        Product(dx, sources, input, count);
        MultiplyInPlace(dx, dy, count);
      });
}

void LowerMaximum(Lowering& low, size_t layer) {
  const int64_t count = FloatCount(DenseLike(low.InputOf(layer).md));
  LowerElementwise(
      low, layer, "maximum",
      [=](float* y, std::span<float* const> sources) { Max(y, sources, count); }, true,
      [=](float* dx, const float* dy, std::span<float* const> sources, size_t input) {
        MaxBackward(dx, dy, sources, input, count);
      });
}

void LowerPower(Lowering& low, size_t layer, const Power& op) {
  const Tensor in = UnpaddedInput(low, layer);
  const Tensor out = low.NewOutput(in.md);
  const int64_t count = FloatCount(in.md);
  const PowerParameters power{op.power, op.scale, op.shift};
  low.AddKernel(
      layer, Direction::kForward, "power", {out, in},
      [power, count](std::span<float* const> p, RunState&) {
        PowerForward(p[0], p[1], power, count);
      },
      2 * count);
  low.SetOutput(layer, out);
  if (!low.WantsInputGradient(layer)) return;
  low.OnBackward([&low, layer, power, in, count] {
    const Lowering::Gradient gradient = low.TakeGradient(layer);
    if (!gradient) return;
    const Tensor dy = low.InLayout(layer, Direction::kBackwardData, gradient.tensor, in.md),
                 dx = low.Reuse(gradient, in.md);
    low.AddKernel(
        layer, Direction::kBackwardData, "power", {dx, dy, in},
        [power, count](std::span<float* const> p, RunState&) {
          PowerBackward(p[0], p[1], p[2], power, count);
        },
        2 * count);
    low.ContributeToInput(layer, 0, {dx, true});
  });
}

void LowerLeakyRelu(Lowering& low, size_t layer, const Relu& op) {
  constexpr auto kKind = dnnl::algorithm::eltwise_relu;
  const Tensor in = low.InputAs(layer, 0, DenseLike(low.InputOf(layer).md));
  const Tensor out = low.NewOutput(in.md);
  const auto slope = static_cast<float>(op.negative_slope);
  const auto kind =
      low.training ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference;
  const dnnl::eltwise_forward::primitive_desc pd(low.engine, kind, kKind, in.md, in.md, slope, 0,
                                                 PlainAttributes());
  low.AddPrimitive(layer, Direction::kForward, pd, dnnl::eltwise_forward(pd),
                   {{DNNL_ARG_SRC, in}, {DNNL_ARG_DST, out}}, FloatCount(in.md));
  low.SetOutput(layer, out);
  if (!low.WantsInputGradient(layer)) return;
  low.OnBackward([&low, layer, slope, in, pd] {
    const Lowering::Gradient gradient = low.TakeGradient(layer);
    if (!gradient) return;
    const dnnl::eltwise_backward::primitive_desc back(low.engine, kKind, in.md, in.md, in.md, slope,
                                                      0, pd, PlainAttributes());
    const Tensor dy = low.InLayout(layer, Direction::kBackwardData, gradient.tensor, in.md),
                 dx = low.Reuse(gradient, in.md);
    low.AddPrimitive(layer, Direction::kBackwardData, back, dnnl::eltwise_backward(back),
                     {{DNNL_ARG_SRC, in}, {DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_DIFF_SRC, dx}},
                     FloatCount(in.md));
    low.ContributeToInput(layer, 0, {dx, true});
  });
}

void LowerSoftmax(Lowering& low, size_t layer) {
  constexpr auto kKind = dnnl::algorithm::softmax_accurate;
  const Tensor in = UnpaddedInput(low, layer);
  const Tensor out = low.NewOutput(in.md);
  const auto kind =
      low.training ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference;
  const dnnl::softmax_forward::primitive_desc pd(low.engine, kind, kKind, in.md, in.md, 1,
                                                 PlainAttributes());
  low.AddPrimitive(layer, Direction::kForward, pd, dnnl::softmax_forward(pd),
                   {{DNNL_ARG_SRC, in}, {DNNL_ARG_DST, out}}, FloatCount(in.md));
  low.SetOutput(layer, out);
  if (!low.WantsInputGradient(layer)) return;
  low.OnBackward([&low, layer, out, pd] {
    const Lowering::Gradient gradient = low.TakeGradient(layer);
    if (!gradient) return;
    const dnnl::softmax_backward::primitive_desc back(low.engine, kKind, out.md, out.md, out.md, 1,
                                                      pd, PlainAttributes());
    const Tensor dy = low.InLayout(layer, Direction::kBackwardData, gradient.tensor, out.md),
                 dx = low.NewTensor(out.md);
    low.AddPrimitive(layer, Direction::kBackwardData, back, dnnl::softmax_backward(back),
                     {{DNNL_ARG_DST, out}, {DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_DIFF_SRC, dx}},
                     FloatCount(out.md));
    low.ContributeToInput(layer, 0, {dx, true});
  });
}

}  // namespace tench::native
