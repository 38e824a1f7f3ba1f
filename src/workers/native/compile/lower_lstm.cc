// SPDX-License-Identifier: Apache-2.0
// The LSTM as oneDNN's RNN primitive; lower_direct_lstm.cc has the direct kernels.
#include <array>

#include "workers/native/compile/lower_direct_lstm.h"
#include "workers/native/compile/op_lowering.h"

namespace tench::native {
namespace {

using dnnl::prop_kind;
using Tag = dnnl::memory::format_tag;
constexpr auto kF32 = dnnl::memory::data_type::f32;

// Time-major (N, T, F) in the dimension order of the RNN primitive, (T, N, F).
Tensor AsTnc(const Tensor& tensor) {
  const Shape dims = tensor.md.get_dims();
  return {tensor.buffer, Md({dims[1], dims[0], dims[2]}, kF32, Tag::tnc)};
}

struct Recurrent {
  Tensor in, out, weights_input, weights_hidden, bias, workspace;
  Tensor start;  // the initial hidden and cell state, zero
  Md bias_md;
};

dnnl::lstm_forward::primitive_desc ForwardPd(const Lowering& low, const Recurrent& r,
                                             const Md& weights_input, const Md& weights_hidden) {
  return {low.engine,
          low.training ? prop_kind::forward_training : prop_kind::forward_inference,
          dnnl::rnn_direction::unidirectional_left2right,
          AsTnc(r.in).md,
          r.start.md,
          r.start.md,
          weights_input,
          weights_hidden,
          r.bias_md,
          AsTnc(r.out).md,
          Md(),
          Md(),
          PlainAttributes()};
}

void AddLstmBackward(Lowering& low, size_t layer, const Recurrent& r,
                     const dnnl::lstm_forward::primitive_desc& hint, int64_t flops) {
  const Lowering::Gradient gradient = low.TakeGradient(layer);
  if (!gradient) return;
  const Tensor dy = low.InLayout(layer, Direction::kBackwardData, gradient.tensor, r.out.md);
  const auto any = [](const Md& md) { return Md(md.get_dims(), kF32, Tag::any); };
  const Md x = AsTnc(r.in).md, y = AsTnc(r.out).md, wi = r.weights_input.md,
           wh = r.weights_hidden.md, start = r.start.md;
  // The primitive accumulates into the weight gradients, so they are zeroed first.
  const dnnl::lstm_backward::primitive_desc pd(
      low.engine, prop_kind::backward, dnnl::rnn_direction::unidirectional_left2right, x, start,
      start, any(wi), any(wh), r.bias_md, y, Md(), Md(), x, start, start, wi, wh, r.bias_md, y,
      Md(), Md(), hint, PlainAttributes());
  const Tensor wi_back =
      low.InLayout(layer, Direction::kBackwardData, r.weights_input, pd.weights_layer_desc());
  const Tensor wh_back =
      low.InLayout(layer, Direction::kBackwardData, r.weights_hidden, pd.weights_iter_desc());
  const Tensor dx = low.NewTensor(r.in.md);
  const Tensor dwi = low.NewGradient(layer, 0, wi), dwh = low.NewGradient(layer, 1, wh),
               db = low.NewGradient(layer, 2, r.bias_md);
  low.AddKernel(layer, Direction::kBackwardWeights, "zero", {dwi, dwh, db},
                [sizes = std::array<size_t, 3>{wi.get_size(), wh.get_size(), r.bias_md.get_size()}](
                    std::span<float* const> p, RunState&) {
                  for (size_t i = 0; i < 3; ++i) std::fill_n(p[i], sizes[i] / sizeof(float), 0.0f);
                });
  low.AddPrimitive(layer, Direction::kBackwardData, pd, dnnl::lstm_backward(pd),
                   {{DNNL_ARG_SRC_LAYER, AsTnc(r.in)},
                    {DNNL_ARG_SRC_ITER, r.start},
                    {DNNL_ARG_SRC_ITER_C, r.start},
                    {DNNL_ARG_DIFF_SRC_ITER, low.NewTensor(start)},
                    {DNNL_ARG_DIFF_SRC_ITER_C, low.NewTensor(start)},
                    {DNNL_ARG_WEIGHTS_LAYER, wi_back},
                    {DNNL_ARG_WEIGHTS_ITER, wh_back},
                    {DNNL_ARG_BIAS, {r.bias.buffer, r.bias_md}},
                    {DNNL_ARG_DST_LAYER, AsTnc(r.out)},
                    {DNNL_ARG_WORKSPACE, r.workspace},
                    {DNNL_ARG_DIFF_DST_LAYER, AsTnc(dy)},
                    {DNNL_ARG_DIFF_SRC_LAYER, AsTnc(dx)},
                    {DNNL_ARG_DIFF_WEIGHTS_LAYER, dwi},
                    {DNNL_ARG_DIFF_WEIGHTS_ITER, dwh},
                    {DNNL_ARG_DIFF_BIAS, db}},
                   2 * flops);
  if (low.WantsInputGradient(layer)) low.ContributeToInput(layer, 0, {dx, true});
  low.Update(layer, 0, dwi);
  low.Update(layer, 1, dwh);
  low.Update(layer, 2, db);
}

}  // namespace

void LowerLstm(Lowering& low, size_t layer, const Lstm& op) {
  const Shape& in_shape = low.InputShape(layer);
  const int64_t features = in_shape[2], hidden = op.hidden;
  const LstmShape shape{in_shape[1], in_shape[0], features, hidden};
  if (const std::optional<LstmSplit> split = ChooseDirectLstm(low, shape))
    return LowerDirectLstm(low, layer, shape, *split);
  low.Choose(low.graph.layers[layer].layer.name, "oneDNN LSTM primitive");
  const auto weights_md = [&](int64_t rows, Tag tag) {
    return Md({1, 1, rows, 4, hidden}, kF32, tag);
  };
  Recurrent r;
  r.in = low.InputAs(layer, 0, TimeMajorMd(in_shape));
  r.out = low.NewOutput(TimeMajorMd(low.OutputShape(layer)));
  // An explicit zero state: without it oneDNN 3.2's gradient of the hidden weights differs from the
  // reference.
  r.start = low.NewTensor(Md({1, 1, in_shape[0], hidden}, kF32, Tag::ldnc), Place::kPersistent);
  r.bias_md = Md({1, 1, 4, hidden}, kF32, Tag::ldgo);
  // The adapter's (4·hidden, features) is ldgoi. The weight gradients are ldigo, so the weights are
  // stored in ldigo and the update needs no reorder.
  r.weights_input = low.DeclareParameter(layer, 0, weights_md(features, Tag::ldgoi),
                                         weights_md(features, Tag::ldigo));
  r.weights_hidden = low.DeclareParameter(layer, 1, weights_md(hidden, Tag::ldgoi),
                                          weights_md(hidden, Tag::ldigo));
  r.bias = low.DeclareParameter(layer, 2, r.bias_md, r.bias_md);
  const dnnl::lstm_forward::primitive_desc pd =
      ForwardPd(low, r, r.weights_input.md, r.weights_hidden.md);
  std::vector<Argument> arguments = {{DNNL_ARG_SRC_LAYER, AsTnc(r.in)},
                                     {DNNL_ARG_SRC_ITER, r.start},
                                     {DNNL_ARG_SRC_ITER_C, r.start},
                                     {DNNL_ARG_WEIGHTS_LAYER, r.weights_input},
                                     {DNNL_ARG_WEIGHTS_ITER, r.weights_hidden},
                                     {DNNL_ARG_BIAS, r.bias},
                                     {DNNL_ARG_DST_LAYER, AsTnc(r.out)}};
  if (low.training) {
    r.workspace = low.NewTensor(pd.workspace_desc());
    arguments.push_back({DNNL_ARG_WORKSPACE, r.workspace});
  }
  const int64_t flops = 8 * in_shape[0] * in_shape[1] * hidden * (features + hidden);
  low.AddPrimitive(layer, Direction::kForward, pd, dnnl::lstm_forward(pd), std::move(arguments),
                   flops);
  low.SetOutput(layer, r.out);
  low.OnBackward([&low, layer, r, pd, flops] { AddLstmBackward(low, layer, r, pd, flops); });
}

}  // namespace tench::native
