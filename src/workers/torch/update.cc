// SPDX-License-Identifier: Apache-2.0
#include "workers/torch/update.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/add.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>

namespace tench::pytorch {

Update::Update(const TypedGraph& graph, const std::vector<at::Tensor>& parameters, const Solver& solver, bool observe) : solver_(solver) {
  momenta_.resize(parameters.size());
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& rule = graph.parameters[i];
    if (!rule.trained) continue;
    auto group = std::find_if(groups_.begin(), groups_.end(), [&](const Group& g) {
      return g.lr_mult == rule.lr_mult && g.decay_mult == rule.decay_mult;
    });
    if (group == groups_.end()) group = groups_.insert(group, {rule.lr_mult, rule.decay_mult, {}, {}, {}});
    group->parameters.push_back(parameters[i]);
    if (solver.momentum == 0 && !observe) continue;
    // Detached, so that a buffer has the parameter's layout but no gradient of its own.
    momenta_[i] = at::zeros_like(parameters[i].detach());
    group->momenta.push_back(momenta_[i]);
  }
}

void Update::Clear() {
  for (const at::Tensor& momentum : momenta_)
    if (momentum.defined()) momentum.zero_();
}

void Update::GatherGradients(Group& group) {
  group.gradients.clear();
  for (const at::Tensor& parameter : group.parameters) {
    // A parameter that no loss depends on still decays.
    group.gradients.push_back(parameter.grad().defined() ? parameter.grad() : at::zeros_like(parameter.detach()));
  }
}

void Update::Apply() {
  const at::NoGradGuard no_grad;
  for (Group& group : groups_) {
    GatherGradients(group);
    Apply(group);
    group.gradients.clear();
  }
}

void Update::Apply(Group& group) {
  const double rate = solver_.lr * group.lr_mult, decay = solver_.weight_decay * group.decay_mult;
  if (solver_.momentum != 0) {
    at::_fused_sgd_(group.parameters, group.gradients, group.momenta, decay, solver_.momentum, /*lr=*/1.0, /*dampening=*/1 - rate,
                    /*nesterov=*/false, /*maximize=*/false, /*is_first_step=*/false);
    return;
  }
  // PyTorch then has no buffer, and takes the rate as it is. What was subtracted is kept for who observes.
  for (size_t i = 0; i < group.momenta.size(); ++i)
    group.momenta[i].copy_(at::add(group.gradients[i], group.parameters[i], decay)).mul_(rate);
  at::_fused_sgd_(group.parameters, group.gradients, {}, decay, 0, rate, /*dampening=*/0, /*nesterov=*/false, /*maximize=*/false,
                  /*is_first_step=*/false);
}

}  // namespace tench::pytorch
