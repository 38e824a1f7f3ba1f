// SPDX-License-Identifier: Apache-2.0
#pragma once
// The optimizers, as Caffe defines them. With the gradient g, r = lr·lr_mult and
// d = g + weight_decay·decay_mult·w:
//   sgd        v = momentum·v + r·d; w = w - v
//   nesterov   u = momentum·v + r·d; w = w - ((1 + momentum)·u - momentum·v); v = u
//   adam       v = momentum·v + (1 - momentum)·d; s = momentum2·s + (1 - momentum2)·d²;
//              w = w - r·√(1 - momentum2^t) / (1 - momentum^t) · v / (√s + delta)
// v and s start at zero; they are the state NAME.momentum and NAME.momentum2. t counts updates from
// 1 since the parameters were set. The momentum of sgd and nesterov includes the learning rate, so
// a change of the rate does not rescale past updates. clip_gradients > 0 limits the global norm
// over all parameters whose lr_mult is not 0. If the norm is larger, each g is scaled by
// clip_gradients / norm before weight decay is added.

#include <string>
#include <string_view>
#include <vector>

namespace tench {

enum class SolverType { kSgd, kNesterov, kAdam };

struct Solver {
  double lr = 0.01;
  double momentum = 0.9;
  double weight_decay = 0.0005;
  SolverType type = SolverType::kSgd;
  double momentum2 = 0.999;   // adam only
  double delta = 1e-8;        // adam only
  double clip_gradients = 0;  // 0: no limit
  bool operator==(const Solver&) const = default;
};

// "sgd", "nesterov", "adam", in the order of the enum.
const std::vector<std::string>& SolverTypeNames();
std::string_view Name(SolverType type);
// The settings of a solver that no axis has: "sgd", "sgd clip_gradients=35", "adam momentum2=0.999
// delta=1e-08".
std::string SolverText(const Solver& solver);
// The abilities that a worker must list to run the solver: the type's name, and "clip_gradients" if
// it is used.
std::vector<std::string> SolverNeeds(const Solver& solver);
// All abilities that SolverNeeds can return.
std::vector<std::string> SolverAbilities();

}  // namespace tench
