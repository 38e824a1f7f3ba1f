// SPDX-License-Identifier: Apache-2.0
#pragma once
// Conversion between the axis value of an optimizer (axis/optimizer_name.h) and a Solver. The rate,
// the momentum, the weight decay and iter_size are not part of the name. Pure.

#include "axis/optimizer_name.h"
#include "net/solver.h"

namespace tench {

void SetOptimizer(const OptimizerName& name, Solver& solver);
OptimizerName OptimizerOf(const Solver& solver);

}  // namespace tench
