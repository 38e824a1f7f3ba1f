// SPDX-License-Identifier: Apache-2.0
#include "workers/native/compile/op_lowering.h"
#include "workers/native/conv/conv_tuner.h"
#include "workers/native/conv/flipped_weights.h"
#include "workers/native/kernels/pointwise.h"

namespace tench::native {
namespace {

struct Conv {
  ConvShape shape;
  Tensor weights, bias;  // bias only if the op has one
};

// The operands of a direct kernel; bias may be absent.
struct DirectTensors {
  Tensor in, out, weights, bias;
};

void AddDirect(Lowering& low, size_t layer, Direction direction, const Conv& conv,
               const ConvCandidate& candidate, const DirectTensors& direct) {
  std::vector<Tensor> tensors = {direct.in, direct.out, direct.weights};
  const bool biased = static_cast<bool>(direct.bias), scratched = !candidate.scratchpad.is_zero();
  if (biased) tensors.push_back(direct.bias);
  if (scratched) tensors.push_back(low.NewTensor(candidate.scratchpad));
  low.AddKernel(
      layer, direction, candidate.implementation, std::move(tensors),
      [run = candidate.run, biased, scratched](std::span<float* const> p, RunState&) {
        run(p[0], p[1], p[2], biased ? p[3] : nullptr, scratched ? p.back() : nullptr);
      },
      conv.shape.Flops());
}

// The forward pass as the backward-data pass of the mirrored convolution on flipped weights. Bias
// and activation are a separate step.
void AddFlipped(Lowering& low, size_t layer, const Conv& conv, const ConvCandidate& candidate,
                const Tensor& in, const Tensor& out) {
  const Tensor flipped = low.NewTensor(candidate.weights);
  low.AddKernel(layer, Direction::kForward, "flip weights", {conv.weights, flipped},
                [md = conv.weights.md](std::span<float* const> p, RunState&) {
                  FlipWeights(md, p[0], p[1]);
                });
  low.AddPrimitive(layer, Direction::kForward, candidate.implementation, candidate.scratchpad,
                   candidate.make(),
                   {{DNNL_ARG_DIFF_DST, in}, {DNNL_ARG_WEIGHTS, flipped}, {DNNL_ARG_DIFF_SRC, out}},
                   conv.shape.Flops());
  const Activation activation = conv.shape.activation;
  if (!conv.bias && activation == Activation::kNone) return;
  const Tensor bias =
      conv.bias ? conv.bias
                : low.NewTensor(PlainMd({conv.shape.out[1]}), Place::kPersistent);  // zeros
  low.AddKernel(layer, Direction::kForward, "bias+activation", {out, bias},
                [o = conv.shape.out, block = ChannelBlock(), activation](std::span<float* const> p,
                                                                         RunState&) {
                  AddBias(p[0], p[1], o[0], o[1], o[2] * o[3], block, activation);
                });
}

void AddForward(Lowering& low, size_t layer, const Conv& conv, const ConvCandidate& candidate) {
  const Tensor in = low.InputAs(layer, 0, candidate.in);
  const Md out_md = ActivationMd(conv.shape.out);
  const Tensor out = candidate.out == out_md ? low.NewOutput(out_md) : low.NewTensor(candidate.out);
  if (candidate.flipped) {
    AddFlipped(low, layer, conv, candidate, in, out);
  } else {
    const Tensor weights =
        low.InLayout(layer, Direction::kForward, conv.weights, candidate.weights);
    if (candidate.run) {
      AddDirect(low, layer, Direction::kForward, conv, candidate, {in, out, weights, conv.bias});
    } else {
      std::vector<Argument> arguments = {
          {DNNL_ARG_SRC, in}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, out}};
      if (conv.bias) arguments.push_back({DNNL_ARG_BIAS, conv.bias});
      low.AddPrimitive(layer, Direction::kForward, candidate.implementation, candidate.scratchpad,
                       candidate.make(), std::move(arguments), conv.shape.Flops());
    }
  }
  if (out.md == out_md) {
    low.SetOutput(layer, out);
    return;
  }
  const Tensor reordered = low.NewOutput(out_md);
  low.AddReorder(layer, Direction::kForward, out, reordered);
  low.SetOutput(layer, reordered);
}

void AddBackwardData(Lowering& low, size_t layer, const Conv& conv, const Tensor& gradient) {
  const ConvCandidate candidate =
      low.tuner.Choose(conv.shape, ConvDirection::kBackwardData, conv.weights.md);
  low.Choose(low.graph.layers[layer].layer.name + ".backward_data",
             fmt::format("{} {}", candidate.id, candidate.implementation));
  const Tensor weights =
      low.InLayout(layer, Direction::kBackwardData, conv.weights, candidate.weights);
  const Tensor dy = low.InLayout(layer, Direction::kBackwardData, gradient, candidate.out);
  const Tensor dx = low.NewTensor(candidate.in);
  if (candidate.run) {
    AddDirect(low, layer, Direction::kBackwardData, conv, candidate, {dx, dy, weights, Tensor()});
  } else {
    low.AddPrimitive(
        layer, Direction::kBackwardData, candidate.implementation, candidate.scratchpad,
        candidate.make(),
        {{DNNL_ARG_DIFF_SRC, dx}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DIFF_DST, dy}},
        conv.shape.Flops());
  }
  low.ContributeToInput(layer, 0, {dx, true});
}

