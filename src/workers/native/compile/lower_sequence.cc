// SPDX-License-Identifier: Apache-2.0
#include "workers/native/compile/op_lowering.h"
#include "workers/native/compile/update_rule.h"
#include "workers/native/kernels/sequence.h"

namespace tench::native {
namespace {

constexpr auto kS32 = dnnl::memory::data_type::s32;

int32_t* Integers(float* data) { return reinterpret_cast<int32_t*>(data); }

}  // namespace

void LowerEmbedding(Lowering& low, size_t layer, const Embedding& op) {
  const Shape& out_shape = low.OutputShape(layer);
  const SequenceShape shape{out_shape[0], out_shape[1], out_shape[2]};
  const Md table_md = PlainMd({op.vocabulary, op.dimension});
  const Tensor table = low.DeclareParameter(layer, 0, table_md, table_md),
               tokens = low.InputOf(layer);
  const Tensor out = low.NewOutput(TimeMajorMd(out_shape));
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

void LowerMeanOverTime(Lowering& low, size_t layer) {
  const Shape& in = low.InputShape(layer);
  const SequenceShape shape{in[0], in[1], in[2]};
  const Md md = TimeMajorMd(in);
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
