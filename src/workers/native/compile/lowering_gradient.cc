// SPDX-License-Identifier: Apache-2.0
// Lowering's gradients: contributions to a layer's output gradient and their sum.
#include <algorithm>

#include "workers/native/compile/lowering.h"
#include "workers/native/kernels/pointwise.h"

namespace tench::native {

void Lowering::Contribute(size_t layer, Gradient gradient) {
  if (WantsGradient(layer)) values_[slot_[layer]].gradients.push_back(std::move(gradient));
}

Lowering::Gradient Lowering::TakeGradient(size_t layer) {
  Value& value = values_[slot_[layer]];
  std::vector<Gradient> gradients;
  gradients.swap(value.gradients);
  if (gradients.empty()) return {};
  const Activation activation = fusion.derivative[layer];
  if (activation != Activation::kNone) RecomputeIfNeeded(value);
  // LowerConcat may have replaced the output by a view into the concatenation: same values, other
  // strides.
  Tensor like = value.tensor;
  const bool regular =
      std::all_of(gradients.begin(), gradients.end(), [&](const Gradient& gradient) {
        return SameOrder(gradient.tensor.md, like.md) && RowsOf(gradient.tensor.md);
      });
  if (!regular || !RowsOf(like.md)) {
    const Md dense = DenseLike(like.md);
    if (activation == Activation::kNone) {
      like.md = dense;  // without a derivative only its layout matters
    } else {
      like = InLayout(layer, Direction::kBackwardData, like, dense);
    }
    for (Gradient& gradient : gradients) {
      if (gradient.tensor.md == dense) continue;
      gradient = {InLayout(layer, Direction::kBackwardData, gradient.tensor, dense), true};
    }
  }
  if (gradients.size() == 1 && activation == Activation::kNone && IsDense(gradients[0].tensor.md))
    return gradients[0];
  return Sum(layer, std::move(gradients), like, activation);
}

Lowering::Gradient Lowering::Sum(size_t layer, std::vector<Gradient> gradients, const Tensor& like,
                                 Activation activation) {
  const auto reusable = std::find_if(
      gradients.begin(), gradients.end(),
      [](const Gradient& gradient) { return gradient.exclusive && IsDense(gradient.tensor.md); });
  // SumGradients allows the target to alias its first source only.
  if (reusable != gradients.end()) std::swap(*gradients.begin(), *reusable);
  const bool in_place = gradients[0].exclusive && IsDense(gradients[0].tensor.md);
  const Md dense = DenseLike(like.md);
  const Tensor target = in_place ? gradients[0].tensor : NewTensor(dense);

  int64_t length = RowsOf(target.md)->length;
  std::vector<Tensor> tensors = {target};
  for (const Gradient& gradient : gradients) tensors.push_back(gradient.tensor);
  if (activation != Activation::kNone) tensors.push_back(like);
  for (const Tensor& tensor : tensors) length = std::min(length, RowsOf(tensor.md)->length);
  std::vector<Rows> rows;
  for (const Tensor& tensor : tensors) rows.push_back(CutRows(*RowsOf(tensor.md), length));

  const size_t count = gradients.size();
  std::vector<RowPointer> sources(count);
  AddKernel(layer, Direction::kBackwardData,
            activation == Activation::kNone ? "sum" : "sum+derivative", tensors,
            [rows, count, activation, sources](std::span<float* const> p, RunState&) mutable {
              for (size_t i = 0; i < count; ++i) sources[i] = {p[i + 1], rows[i + 1]};
              const RowPointer activated = activation == Activation::kNone
                                               ? RowPointer{}
                                               : RowPointer{p[count + 1], rows[count + 1]};
              SumGradients(p[0], rows[0], sources, activated, activation);
            });
  return {target, true};
}

Tensor Lowering::Reuse(const Gradient& gradient, const Md& md) {
  return gradient.exclusive && gradient.tensor.md == md ? gradient.tensor : NewTensor(md);
}

}  // namespace tench::native
