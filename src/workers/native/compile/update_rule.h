// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parts of a solver that the update kernels need, for one parameter. Pure functions.

#include "net/graph.h"
#include "net/solver.h"
#include "workers/native/kernels/optimizer.h"
#include "workers/native/kernels/sgd.h"

namespace tench::native {

UpdateRule RuleOf(const Solver& solver, const Parameter& parameter);
OptimizerRule OptimizerRuleOf(const Solver& solver, const Parameter& parameter);

}  // namespace tench::native
