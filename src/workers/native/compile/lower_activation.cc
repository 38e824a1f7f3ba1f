// SPDX-License-Identifier: Apache-2.0
#include "workers/native/compile/op_lowering.h"
#include "workers/native/kernels/pointwise.h"

namespace tench::native {

// An activation that fusion left as a layer.
void LowerActivation(Lowering& low, size_t layer, Activation activation) {
  const Tensor in = low.InputAs(layer, 0, DenseLike(low.InputOf(layer).md));
  const Tensor out = low.MayOverwrite(layer, 0) ? in : low.NewOutput(in.md);
  const auto kind = activation == Activation::kRelu      ? dnnl::algorithm::eltwise_relu
                    : activation == Activation::kSigmoid ? dnnl::algorithm::eltwise_logistic
                                                         : dnnl::algorithm::eltwise_tanh;
  const dnnl::eltwise_forward::primitive_desc pd(low.engine, dnnl::prop_kind::forward_inference,
                                                 kind, in.md, in.md, 0, 0, PlainAttributes());
  low.AddPrimitive(layer, Direction::kForward, pd, dnnl::eltwise_forward(pd),
                   {{DNNL_ARG_SRC, in}, {DNNL_ARG_DST, out}}, ElementCount(low.OutputShape(layer)));
  low.SetOutput(layer, out);
  if (!low.WantsInputGradient(layer)) return;
  low.OnBackward([&low, layer, activation, out] {
    const Lowering::Gradient gradient = low.TakeGradient(layer);
    if (!gradient) return;
    const Tensor dx = low.Reuse(gradient, out.md);
    const Tensor dy = low.InLayout(layer, Direction::kBackwardData, gradient.tensor, out.md);
    const Rows rows = *RowsOf(out.md);
    low.AddKernel(layer, Direction::kBackwardData, "derivative", {dx, dy, out},
                  [rows, activation](std::span<float* const> p, RunState&) {
                    const RowPointer source{p[1], rows};
                    SumGradients(p[0], rows, {&source, 1}, {p[2], rows}, activation);
                  });
    low.ContributeToInput(layer, 0, {dx, true});
  });
}

void LowerDropout(Lowering& low, size_t layer, const Dropout& op) {
  const size_t input = low.graph.layers[layer].inputs[0];
  if (!low.training || !low.options.dropout || op.ratio == 0) {
    low.ShareOutput(layer, input);
    return;
  }
  const Tensor in = low.InputAs(layer, 0, DenseLike(low.InputOf(layer).md));
  const auto count = static_cast<int64_t>(in.md.get_size() / sizeof(float));
  // After a ReLU, dropout's output is positive exactly where both derivatives are non-zero, so it
  // may overwrite the ReLU's output.
  const Op& producer = low.graph.layers[input].layer.op;
  const bool in_place = !low.options.observe && low.fusion.readers[input] == 1 &&
                        IsPlainRelu(producer) && in.buffer == low.InputOf(layer).buffer;
  const Tensor out = in_place ? in : low.NewOutput(in.md);
  const Tensor kept = low.NewTensor(PlainMd({count}, dnnl::memory::data_type::u8));
  low.AddKernel(layer, Direction::kForward, "dropout", {out, in, kept},
                [count, layer, ratio = op.ratio, seed = low.options.seed](std::span<float* const> p,
                                                                          RunState& state) {
                  DropoutForward(p[0], p[1], reinterpret_cast<uint8_t*>(p[2]), count,
                                 {seed, state.step, layer, ratio});
                });
  if (in_place) {
    low.ShareOutput(layer, input);
  } else {
    low.SetOutput(layer, out);
  }
  if (!low.WantsInputGradient(layer)) return;
  low.OnBackward([&low, layer, count, kept, ratio = op.ratio, md = out.md] {
    const Lowering::Gradient gradient = low.TakeGradient(layer);
    if (!gradient) return;
    const Tensor dy = low.InLayout(layer, Direction::kBackwardData, gradient.tensor, md);
    const Tensor dx = low.Reuse(gradient, md);
    low.AddKernel(layer, Direction::kBackwardData, "dropout", {dx, dy, kept},
                  [count, ratio](std::span<float* const> p, RunState&) {
                    DropoutBackward(p[0], p[1], reinterpret_cast<const uint8_t*>(p[2]), count,
                                    ratio);
                  });
    low.ContributeToInput(layer, 0, {dx, true});
  });
}

}  // namespace tench::native
