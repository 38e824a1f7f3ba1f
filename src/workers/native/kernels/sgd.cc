// SPDX-License-Identifier: Apache-2.0
#include "workers/native/kernels/sgd.h"

#include "workers/native/kernels/parallel.h"

namespace tench::native {
namespace {

constexpr int64_t kGrain = 16 * 1024;

[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] void UpdateRange(
    float* w, float* m, const float* g, int64_t count, SgdRates rates) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    const float v = rates.momentum * m[i] + rates.rate * (g[i] + rates.decay * w[i]);
    m[i] = v;
    w[i] -= v;
  }
}

}  // namespace

SgdRates RatesOf(const UpdateRule& rule, double lr) {
  return {static_cast<float>(rule.momentum), static_cast<float>(lr * rule.lr_mult),
          static_cast<float>(rule.decay)};
}

void SgdUpdate(float* weights, float* momenta, const float* gradients, int64_t count,
               const UpdateRule& rule, double lr) {
  const SgdRates rates = RatesOf(rule, lr);
  ParallelFor(count, kGrain, [&](int64_t first, int64_t last) {
    UpdateRange(weights + first, momenta + first, gradients + first, last - first, rates);
  });
}

}  // namespace tench::native
