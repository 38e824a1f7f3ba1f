// SPDX-License-Identifier: Apache-2.0
#include "workers/native/kernels/optimizer.h"

#include <algorithm>
#include <cmath>

#include "workers/native/kernels/parallel.h"
#include "workers/native/kernels/thread_sum.h"

namespace tench::native {
namespace {

constexpr int64_t kGrain = 16 * 1024;

struct Rates {
  float rate, decay, l1_decay, scale, momentum, momentum2, delta, rms_decay;
  // 1 − momentum, 1 − momentum2 and 1 − rms_decay, computed in double: the difference of floats
  // would suffer catastrophic cancellation.
  float one_minus_momentum, one_minus_momentum2, one_minus_rms_decay;

  [[gnu::always_inline]] float Decayed(float g, float w) const {
    const float sign = static_cast<float>(w > 0) - static_cast<float>(w < 0);
    return scale * g + decay * w + l1_decay * sign;
  }
};

[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] void SgdRange(
    float* w, const float* g, float* m, int64_t count, Rates rates) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    const float v = rates.momentum * m[i] + rates.rate * rates.Decayed(g[i], w[i]);
    m[i] = v;
    w[i] -= v;
  }
}

[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] void NesterovRange(
    float* w, const float* g, float* m, int64_t count, Rates rates) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    const float before = m[i];
    const float v = rates.momentum * before + rates.rate * rates.Decayed(g[i], w[i]);
    m[i] = v;
    w[i] -= v + rates.momentum * (v - before);
  }
}

[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] void AdamRange(
    float* w, const float* g, float* m, float* s, int64_t count, Rates rates) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    const float gradient = rates.Decayed(g[i], w[i]);
    const float mean = rates.momentum * m[i] + rates.one_minus_momentum * gradient,
                square = rates.momentum2 * s[i] + rates.one_minus_momentum2 * gradient * gradient;
    m[i] = mean;
    s[i] = square;
    w[i] -= rates.rate * mean / (std::sqrt(square) + rates.delta);
  }
}

[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] void RmspropRange(
    float* w, const float* g, float* m, int64_t count, Rates rates) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    const float gradient = rates.Decayed(g[i], w[i]);
    const float square = rates.rms_decay * m[i] + rates.one_minus_rms_decay * gradient * gradient;
    m[i] = square;
    w[i] -= rates.rate * gradient / (std::sqrt(square) + rates.delta);
  }
}

[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] void AdagradRange(
    float* w, const float* g, float* m, int64_t count, Rates rates) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    const float gradient = rates.Decayed(g[i], w[i]);
    const float square = m[i] + gradient * gradient;
    m[i] = square;
    w[i] -= rates.rate * gradient / (std::sqrt(square) + rates.delta);
  }
}

[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] void AdadeltaRange(
    float* w, const float* g, float* m, float* s, int64_t count, Rates rates) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    const float gradient = rates.Decayed(g[i], w[i]);
    const float square = rates.momentum * m[i] + rates.one_minus_momentum * gradient * gradient;
    const float step = gradient * std::sqrt((s[i] + rates.delta) / (square + rates.delta));
    m[i] = square;
    s[i] = rates.momentum * s[i] + rates.one_minus_momentum * step * step;
    w[i] -= rates.rate * step;
  }
}

[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] double SquaresOf(
    const float* values, int64_t count) {
  constexpr int64_t kLanes = 8;
  double lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int64_t k = 0; k < kLanes; ++k)
      lanes[k] += static_cast<double>(values[i + k]) * values[i + k];
  }
  double sum = 0;
  for (; i < count; ++i) sum += static_cast<double>(values[i]) * values[i];
  for (const double lane : lanes) sum += lane;
  return sum;
}

}  // namespace

void OptimizerUpdate(const OptimizerTensors& tensors, const OptimizerRule& rule,
                     const OptimizerStep& step) {
  double rate = step.lr * rule.update.lr_mult;
  if (rule.type == OptimizerType::kAdam) {
    rate *= std::sqrt(1 - std::pow(rule.momentum2, step.updates)) /
            (1 - std::pow(rule.update.momentum, step.updates));
  }
  const Rates rates{static_cast<float>(rate),
                    static_cast<float>(rule.l1 ? 0 : rule.update.decay),
                    static_cast<float>(rule.l1 ? rule.update.decay : 0),
                    static_cast<float>(step.gradient_scale),
                    static_cast<float>(rule.update.momentum),
                    static_cast<float>(rule.momentum2),
                    static_cast<float>(rule.delta),
                    static_cast<float>(rule.rms_decay),
                    static_cast<float>(1 - rule.update.momentum),
                    static_cast<float>(1 - rule.momentum2),
                    static_cast<float>(1 - rule.rms_decay)};
  ParallelFor(tensors.count, kGrain, [&](int64_t first, int64_t last) {
    float *w = tensors.weights + first, *m = tensors.momenta + first;
    const float* g = tensors.gradients + first;
    switch (rule.type) {
      case OptimizerType::kSgd:
        return SgdRange(w, g, m, last - first, rates);
      case OptimizerType::kNesterov:
        return NesterovRange(w, g, m, last - first, rates);
      case OptimizerType::kAdam:
        return AdamRange(w, g, m, tensors.momenta2 + first, last - first, rates);
      case OptimizerType::kRmsprop:
        return RmspropRange(w, g, m, last - first, rates);
      case OptimizerType::kAdagrad:
        return AdagradRange(w, g, m, last - first, rates);
      case OptimizerType::kAdadelta:
        return AdadeltaRange(w, g, m, tensors.momenta2 + first, last - first, rates);
    }
  });
}

void Accumulate(float* sum, const float* values, int64_t count, bool add) {
  ParallelFor(count, kGrain, [&](int64_t first, int64_t last) {
    if (!add) {
      std::copy(values + first, values + last, sum + first);
      return;
    }
    for (int64_t i = first; i < last; ++i) sum[i] += values[i];
  });
}

double SquaredNorm(const float* values, int64_t count) {
  ThreadSum sum;
  ParallelFor(count, kGrain, [&](int64_t first, int64_t last) {
    sum.Mine() += SquaresOf(values + first, last - first);
  });
  return sum.Total();
}

}  // namespace tench::native
