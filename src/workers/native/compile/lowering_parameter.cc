// SPDX-License-Identifier: Apache-2.0
// Lowering's parameters: their buffers, their gradients and their update steps.
#include <cmath>

#include "workers/native/compile/lowering.h"
#include "workers/native/compile/update_rule.h"
#include "workers/native/kernels/optimizer.h"
#include "workers/native/kernels/sgd.h"

namespace tench::native {

Tensor Lowering::DeclareParameter(size_t layer, size_t index, const Md& plain, const Md& md) {
  ParameterPlace& place = parameters_[ParameterIndex(layer, index)];
  place.plain = plain;
  place.value = NewTensor(md, Place::kPersistent);
  if (updates() && graph.parameters[ParameterIndex(layer, index)].trained) {
    place.momentum = NewTensor(md, Place::kPersistent);
    if (HasSecondHistory(options.solver.type)) place.momentum2 = NewTensor(md, Place::kPersistent);
  }
  return place.value;
}

Tensor Lowering::NewGradient(size_t layer, size_t index, const Md& md) {
  // In phase gradient the gradients are the result of a step, so that all of them outlive it.
  const bool outlives = options.observe || options.phase == Phase::kGradient;
  const Tensor gradient = NewTensor(md, outlives ? Place::kPersistent : Place::kArena);
  parameters_[ParameterIndex(layer, index)].gradient = gradient;
  return gradient;
}

void Lowering::Update(size_t layer, size_t index, const Tensor& gradient) {
  if (!updates()) return;
  const size_t parameter = ParameterIndex(layer, index);
  const Tensor in_layout = Accumulated(
      layer, InLayout(layer, Direction::kUpdate, gradient, parameters_[parameter].value.md));
  if (options.solver.clip_gradients > 0) {
    pending_.emplace_back(parameter, in_layout);
  } else {
    AddUpdate(parameter, in_layout);
  }
}

// The sum of the gradients of a step's batches; with one batch, the gradient itself.
Tensor Lowering::Accumulated(size_t layer, const Tensor& gradient) {
  if (options.solver.iter_size == 1) return gradient;
  const Tensor sum = NewTensor(gradient.md, Place::kPersistent);
  const auto count = static_cast<int64_t>(gradient.md.get_size() / sizeof(float));
  AddKernel(
      layer, Direction::kUpdate, "accumulate", {sum, gradient},
      [count](std::span<float* const> p, RunState& state) {
        Accumulate(p[0], p[1], count, !state.first_batch);
      },
      count);
  return sum;
}

void Lowering::AddUpdate(size_t parameter, const Tensor& gradient) {
  const ParameterPlace& place = parameters_[parameter];
  const UpdateRule rule = RuleOf(options.solver, graph.parameters[parameter]);
  const auto count = static_cast<int64_t>(place.value.md.get_size() / sizeof(float));
  const size_t layer = graph.parameters[parameter].layer;
  if (PlainSgd()) {
    AddKernel(
        layer, Direction::kUpdate, "sgd", {place.value, place.momentum, gradient},
        [rule, count](std::span<float* const> p, RunState& state) {
          SgdUpdate(p[0], p[1], p[2], count, rule, state.lr);
        },
        4 * count);
    return;
  }
  std::vector<Tensor> tensors = {place.value, gradient, place.momentum};
  if (place.momentum2) tensors.push_back(place.momentum2);
  AddKernel(
      layer, Direction::kUpdate, std::string(Name(options.solver.type)), tensors,
      [count, optimizer = OptimizerRuleOf(options.solver, graph.parameters[parameter]),
       batches = static_cast<double>(options.solver.iter_size)](std::span<float* const> p,
                                                                RunState& state) {
        if (!state.last_batch) return;
        const OptimizerTensors blocks{p[0], p[1], p[2], p.size() > 3 ? p[3] : nullptr, count};
        OptimizerUpdate(blocks, optimizer, {state.lr, state.clip_scale / batches, state.updates});
      },
      8 * count);
}

void Lowering::AddClippedUpdates() {
  std::vector<Tensor> counted;
  std::vector<int64_t> counts;
  for (const auto& [parameter, gradient] : pending_) {
    if (graph.parameters[parameter].lr_mult == 0) continue;
    counted.push_back(gradient);
    counts.push_back(static_cast<int64_t>(gradient.md.get_size() / sizeof(float)));
  }
  if (pending_.empty()) return;
  AddKernel(
      graph.layers.size() - 1, Direction::kUpdate, "clip", counted,
      [counts, limit = options.solver.clip_gradients](std::span<float* const> p, RunState& state) {
        if (!state.last_batch) return;
        double squares = 0;
        for (size_t i = 0; i < p.size(); ++i) squares += SquaredNorm(p[i], counts[i]);
        const double norm = std::sqrt(squares);
        state.clip_scale = norm > limit ? limit / norm : 1;
      });
  for (const auto& [parameter, gradient] : pending_) AddUpdate(parameter, gradient);
}

}  // namespace tench::native
