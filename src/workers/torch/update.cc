// SPDX-License-Identifier: Apache-2.0
#include "workers/torch/update.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_addcdiv.h>
#include <ATen/ops/_foreach_addcmul.h>
#include <ATen/ops/_foreach_div.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/_foreach_sign.h>
#include <ATen/ops/_foreach_sqrt.h>
#include <ATen/ops/_fused_adagrad.h>
#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/add.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>

namespace tench::pytorch {

Update::Update(const TypedGraph& graph, const std::vector<at::Tensor>& parameters,
               const Solver& solver, bool observe)
    : solver_(solver) {
  momenta_.resize(parameters.size());
  momenta2_.resize(parameters.size());
  const bool plain = !UsesDelta(solver.type);  // keeps nothing without momentum
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& rule = graph.parameters[i];
    if (!rule.trained) continue;
    auto group = std::find_if(groups_.begin(), groups_.end(), [&](const Group& g) {
      return g.lr_mult == rule.lr_mult && g.decay_mult == rule.decay_mult;
    });
    if (group == groups_.end())
      group = groups_.insert(group, {rule.lr_mult, rule.decay_mult, {}, {}, {}, {}});
    group->parameters.push_back(parameters[i]);
    if (solver.momentum == 0 && plain && !observe) continue;
    // Detached, so that a buffer has the parameter's layout but no gradient of its own.
    momenta_[i] = at::zeros_like(parameters[i].detach());
    group->momenta.push_back(momenta_[i]);
    if (!HasSecondHistory(solver.type)) continue;
    momenta2_[i] = at::zeros_like(momenta_[i]);
    group->momenta2.push_back(momenta2_[i]);
  }
}

void Update::Clear() {
  updates_ = batches_ = 0;
  for (const auto* all : {&momenta_, &momenta2_})
    for (const at::Tensor& momentum : *all)
      if (momentum.defined()) momentum.zero_();
}

void Update::GatherGradients(Group& group) {
  group.gradients.clear();
  for (const at::Tensor& parameter : group.parameters) {
    // A parameter that no loss depends on still decays.
    group.gradients.push_back(parameter.grad().defined() ? parameter.grad()
                                                         : at::zeros_like(parameter.detach()));
  }
}

// As torch.nn.utils.clip_grad_norm_ does it, but into copies: the parameters keep their own
// gradients.
void Update::ClipGradients() {
  std::vector<at::Tensor> counted;
  for (const Group& group : groups_)
    if (group.lr_mult != 0)
      counted.insert(counted.end(), group.gradients.begin(), group.gradients.end());
  if (counted.empty()) return;
  const double norm =
      at::linalg_vector_norm(at::stack(at::_foreach_norm(counted, 2))).item<double>();
  if (!(norm > solver_.clip_gradients)) return;
  for (Group& group : groups_)
    group.gradients = at::_foreach_mul(group.gradients, solver_.clip_gradients / norm);
}

void Update::Apply() {
  const at::NoGradGuard no_grad;
  if (++batches_ < solver_.iter_size) return;
  batches_ = 0;
  ++updates_;
  for (Group& group : groups_) GatherGradients(group);
  if (solver_.clip_gradients > 0) ClipGradients();
  if (solver_.iter_size > 1) {
    for (Group& group : groups_)
      group.gradients =
          at::_foreach_mul(group.gradients, 1 / static_cast<double>(solver_.iter_size));
  }
  for (Group& group : groups_) {
    Apply(group);
    group.gradients.clear();
  }
}

