// SPDX-License-Identifier: Apache-2.0
#pragma once
// The optimizers, as Caffe defines them. With the gradient g, r = lr·lr_mult and
// d = g + weight_decay·decay_mult·w, or with L1 regularization d = g +
// weight_decay·decay_mult·sign(w), where sign(0) = 0:
//   sgd        v = momentum·v + r·d; w = w - v
//   nesterov   u = momentum·v + r·d; w = w - ((1 + momentum)·u - momentum·v); v = u
//   adam       v = momentum·v + (1 - momentum)·d; s = momentum2·s + (1 - momentum2)·d²;
//              w = w - r·√(1 - momentum2^t) / (1 - momentum^t) · v / (√s + delta)
//   rmsprop    v = rms_decay·v + (1 - rms_decay)·d²; w = w - r·d / (√v + delta)
//   adagrad    v = v + d²; w = w - r·d / (√v + delta)
//   adadelta   v = momentum·v + (1 - momentum)·d²; u = d·√((s + delta) / (v + delta));
//              s = momentum·s + (1 - momentum)·u²; w = w - r·u
// v and s start at zero; they are the state NAME.momentum and NAME.momentum2. rmsprop and adagrad
// do not use momentum. t counts updates from 1 since the parameters were set. The momentum of sgd
// and nesterov includes the learning rate, so a change of the rate does not rescale past updates.
// clip_gradients > 0 limits the global norm over all parameters whose lr_mult is not 0. If the norm
// is larger, each g is scaled by clip_gradients / norm before weight decay is added.
//
// With iter_size > 1 a step is iter_size batches and one update. g is the mean of their gradients,
// and the loss of the step the mean of their losses. As in Caffe, the norm of clip_gradients is
// that of the sum of the gradients, and the sum is scaled before it is divided by iter_size.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tench {

enum class SolverType { kSgd, kNesterov, kAdam, kRmsprop, kAdagrad, kAdadelta };
enum class Regularization { kL2, kL1 };

struct Solver {
  double lr = 0.01;
  double momentum = 0.9;
  double weight_decay = 0.0005;
  SolverType type = SolverType::kSgd;
  double momentum2 = 0.999;   // adam only
  double delta = 1e-8;        // not sgd and nesterov
  double clip_gradients = 0;  // 0: no limit
  double rms_decay = 0.99;    // rmsprop only
  Regularization regularization = Regularization::kL2;
  int64_t iter_size = 1;
  bool operator==(const Solver&) const = default;
};

// "sgd", "nesterov", "adam", "rmsprop", "adagrad", "adadelta", in the order of the enum.
const std::vector<std::string>& SolverTypeNames();
std::string_view Name(SolverType type);
// Whether the solver keeps NAME.momentum2 besides NAME.momentum.
bool HasSecondHistory(SolverType type);
// Whether the solver's momentum enters the update: not with rmsprop and adagrad.
bool UsesMomentum(SolverType type);
// Whether the update divides by a root plus delta.
bool UsesDelta(SolverType type);
// The settings of a solver that no axis has: "sgd", "sgd clip_gradients=35", "adam momentum2=0.999
// delta=1e-08".
std::string SolverText(const Solver& solver);
// The abilities that a worker must list to run the solver: the type's name, and "clip_gradients",
// "l1" and "iter_size" if they are used.
std::vector<std::string> SolverNeeds(const Solver& solver);
// All abilities that SolverNeeds can return.
std::vector<std::string> SolverAbilities();

}  // namespace tench
