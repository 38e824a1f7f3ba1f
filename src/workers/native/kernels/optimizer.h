// SPDX-License-Identifier: Apache-2.0
#pragma once
// The solvers of net/solver.h, each in one pass over a parameter, its gradient and its moments,
// with gradient clipping; and the norm that clipping needs. All arrays are dense and share one
// layout. Plain SGD without clipping is in sgd.h. With d = gradient_scale·g + decay·w +
// l1_decay·sign(w) and r = lr·lr_mult:
//   sgd        v = momentum·v + r·d; w -= v
//   nesterov   u = momentum·v + r·d; w -= u + momentum·(u − v); v = u
//   adam       v = momentum·v + (1 − momentum)·d; s = momentum2·s + (1 − momentum2)·d²;
//              w -= r·√(1 − momentum2^t) / (1 − momentum^t) · v / (√s + delta), t = updates
//   rmsprop    v = rms_decay·v + (1 − rms_decay)·d²; w -= r·d / (√v + delta)
//   adagrad    v = v + d²; w -= r·d / (√v + delta)
//   adadelta   v = momentum·v + (1 − momentum)·d²; u = d·√((s + delta) / (v + delta));
//              s = momentum·s + (1 − momentum)·u²; w -= r·u
//
// Thread safety: a call splits its range over the calling thread's OpenMP team. Concurrent calls
// must not share an array that one of them writes.

#include <cstdint>

#include "workers/native/kernels/sgd.h"

namespace tench::native {

enum class OptimizerType { kSgd, kNesterov, kAdam, kRmsprop, kAdagrad, kAdadelta };

struct OptimizerRule {
  OptimizerType type = OptimizerType::kSgd;
  UpdateRule update;
  double momentum2 = 0;  // Adam only
  double delta = 0;      // not SGD and Nesterov
  double rms_decay = 0;  // RMSProp only
  bool l1 = false;       // update.decay is that of L1 regularization
};

struct OptimizerTensors {
  float* weights;
  const float* gradients;
  float* momenta;
  float* momenta2;  // s of Adam and AdaDelta; null otherwise
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

// sum = values, or sum += values if `add`.
void Accumulate(float* sum, const float* values, int64_t count, bool add);

// The sum of squares, in double. The order of summation depends on the number of threads, never on
// timing.
double SquaredNorm(const float* values, int64_t count);

}  // namespace tench::native
