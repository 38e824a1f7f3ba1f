// SPDX-License-Identifier: Apache-2.0
#include "net/solver_name.h"

#include <algorithm>

namespace tench {

void SetOptimizer(const OptimizerName& name, Solver& solver) {
  const auto found = std::ranges::find(SolverTypeNames(), name.type);
  Check(found != SolverTypeNames().end(), "a parsed optimizer has no solver type");
  solver.type = static_cast<SolverType>(found - SolverTypeNames().begin());
  solver.momentum2 = name.momentum2;
  solver.rms_decay = name.rms_decay;
  solver.delta = name.delta;
  solver.clip_gradients = name.clip_gradients;
  solver.regularization = name.l1 ? Regularization::kL1 : Regularization::kL2;
}

OptimizerName OptimizerOf(const Solver& solver) {
  return {std::string(Name(solver.type)),
          solver.momentum2,
          solver.rms_decay,
          solver.delta,
          solver.clip_gradients,
          solver.regularization == Regularization::kL1};
}

}  // namespace tench