void Update::Apply(Group& group) {
  const double rate = solver_.lr * group.lr_mult;
  double decay = solver_.weight_decay * group.decay_mult;
  const bool foreach =
      solver_.type == SolverType::kRmsprop || solver_.type == SolverType::kAdadelta;
  if (decay != 0 && solver_.regularization == Regularization::kL1) {
    group.gradients = at::_foreach_add(group.gradients, at::_foreach_sign(group.parameters), decay);
    decay = 0;
  } else if (decay != 0 && foreach) {
    group.gradients = at::_foreach_add(group.gradients, group.parameters, decay);
  }
  if (solver_.type == SolverType::kAdam) {
    ApplyAdam(group, rate, decay);
  } else if (solver_.type == SolverType::kAdagrad) {
    ApplyAdagrad(group, rate, decay);
  } else if (solver_.type == SolverType::kRmsprop) {
    ApplyRmsprop(group, rate);
  } else if (solver_.type == SolverType::kAdadelta) {
    ApplyAdadelta(group, rate);
  } else if (solver_.type == SolverType::kNesterov && solver_.momentum != 0) {
    at::_fused_sgd_(group.parameters, at::_foreach_mul(group.gradients, rate), group.momenta,
                    decay * rate, solver_.momentum, /*lr=*/1.0,
                    /*dampening=*/0, /*nesterov=*/true, /*maximize=*/false,
                    /*is_first_step=*/false);
  } else {
    ApplySgd(group, rate, decay);
  }
}

void Update::ApplySgd(Group& group, double rate, double decay) {
  if (solver_.momentum != 0) {
    at::_fused_sgd_(group.parameters, group.gradients, group.momenta, decay, solver_.momentum,
                    /*lr=*/1.0, /*dampening=*/1 - rate,
                    /*nesterov=*/false, /*maximize=*/false, /*is_first_step=*/false);
    return;
  }
  // Without momentum PyTorch has no buffer and applies the rate directly. An observing build keeps
  // the update in a buffer.
  for (size_t i = 0; i < group.momenta.size(); ++i)
    group.momenta[i].copy_(at::add(group.gradients[i], group.parameters[i], decay)).mul_(rate);
  at::_fused_sgd_(group.parameters, group.gradients, {}, decay, 0, rate, /*dampening=*/0,
                  /*nesterov=*/false, /*maximize=*/false,
                  /*is_first_step=*/false);
}

void Update::ApplyAdam(Group& group, double rate, double decay) {
  const double correction = 1 - std::pow(solver_.momentum2, static_cast<double>(updates_));
  const at::Tensor step = at::full({}, static_cast<double>(updates_),
                                   group.parameters[0].options().requires_grad(false));
  const std::vector<at::Tensor> steps(group.parameters.size(), step);
  at::_fused_adam_(group.parameters, group.gradients, group.momenta, group.momenta2, {}, steps,
                   rate, solver_.momentum, solver_.momentum2, decay,
                   solver_.delta / std::sqrt(correction), /*amsgrad=*/false, /*maximize=*/false);
}

void Update::ApplyAdagrad(Group& group, double rate, double decay) {
  const at::Tensor step = at::full({}, static_cast<double>(updates_),
                                   group.parameters[0].options().requires_grad(false));
  const std::vector<at::Tensor> steps(group.parameters.size(), step);
  at::_fused_adagrad_(group.parameters, group.gradients, group.momenta, steps, rate,
                      /*lr_decay=*/0, decay, solver_.delta, /*maximize=*/false);
}

void Update::ApplyRmsprop(Group& group, double rate) {
  at::_foreach_mul_(group.momenta, solver_.rms_decay);
  at::_foreach_addcmul_(group.momenta, group.gradients, group.gradients, 1 - solver_.rms_decay);
  const std::vector<at::Tensor> roots = at::_foreach_sqrt(group.momenta);
  at::_foreach_add_(roots, solver_.delta);
  at::_foreach_addcdiv_(group.parameters, group.gradients, roots, -rate);
}

void Update::ApplyAdadelta(Group& group, double rate) {
  const double rho = solver_.momentum;
  at::_foreach_mul_(group.momenta, rho);
  at::_foreach_addcmul_(group.momenta, group.gradients, group.gradients, 1 - rho);
  const std::vector<at::Tensor> roots = at::_foreach_add(group.momenta, solver_.delta),
                                steps = at::_foreach_add(group.momenta2, solver_.delta);
  at::_foreach_sqrt_(roots);
  at::_foreach_sqrt_(steps);
  at::_foreach_div_(steps, roots);
  at::_foreach_mul_(steps, group.gradients);
  at::_foreach_mul_(group.momenta2, rho);
  at::_foreach_addcmul_(group.momenta2, steps, steps, 1 - rho);
  at::_foreach_add_(group.parameters, steps, -rate);
}

}  // namespace tench::pytorch
