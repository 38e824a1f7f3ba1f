// SPDX-License-Identifier: Apache-2.0
#pragma once
// The updates of net/solver.h beyond plain SGD, each in one pass over a parameter, its gradient and
// its momenta in whatever layout they share, and the norm by which gradients are clipped.

#include <cstdint>

#include "net/solver.h"
#include "workers/native/kernels/dense_backward_weights.h"

namespace tench::native {

struct SolverTensors {
  float* weights;
  const float* gradients;
  float* momenta;
  float* momenta2;  // Adam's; null otherwise
  int64_t count;
};
// What changes from step to step.
struct SolverStep {
  double lr = 0;
  double gradient_scale = 1;
  int64_t updates = 1;  // this one counted
};
void UpdateBySolver(const SolverTensors& tensors, const Solver& solver, const UpdateRule& rule,
                    const SolverStep& step);

// The sum of the squares, in double, in an order that does not depend on timing.
double SquaredNorm(const float* values, int64_t count);

}  // namespace tench::native
