// SPDX-License-Identifier: Apache-2.0
#pragma once
// SGD, Nesterov and Adam, each in one pass over a parameter, its gradient and its moments, with
// gradient clipping; and the norm that clipping needs. All arrays are dense and share one layout.
// Plain SGD without clipping is in sgd.h. With d = gradient_scale·g + decay·w and r = lr·lr_mult:
//   sgd        v = momentum·v + r·d; w -= v
//   nesterov   u = momentum·v + r·d; w -= u + momentum·(u − v); v = u
//   adam       v = momentum·v + (1 − momentum)·d; s = momentum2·s + (1 − momentum2)·d²;
//              w -= r·√(1 − momentum2^t) / (1 − momentum^t) · v / (√s + delta), t = updates
//
// Thread safety: a call splits its range over the calling thread's OpenMP team. Concurrent calls
// must not share an array that one of them writes.

#include <cstdint>

#include "workers/native/kernels/sgd.h"

namespace tench::native {

enum class OptimizerType { kSgd, kNesterov, kAdam };

struct OptimizerRule {
  OptimizerType type = OptimizerType::kSgd;
  UpdateRule update;
  double momentum2 = 0, delta = 0;  // Adam only
};

struct OptimizerTensors {
  float* weights;
  const float* gradients;
  float* momenta;
  float* momenta2;  // Adam's second moment; null otherwise
  int64_t count;
};

// The values that change from step to step.
struct OptimizerStep {
  double lr = 0;
  double gradient_scale = 1;
  int64_t updates = 1;  // including this one
};

void OptimizerUpdate(const OptimizerTensors& tensors, const OptimizerRule& rule,
                     const OptimizerStep& step);

// The sum of squares, in double. The order of summation depends on the number of threads, never on
// timing.
double SquaredNorm(const float* values, int64_t count);

}  // namespace tench::native
