// SPDX-License-Identifier: Apache-2.0
#include "workers/native/compile/lower_lstm.h"
#include "workers/native/compile/lowering.h"
#include "workers/native/compile/update_rule.h"
#include "workers/native/kernels/sequence.h"

namespace tench::native {
namespace {

using dnnl::prop_kind;
using Tag = dnnl::memory::format_tag;
constexpr auto kF32 = dnnl::memory::data_type::f32;
constexpr auto kS32 = dnnl::memory::data_type::s32;

// (N, T, F), time-major in memory.
Md TimeMajor(const Shape& shape) { return Md(shape, kF32, Tag::bac); }
// The same memory as the recurrent primitive names it: (T, N, F).
Tensor AsTnc(const Tensor& tensor) {
  const Shape dims = tensor.md.get_dims();
  return {tensor.buffer, Md({dims[1], dims[0], dims[2]}, kF32, Tag::tnc)};
}

int32_t* Integers(float* data) { return reinterpret_cast<int32_t*>(data); }

}  // namespace

void LowerEmbedding(Lowering& low, size_t layer, const Embedding& op) {
  const Shape& out_shape = low.OutputShape(layer);
  const SequenceShape shape{out_shape[0], out_shape[1], out_shape[2]};
  const Md table_md = PlainMd({op.vocabulary, op.dimension});
  const Tensor table = low.DeclareParameter(layer, 0, table_md, table_md),
               tokens = low.InputOf(layer);
  const Tensor out = low.NewOutput(TimeMajor(out_shape));
  low.AddKernel(layer, Direction::kForward, "gather", {tokens, table, out},
                [shape](std::span<float* const> p, RunState&) {
                  EmbeddingForward(shape, Integers(p[0]), p[1], p[2]);
                });
  low.SetOutput(layer, out);
  low.OnBackward([&low, layer, op, shape, table, tokens, md = out.md] {
    const Lowering::Gradient gradient = low.TakeGradient(layer);
    if (!gradient) return;
    const Tensor dy = low.InLayout(layer, Direction::kBackwardWeights, gradient.tensor, md);
    const Tensor starts = low.NewTensor(PlainMd({op.vocabulary + 1}, kS32)),
                 places = low.NewTensor(PlainMd({shape.batch * shape.time}, kS32));
    low.AddKernel(layer, Direction::kBackwardWeights, "sort tokens", {tokens, starts, places},
                  [shape, op](std::span<float* const> p, RunState&) {
                    SortTokens(shape, op.vocabulary, Integers(p[0]), Integers(p[1]),
                               Integers(p[2]));
                  });
    if (low.MayFuseUpdate()) {
      const UpdateRule rule =
          RuleOf(low.options.solver, low.graph.parameters[low.ParameterIndex(layer, 0)]);
      low.AddKernel(layer, Direction::kUpdate, "gradient+sgd",
                    {starts, places, dy, table, low.PlaceOf(layer, 0).momentum},
                    [shape, op, rule](std::span<float* const> p, RunState& state) {
                      EmbeddingBackwardWeightsSgd(shape, op.vocabulary, Integers(p[0]),
                                                  Integers(p[1]), p[2], p[3], p[4], rule, state.lr);
                    });
      return;
    }
    const Tensor dw = low.NewGradient(layer, 0, table.md);
    low.AddKernel(layer, Direction::kBackwardWeights, "scatter", {starts, places, dy, dw},
                  [shape, op](std::span<float* const> p, RunState&) {
                    EmbeddingBackwardWeights(shape, op.vocabulary, Integers(p[0]), Integers(p[1]),
                                             p[2], p[3]);
                  });
    low.Update(layer, 0, dw);
  });
}

namespace {

struct Recurrent {
  Tensor in, out, start, weights_input, weights_hidden, bias,
      workspace;  // start: the zero state, of h and of c
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
  // The primitive adds gradients to what the buffer holds, so it is cleared first.
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
  if (const std::optional<LstmSplit> split = ChooseOwnLstm(low, shape))
    return LowerOwnLstm(low, layer, shape, *split);
  low.Choose(low.graph.layers[layer].layer.name, "oneDNN's recurrent primitive");
  const auto weights_md = [&](int64_t rows, Tag tag) {
    return Md({1, 1, rows, 4, hidden}, kF32, tag);
  };
  Recurrent r;
  r.in = low.InputAs(layer, 0, TimeMajor(in_shape));
  r.out = low.NewOutput(TimeMajor(low.OutputShape(layer)));
  // Said explicitly: without it the gradient of the hidden weights that oneDNN 3.2 gives disagrees
  // with the reference.
  r.start = low.NewTensor(Md({1, 1, in_shape[0], hidden}, kF32, Tag::ldnc), Place::kPinned);
  r.bias_md = Md({1, 1, 4, hidden}, kF32, Tag::ldgo);
  // (4·hidden, features) as the contract has it is ldgoi; gradients come in ldigo, so the weights
  // live in that.
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

void LowerMeanOverTime(Lowering& low, size_t layer) {
  const Shape& in = low.InputShape(layer);
  const SequenceShape shape{in[0], in[1], in[2]};
  const Md md = TimeMajor(in);
  const Tensor lengths = low.InputOf(layer, 1),
               out = low.NewOutput(PlainMd(low.OutputShape(layer)));
  low.AddKernel(layer, Direction::kForward, "mean", {low.InputAs(layer, 0, md), lengths, out},
                [shape](std::span<float* const> p, RunState&) {
                  MeanTimeForward(shape, p[0], Integers(p[1]), p[2]);
                });
  low.SetOutput(layer, out);
  if (!low.WantsInputGradient(layer)) return;
  low.OnBackward([&low, layer, shape, md, lengths, out] {
    const Lowering::Gradient gradient = low.TakeGradient(layer);
    if (!gradient) return;
    const Tensor dx = low.NewTensor(md);
    low.AddKernel(
        layer, Direction::kBackwardData, "mean",
        {low.InLayout(layer, Direction::kBackwardData, gradient.tensor, out.md), lengths, dx},
        [shape](std::span<float* const> p, RunState&) {
          MeanTimeBackward(shape, p[0], Integers(p[1]), p[2]);
        });
    low.ContributeToInput(layer, 0, {dx, true});
  });
}

}  // namespace tench::native
