// SPDX-License-Identifier: Apache-2.0
#include "workers/native/compile/update_rule.h"

namespace tench::native {
namespace {

OptimizerType TypeOf(SolverType type) {
  switch (type) {
    case SolverType::kSgd:
      break;
    case SolverType::kNesterov:
      return OptimizerType::kNesterov;
    case SolverType::kAdam:
      return OptimizerType::kAdam;
    case SolverType::kRmsprop:
      return OptimizerType::kRmsprop;
    case SolverType::kAdagrad:
      return OptimizerType::kAdagrad;
    case SolverType::kAdadelta:
      return OptimizerType::kAdadelta;
  }
  return OptimizerType::kSgd;
}

}  // namespace

UpdateRule RuleOf(const Solver& solver, const Parameter& parameter) {
  return {solver.momentum, parameter.lr_mult, solver.weight_decay * parameter.decay_mult};
}

OptimizerRule OptimizerRuleOf(const Solver& solver, const Parameter& parameter) {
  return {TypeOf(solver.type), RuleOf(solver, parameter),
          solver.momentum2,    solver.delta,
          solver.rms_decay,    solver.regularization == Regularization::kL1};
}

}  // namespace tench::native
