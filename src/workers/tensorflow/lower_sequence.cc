// SPDX-License-Identifier: Apache-2.0
// Sequences. The LSTM is TensorFlow's fused BlockLSTMV2, with gates i, f, g, o and no forget bias
// as in tench. TF_AddGradients has no gradient for it in C++; the gradient node is the one that
// TensorFlow's Python writes.
#include "workers/tensorflow/lowering.h"

namespace tench::tensorflow {
namespace {

TF_Output SwapBatchAndTime(GraphWriter& writer, TF_Output x) {
  return writer.Add("Transpose").In(x).In(writer.Integers({1, 0, 2})).Output();
}

TF_Output Zeros(GraphWriter& writer, const Dims& dims) {
  return writer.Add("Fill").In(writer.Integers(dims)).In(writer.Scalar(0.0f)).Output();
}

}  // namespace

LoweredLayer LowerEmbedding(const LayerSite& site) {
  GraphWriter& writer = site.writer;
  LoweredLayer layer;
  const Shape& out = site.output_shape();
  const TF_Output weight = site.Parameter(0, {{site.Rows(0), out[2]}, {}});
  layer.value = {
      writer.Add("GatherV2").In(weight).In(site.in(0)).In(writer.Scalar(int32_t{0})).Output(),
      {out, {}}};
  return layer;
}

LoweredLayer LowerLstm(const Lstm& op, const LayerSite& site) {
  GraphWriter& writer = site.writer;
  const int64_t batch = site.shape(0)[0], time = site.shape(0)[1], features = site.shape(0)[2],
                width = 4 * op.hidden;
  const TF_Output weight_input = site.Parameter(0, MakeLayout({width, features}, {1, 0}));
  const TF_Output weight_hidden = site.Parameter(1, MakeLayout({width, op.hidden}, {1, 0}));
  const TF_Output bias = site.Parameter(2, {{width}, {}});
  const std::vector<TF_Output> both{weight_input, weight_hidden};
  const TF_Output weights =
      writer.Add("ConcatV2", "weights").InList(both).In(writer.Scalar(int32_t{0})).Output();
  const TF_Output steps = writer.Add("Cast", "steps")
                              .In(writer.Scalar(static_cast<int32_t>(time)))
                              .Type("DstT", TF_INT64)
                              .Output();
  const TF_Output start = Zeros(writer, {batch, op.hidden}), peephole = Zeros(writer, {op.hidden});
  const TF_Output x = SwapBatchAndTime(writer, site.in(0));
  TF_Operation* cell = writer.Add("BlockLSTMV2")
                           .In(steps)
                           .In(x)
                           .In(start)
                           .In(start)
                           .In(weights)
                           .In(peephole)
                           .In(peephole)
                           .In(peephole)
                           .In(bias)
                           .Float("cell_clip", 0)
                           .Bool("use_peephole", false)
                           .Node();
  LoweredLayer layer;
  constexpr int kHidden = 6;
  layer.value = {SwapBatchAndTime(writer, {cell, kHidden}), {site.output_shape(), {}}};
  const bool to_input = site.NeedsGradient(0);
  layer.backward = [=, &writer](TF_Output dy) {
    constexpr int kCell = 1, kOutputs = 7, kWeights = 3, kBias = 7;
    NodeDraft node = writer.Add("BlockLSTMGradV2");
    node.In(steps).In(x).In(start).In(start).In(weights).In(peephole).In(peephole).In(peephole).In(
        bias);
    for (int i = 0; i < kOutputs; ++i) node.In({cell, i});
    node.In(writer.Add("ZerosLike").In({cell, kCell}).Output())
        .In(SwapBatchAndTime(writer, dy))
        .Bool("use_peephole", false);
    TF_Operation* gradient = node.Node();
    const auto rows = [&](int64_t first, int64_t count) {
      return writer.Add("Slice")
          .In({gradient, kWeights})
          .In(writer.Integers({first, 0}))
          .In(writer.Integers({count, width}))
          .Output();
    };
    LayerGradients gradients;
    gradients.inputs = {to_input ? SwapBatchAndTime(writer, {gradient, 0}) : TF_Output{nullptr, 0}};
    gradients.parameters = {rows(0, features), rows(features, op.hidden), {gradient, kBias}};
    return gradients;
  };
  return layer;
}

// Per sample a product of (1, T) by (T, F), whose row is 1 / length for the steps that count.
LoweredLayer LowerMeanOverTime(const LayerSite& site) {
  GraphWriter& writer = site.writer;
  const Shape& in = site.shape(0);
  std::vector<int32_t> numbers(static_cast<size_t>(in[1]));
  for (size_t t = 0; t < numbers.size(); ++t) numbers[t] = static_cast<int32_t>(t);
  const TF_Output time = writer.Constant(std::span<const int32_t>(numbers), {1, in[1]});
  const TF_Output lengths =
      writer.Add("Reshape", "lengths").In(site.in(1)).In(writer.Integers({in[0], 1})).Output();
  const TF_Output counted = writer.Add("Cast", "counted")
                                .In(writer.Add("Less").In(time).In(lengths).Output())
                                .Type("DstT", TF_FLOAT)
                                .Output();
  const TF_Output divisor =
      writer.Add("Cast", "divisor").In(lengths).Type("DstT", TF_FLOAT).Output();
  const TF_Output shares = writer.Add("RealDiv").In(counted).In(divisor).Output();
  const TF_Output rows =
      writer.Add("Reshape", "rows").In(shares).In(writer.Integers({in[0], 1, in[1]})).Output();
  const TF_Output mean = writer.Add("BatchMatMulV2").In(rows).In(site.in(0)).Output();
  LoweredLayer layer;
  layer.value = {writer.Add("Reshape").In(mean).In(writer.Integers(site.output_shape())).Output(),
                 {site.output_shape(), {}}};
  const Shape& shape = site.output_shape();
  layer.backward = [=, &writer](TF_Output dy) {
    const TF_Output row =
        writer.Add("Reshape").In(dy).In(writer.Integers({shape[0], 1, shape[1]})).Output();
    return LayerGradients{
        {writer.Add("BatchMatMulV2").In(rows).In(row).Bool("adj_x", true).Output(), {nullptr, 0}},
        {}};
  };
  return layer;
}

}  // namespace tench::tensorflow
