// SPDX-License-Identifier: Apache-2.0
#pragma once
// The update, as Caffe defines it. With g the gradient, r = lr·lr_mult and d = g +
// weight_decay·decay_mult·w:
//   sgd        v = momentum·v + r·d; w = w - v
//   nesterov   u = momentum·v + r·d; w = w - ((1 + momentum)·u - momentum·v); v = u
//   adam       v = momentum·v + (1 - momentum)·d; s = momentum2·s + (1 - momentum2)·d²;
//              w = w - r·√(1 - momentum2^t) / (1 - momentum^t) · v / (√s + delta), t counting
//              updates from 1 since the parameters were set
// v and s start at zero; they are the state NAME.momentum and NAME.momentum2. The learning rate is
// inside the momentum (of sgd and nesterov), so that a change of rate does not rescale what was
// learnt before it. clip_gradients above 0: if the norm of all gradients together, of the
// parameters whose lr_mult is not 0, is above it, then each g is first scaled by clip_gradients
// over that norm: before the decay is added.

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
// What a worker's update must be able to do: the type's word, and "clip_gradients" where that is
// on.
std::vector<std::string> SolverNeeds(const Solver& solver);
// Every word that SolverNeeds can give.
std::vector<std::string> SolverAbilities();

}  // namespace tench
