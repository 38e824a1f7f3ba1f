// SPDX-License-Identifier: Apache-2.0
#pragma once
// The update of net/solver.h in one pass over a parameter, its momentum and its gradient, in
// whatever layout the three share; and for fully connected layers the gradient itself, computed
// tile by tile in registers and applied at once, so that it never exists in memory.

#include <cstdint>

#include "net/graph.h"
#include "net/solver.h"

namespace tench::native {

struct UpdateRule {
  double momentum = 0, lr_mult = 1, decay = 0;  // decay: the solver's times the parameter's
};
UpdateRule RuleOf(const Solver& solver, const Parameter& parameter);

// v = momentum·v + lr·lr_mult·(g + decay·w); w -= v
void UpdateParameter(float* weights, float* momenta, const float* gradients, int64_t count,
                     const UpdateRule& rule, double lr);

// The gradient of a weight (out, in) is G = dyᵀ·x with x (batch, in) and dy (batch, out).
struct DenseShape {
  int64_t batch = 0, in = 0, out = 0;
};
// Stores G. `scratch` has so many floats, for as many threads as OpenMP has when that is asked.
int64_t GradientScratchCount(const DenseShape& shape);
void DenseGradient(const DenseShape& shape, const float* x, const float* dy, float* scratch,
                   float* gradients);
// Applies G to the weights without storing it.
int64_t UpdateScratchCount(const DenseShape& shape);
void DenseUpdate(const DenseShape& shape, const float* x, const float* dy, float* scratch,
                 float* weights, float* momenta, const UpdateRule& rule, double lr);
// bias gradient: the sum over the batch of dy.
void DenseBiasGradient(const DenseShape& shape, const float* dy, float* gradients);

}  // namespace tench::native
