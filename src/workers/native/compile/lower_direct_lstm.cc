// SPDX-License-Identifier: Apache-2.0
// The LSTM as direct kernels, for CPUs on which oneDNN's RNN primitive is the GEMM-based reference
// implementation (AVX2).
#include "workers/native/compile/lower_direct_lstm.h"

#include "workers/native/conv/conv_tuner.h"
#include "workers/native/kernels/dense_backward_weights.h"
#include "workers/native/kernels/lstm.h"

namespace tench::native {
namespace {

constexpr size_t kWeightsInput = 0, kWeightsHidden = 1, kBias = 2;

struct DirectLstm {
  LstmShape shape;
  LstmSplit split;
  Tensor in, weights_input, weights_hidden, bias, gates, cells, out;
  int64_t flops = 0;  // forward
  DenseShape ForInput() const {
    return {shape.time * shape.batch, shape.features, 4 * shape.hidden};
  }
  // The initial state is zero, so the first time step contributes nothing.
  DenseShape ForHidden() const {
    return {(shape.time - 1) * shape.batch, shape.hidden, 4 * shape.hidden};
  }
};

void AddBackwardWeights(Lowering& low, size_t layer, size_t index, const DenseShape& shape,
                        const Tensor& x, const DirectLstm& lstm, int64_t skipped_rows) {
  const Tensor weights = low.PlaceOf(layer, index).value,
               scratch = low.NewTensor(PlainMd({DenseBackwardWeightsScratch(shape)}));
  const int64_t flops = 2 * shape.batch * shape.in * shape.out, skipped = skipped_rows * shape.out;
  const Tensor gradient = low.NewGradient(layer, index, weights.md);
  low.AddKernel(
      layer, Direction::kBackwardWeights, "gradient", {x, lstm.gates, scratch, gradient},
      [shape, skipped](std::span<float* const> p, RunState&) {
        DenseBackwardWeights(shape, p[0], p[1] + skipped, p[2], p[3]);
      },
      flops);
  low.Update(layer, index, gradient);
}

void AddBackward(Lowering& low, size_t layer, const DirectLstm& lstm) {
  const Lowering::Gradient gradient = low.TakeGradient(layer);
  if (!gradient) return;
  const LstmShape shape = lstm.shape;
  const bool wants_dx = low.WantsInputGradient(layer);
  const Tensor dy = low.InLayout(layer, Direction::kBackwardData, gradient.tensor, lstm.out.md),
               dx = low.NewTensor(lstm.in.md);
  low.AddKernel(
      layer, Direction::kBackwardData, "lstm",
      {lstm.weights_input, lstm.weights_hidden, lstm.cells, dy,
       low.NewTensor(PlainMd({LstmPanelFloats(shape)})),
       low.NewTensor(PlainMd({2 * shape.batch * shape.hidden})), lstm.gates, dx},
      [shape, split = lstm.split, wants_dx](std::span<float* const> p, RunState&) {
        RunLstmBackward(shape, split,
                        {p[0], p[1], p[2], p[3], p[4], p[5], p[6], wants_dx ? p[7] : nullptr});
      },
      lstm.flops);
  if (wants_dx) low.ContributeToInput(layer, 0, {dx, true});
  AddBackwardWeights(low, layer, kWeightsInput, lstm.ForInput(), lstm.in, lstm, 0);
  AddBackwardWeights(low, layer, kWeightsHidden, lstm.ForHidden(), lstm.out, lstm, shape.batch);
  const Tensor db = low.NewGradient(layer, kBias, lstm.bias.md);
  low.AddKernel(layer, Direction::kBackwardWeights, "bias gradient", {lstm.gates, db},
                [dense = lstm.ForInput()](std::span<float* const> p, RunState&) {
                  DenseBackwardBias(dense, p[0], p[1]);
                });
  low.Update(layer, kBias, db);
}

}  // namespace

std::optional<LstmSplit> ChooseDirectLstm(const Lowering& low, const LstmShape& shape) {
  if (low.tuner.forced() >= 0) {
    const int64_t variant = low.tuner.forced() % 3;
    return variant == 0 ? std::nullopt
                        : std::optional(variant == 1 ? LstmSplit::kSamples : LstmSplit::kUnits);
  }
  // oneDNN's AVX-512 implementation is faster; the direct kernels use vectors of eight.
  if (ChannelBlock() == 16) return std::nullopt;
  return ChooseLstmSplit(shape, low.options.threads);
}

void LowerDirectLstm(Lowering& low, size_t layer, const LstmShape& shape, LstmSplit split) {
  const Shape &in = low.InputShape(layer), &out = low.OutputShape(layer);
  DirectLstm lstm{
      shape, split,
      {},    {},
      {},    {},
      {},    {},
      {},    8 * shape.time * shape.batch * shape.hidden * (shape.features + shape.hidden)};
  const int64_t width = 4 * shape.hidden;
  const auto declare = [&](size_t index, const Md& md) {
    return low.DeclareParameter(layer, index, md, md);
  };
  lstm.in = low.InputAs(layer, 0, TimeMajorMd(in));
  lstm.weights_input = declare(kWeightsInput, PlainMd({width, shape.features}));
  lstm.weights_hidden = declare(kWeightsHidden, PlainMd({width, shape.hidden}));
  lstm.bias = declare(kBias, PlainMd({width}));
  lstm.gates = low.NewTensor(PlainMd({shape.time, shape.batch, width}));
  lstm.cells = low.NewTensor(PlainMd({shape.time, shape.batch, shape.hidden}));
  lstm.out = low.NewOutput(TimeMajorMd(out));
  low.Choose(low.graph.layers[layer].layer.name, split == LstmSplit::kSamples
                                                     ? "direct, parallel over samples"
                                                     : "direct, parallel over hidden units");
  low.AddKernel(
      layer, Direction::kForward, "lstm",
      {lstm.in, lstm.weights_input, lstm.weights_hidden, lstm.bias,
       low.NewTensor(PlainMd({LstmPanelFloats(shape)})), lstm.gates, lstm.cells, lstm.out},
      [shape, split](std::span<float* const> p, RunState&) {
        RunLstm(shape, split, {p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]});
      },
      lstm.flops);
  low.SetOutput(layer, lstm.out);
  low.OnBackward([&low, layer, lstm] { AddBackward(low, layer, lstm); });
}

}  // namespace tench::native
