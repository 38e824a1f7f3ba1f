// SPDX-License-Identifier: Apache-2.0
#include "workers/native/compile/lowering.h"
#include "workers/native/conv/conv_tuner.h"
#include "workers/native/kernels/pointwise.h"

namespace tench::native {
namespace {

struct Conv {
  ConvShape shape;
  Tensor weights, bias;  // bias only if the op has one
};

// What a kernel of our own works on; there may be no bias.
struct OwnTensors {
  Tensor in, out, weights, bias;
};

void AddOwn(Lowering& low, size_t layer, Direction direction, const Conv& conv,
            const ConvCandidate& kernel, const OwnTensors& own) {
  std::vector<Tensor> tensors = {own.in, own.out, own.weights};
  const bool biased = static_cast<bool>(own.bias), scratched = !kernel.scratchpad.is_zero();
  if (biased) tensors.push_back(own.bias);
  if (scratched) tensors.push_back(low.NewTensor(kernel.scratchpad));
  low.AddKernel(
      layer, direction, kernel.implementation, std::move(tensors),
      [run = kernel.own, biased, scratched](std::span<float* const> p, RunState&) {
        run(p[0], p[1], p[2], biased ? p[3] : nullptr, scratched ? p.back() : nullptr);
      },
      conv.shape.Flops());
}

// The forward pass as the backward-data pass of another convolution, on turned weights; bias and
// activation come after it.
void AddFlipped(Lowering& low, size_t layer, const Conv& conv, const ConvCandidate& kernel,
                const Tensor& in, const Tensor& out) {
  const Tensor flipped = low.NewTensor(kernel.weights);
  low.AddKernel(layer, Direction::kForward, "flip weights", {conv.weights, flipped},
                [md = conv.weights.md](std::span<float* const> p, RunState&) {
                  FlipWeights(md, p[0], p[1]);
                });
  low.AddPrimitive(layer, Direction::kForward, kernel.implementation, kernel.scratchpad,
                   kernel.make(),
                   {{DNNL_ARG_DIFF_DST, in}, {DNNL_ARG_WEIGHTS, flipped}, {DNNL_ARG_DIFF_SRC, out}},
                   conv.shape.Flops());
  const Activation activation = conv.shape.activation;
  if (!conv.bias && activation == Activation::kNone) return;
  const Tensor bias =
      conv.bias ? conv.bias : low.NewTensor(PlainMd({conv.shape.out[1]}), Place::kPinned);  // zeros
  low.AddKernel(layer, Direction::kForward, "bias+activation", {out, bias},
                [o = conv.shape.out, block = ChannelBlock(), activation](std::span<float* const> p,
                                                                         RunState&) {
                  AddBias(p[0], p[1], o[0], o[1], o[2] * o[3], block, activation);
                });
}

void AddForward(Lowering& low, size_t layer, const Conv& conv, const ConvCandidate& kernel) {
  const Tensor in = low.InputAs(layer, 0, kernel.in);
  const Md home = HomeMd(conv.shape.out);
  const Tensor out = kernel.out == home ? low.NewOutput(home) : low.NewTensor(kernel.out);
  if (kernel.flipped) {
    AddFlipped(low, layer, conv, kernel, in, out);
  } else {
    const Tensor weights = low.InLayout(layer, Direction::kForward, conv.weights, kernel.weights);
    if (kernel.own) {
      AddOwn(low, layer, Direction::kForward, conv, kernel, {in, out, weights, conv.bias});
    } else {
      std::vector<Argument> arguments = {
          {DNNL_ARG_SRC, in}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, out}};
      if (conv.bias) arguments.push_back({DNNL_ARG_BIAS, conv.bias});
      low.AddPrimitive(layer, Direction::kForward, kernel.implementation, kernel.scratchpad,
                       kernel.make(), std::move(arguments), conv.shape.Flops());
    }
  }
  if (out.md == home) {
    low.SetOutput(layer, out);
    return;
  }
  const Tensor in_home = low.NewOutput(home);
  low.AddReorder(layer, Direction::kForward, out, in_home);
  low.SetOutput(layer, in_home);
}

void AddBackwardData(Lowering& low, size_t layer, const Conv& conv, const Tensor& gradient) {
  const ConvCandidate kernel =
      low.tuner.Choose(conv.shape, ConvDirection::kBackwardData, conv.weights.md);
  low.Choose(low.graph.layers[layer].layer.name + ".backward_data",
             fmt::format("{} {}", kernel.id, kernel.implementation));
  const Tensor weights =
      low.InLayout(layer, Direction::kBackwardData, conv.weights, kernel.weights);
  const Tensor dy = low.InLayout(layer, Direction::kBackwardData, gradient, kernel.out);
  const Tensor dx = low.NewTensor(kernel.in);
  if (kernel.own)
    AddOwn(low, layer, Direction::kBackwardData, conv, kernel, {dx, dy, weights, Tensor()});
  else
    low.AddPrimitive(
        layer, Direction::kBackwardData, kernel.implementation, kernel.scratchpad, kernel.make(),
        {{DNNL_ARG_DIFF_SRC, dx}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DIFF_DST, dy}},
        conv.shape.Flops());
  low.ContributeToInput(layer, 0, {dx, true});
}

void AddBackwardWeights(Lowering& low, size_t layer, const Conv& conv, const ConvCandidate& kernel,
                        const Tensor& gradient) {
  const Tensor x = low.InputAs(layer, 0, kernel.in);
  const Tensor dy = low.InLayout(layer, Direction::kBackwardWeights, gradient, kernel.out);
  const Tensor dw = low.NewGradient(layer, 0, kernel.weights);
  Tensor db;
  if (conv.bias) db = low.NewGradient(layer, 1, kernel.bias);
  if (kernel.own) {
    AddOwn(low, layer, Direction::kBackwardWeights, conv, kernel, {x, dy, dw, db});
  } else {
    std::vector<Argument> arguments = {
        {DNNL_ARG_SRC, x}, {DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_DIFF_WEIGHTS, dw}};
    if (db) arguments.push_back({DNNL_ARG_DIFF_BIAS, db});
    low.AddPrimitive(layer, Direction::kBackwardWeights, kernel.implementation, kernel.scratchpad,
                     kernel.make(), std::move(arguments), conv.shape.Flops());
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
  // While training, weights live in the layout in which their gradient comes; in inference in the
  // one that the forward pass wants.
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
    // The update comes last: the gradient of the data needs the weights as they were.
    if (low.WantsInputGradient(layer)) AddBackwardData(low, layer, conv, gradient.tensor);
    AddBackwardWeights(low, layer, conv, backward_weights, gradient.tensor);
  });
}

}  // namespace tench::native
