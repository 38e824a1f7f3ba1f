// SPDX-License-Identifier: Apache-2.0
#pragma once
// Stochastic gradient descent with momentum and L2 weight decay, in one pass over a parameter, its
// momentum and its gradient. The three are dense and share one layout; which one does not matter.
// The learning rate is part of the momentum, as in Caffe. The other optimizers are in optimizer.h.
//
// Thread safety: a call splits its range over the calling thread's OpenMP team. Concurrent calls
// must not share `weights` or `momenta`.

#include <cstdint>

namespace tench::native {

struct UpdateRule {
  double momentum = 0, lr_mult = 1;
  double decay = 0;  // the solver's weight decay times the parameter's multiplier
};

// An UpdateRule at one learning rate, rounded once to the precision of the update.
struct SgdRates {
  float momentum, rate, decay;
};
SgdRates RatesOf(const UpdateRule& rule, double lr);

// v = momentum·v + lr·lr_mult·(g + decay·w); w -= v
void SgdUpdate(float* weights, float* momenta, const float* gradients, int64_t count,
               const UpdateRule& rule, double lr);

}  // namespace tench::native
