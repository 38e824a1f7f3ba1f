// SPDX-License-Identifier: Apache-2.0
// The LSTM with kernels of our own, for CPUs on which oneDNN's recurrent primitive is its plain
// form over GEMM.
#include "workers/native/compile/lower_lstm.h"

#include "workers/native/conv/conv_tuner.h"
#include "workers/native/kernels/dense_backward_weights.h"
#include "workers/native/kernels/lstm.h"

namespace tench::native {
namespace {

constexpr size_t kWeightsInput = 0, kWeightsHidden = 1, kBias = 2;

struct OwnLstm {
  LstmShape shape;
  LstmSplit split;
  Tensor in, weights_input, weights_hidden, bias, gates, cells, out;
  int64_t flops = 0;  // forward
  DenseShape ForInput() const {
    return {shape.time * shape.batch, shape.features, 4 * shape.hidden};
  }
  // The state before the first step is zero and adds nothing.
  DenseShape ForHidden() const {
    return {(shape.time - 1) * shape.batch, shape.hidden, 4 * shape.hidden};
  }
};

void AddWeightsGradient(Lowering& low, size_t layer, size_t index, const DenseShape& shape,
                        const Tensor& x, const OwnLstm& lstm, int64_t skipped_rows) {
  const Tensor weights = low.PlaceOf(layer, index).home,
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

void AddBackward(Lowering& low, size_t layer, const OwnLstm& lstm) {
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
  AddWeightsGradient(low, layer, kWeightsInput, lstm.ForInput(), lstm.in, lstm, 0);
  AddWeightsGradient(low, layer, kWeightsHidden, lstm.ForHidden(), lstm.out, lstm, shape.batch);
  const Tensor db = low.NewGradient(layer, kBias, lstm.bias.md);
  low.AddKernel(layer, Direction::kBackwardWeights, "bias gradient", {lstm.gates, db},
                [dense = lstm.ForInput()](std::span<float* const> p, RunState&) {
                  DenseBackwardBias(dense, p[0], p[1]);
                });
  low.Update(layer, kBias, db);
}

}  // namespace

std::optional<LstmSplit> ChooseOwnLstm(const Lowering& low, const LstmShape& shape) {
  if (low.tuner.forced() >= 0) {
    const int64_t way = low.tuner.forced() % 3;
    return way == 0 ? std::nullopt
                    : std::optional(way == 1 ? LstmSplit::kSamples : LstmSplit::kUnits);
  }
  // With wider vectors oneDNN has generated kernels for it; ours are written for vectors of eight.
  if (ChannelBlock() == 16) return std::nullopt;
  return ChooseLstmSplit(shape, low.options.threads);
}

void LowerOwnLstm(Lowering& low, size_t layer, const LstmShape& shape, LstmSplit split) {
  const Shape &in = low.InputShape(layer), &out = low.OutputShape(layer);
  const auto time_major = [](const Shape& s) {
    return Md(s, dnnl::memory::data_type::f32, dnnl::memory::format_tag::bac);
  };
  OwnLstm lstm{
      shape, split,
      {},    {},
      {},    {},
      {},    {},
      {},    8 * shape.time * shape.batch * shape.hidden * (shape.features + shape.hidden)};
  const int64_t width = 4 * shape.hidden;
  const auto declare = [&](size_t index, const Md& md) {
    return low.DeclareParameter(layer, index, md, md);
  };
  lstm.in = low.InputAs(layer, 0, time_major(in));
  lstm.weights_input = declare(kWeightsInput, PlainMd({width, shape.features}));
  lstm.weights_hidden = declare(kWeightsHidden, PlainMd({width, shape.hidden}));
  lstm.bias = declare(kBias, PlainMd({width}));
  lstm.gates = low.NewTensor(PlainMd({shape.time, shape.batch, width}));
  lstm.cells = low.NewTensor(PlainMd({shape.time, shape.batch, shape.hidden}));
  lstm.out = low.NewOutput(time_major(out));
  low.Choose(low.graph.layers[layer].layer.name, split == LstmSplit::kSamples
                                                     ? "own, samples divided over threads"
                                                     : "own, units divided over threads");
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