void AddBackwardWeights(Lowering& low, size_t layer, const Conv& conv,
                        const ConvCandidate& candidate, const Tensor& gradient) {
  const Tensor x = low.InputAs(layer, 0, candidate.in);
  const Tensor dy = low.InLayout(layer, Direction::kBackwardWeights, gradient, candidate.out);
  const Tensor dw = low.NewGradient(layer, 0, candidate.weights);
  Tensor db;
  if (conv.bias) db = low.NewGradient(layer, 1, candidate.bias);
  if (candidate.run) {
    AddDirect(low, layer, Direction::kBackwardWeights, conv, candidate, {x, dy, dw, db});
  } else {
    std::vector<Argument> arguments = {
        {DNNL_ARG_SRC, x}, {DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_DIFF_WEIGHTS, dw}};
    if (db) arguments.push_back({DNNL_ARG_DIFF_BIAS, db});
    low.AddPrimitive(layer, Direction::kBackwardWeights, candidate.implementation,
                     candidate.scratchpad, candidate.make(), std::move(arguments),
                     conv.shape.Flops());
  }
  low.Update(layer, 0, dw);
  if (conv.bias) low.Update(layer, 1, db);
}

}  // namespace

void LowerConvolution(Lowering& low, size_t layer, const Convolution& op) {
  const std::string& name = low.graph.layers[layer].layer.name;
  Conv conv{{low.graph.batch, low.InputShape(layer), low.OutputShape(layer), op,
             low.fusion.activation[layer], low.training},
            {},
            {}};
  // In training, weights are stored in the layout of their gradient, so the update needs no
  // reorder; in inference, in the layout of the forward candidate.
  ConvCandidate backward_weights, forward;
  if (low.training) {
    backward_weights = low.tuner.Choose(conv.shape, ConvDirection::kBackwardWeights, Md());
    conv.weights =
        low.DeclareParameter(layer, 0, conv.shape.PlainWeights(), backward_weights.weights);
    forward = low.tuner.Choose(conv.shape, ConvDirection::kForward, conv.weights.md);
    low.Choose(name + ".backward_weights",
               fmt::format("{} {}", backward_weights.id, backward_weights.implementation));
  } else {
    forward = low.tuner.Choose(conv.shape, ConvDirection::kForward, Md());
    conv.weights = low.DeclareParameter(layer, 0, conv.shape.PlainWeights(), forward.weights);
  }
  low.Choose(name + ".forward", fmt::format("{} {}", forward.id, forward.implementation));
  const Md bias_md = PlainMd({op.out_channels});
  if (op.bias) conv.bias = low.DeclareParameter(layer, 1, bias_md, bias_md);
  AddForward(low, layer, conv, forward);
  low.OnBackward([&low, layer, conv, backward_weights] {
    const Lowering::Gradient gradient = low.TakeGradient(layer);
    if (!gradient) return;
    // Backward-data first: it reads the weights before their update.
    if (low.WantsInputGradient(layer)) AddBackwardData(low, layer, conv, gradient.tensor);
    AddBackwardWeights(low, layer, conv, backward_weights, gradient.tensor);
  });
}

}  // namespace tench::native
