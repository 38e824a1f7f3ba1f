// SPDX-License-Identifier: Apache-2.0
#include "workers/native/compile/op_lowering.h"
#include "workers/native/kernels/loss.h"

namespace tench::native {
namespace {

using LossKernel = std::function<double(float* const* inputs, float* gradient)>;

// The loss kernel computes the gradient of its scores in the same pass. There is no gradient in
// inference, or if no parameter precedes the loss.
void LowerLoss(Lowering& low, size_t layer, const std::string& name, LossKernel kernel) {
  const size_t scores = low.graph.layers[layer].inputs[0];
  const size_t loss = low.NewLoss();
  const Md md = PlainMd(low.OutputShape(scores));
  const Md target_md =
      PlainMd(low.InputOf(layer, 1).md.get_dims(), low.InputOf(layer, 1).md.get_data_type());
  const Tensor out = low.NewOutput(PlainMd({}));
  std::vector<Tensor> tensors = {low.InputAs(layer, 0, md), low.InputAs(layer, 1, target_md), out};
  if (low.WantsGradient(scores)) tensors.push_back(low.NewTensor(md));
  low.AddKernel(layer, Direction::kForward, name, tensors,
                [loss, kernel](std::span<float* const> p, RunState& state) {
                  state.losses[loss] = kernel(p.data(), p.size() > 3 ? p[3] : nullptr);
                  *p[2] = static_cast<float>(state.losses[loss]);
                });
  low.SetOutput(layer, out);
  if (tensors.size() < 4) return;
  low.OnBackward([&low, scores, gradient = tensors[3]] {
    low.Contribute(scores, {gradient, true});
  });
}

}  // namespace

void LowerSoftmaxLoss(Lowering& low, size_t layer, const SoftmaxCrossEntropy& op) {
  const int64_t batch = low.graph.batch, classes = low.InputShape(layer)[1];
  LowerLoss(low, layer, "softmax+cross entropy", [=](float* const* in, float* gradient) {
    return SoftmaxLoss(in[0], reinterpret_cast<const int32_t*>(in[1]), gradient, batch, classes,
                       op.loss_weight, op.ignore_label);
  });
}

void LowerSigmoidLoss(Lowering& low, size_t layer, const SigmoidCrossEntropy& op) {
  const int64_t batch = low.graph.batch, count = ElementCount(low.InputShape(layer));
  LowerLoss(low, layer, "sigmoid+cross entropy", [=](float* const* in, float* gradient) {
    return SigmoidLoss(in[0], in[1], gradient, batch, count, op.loss_weight);
  });
}

void LowerSquaredLoss(Lowering& low, size_t layer, const MeanSquaredError& op) {
  const int64_t count = ElementCount(low.InputShape(layer));
  LowerLoss(low, layer, "squared error", [=](float* const* in, float* gradient) {
    return SquaredLoss(in[0], in[1], gradient, count, op.loss_weight);
  });
}

}  // namespace tench::native
