// SPDX-License-Identifier: Apache-2.0
#include "workers/native/kernels/elementwise.h"

#include <algorithm>
#include <cmath>

#include "workers/native/kernels/parallel.h"

namespace tench::native {
namespace {

constexpr int64_t kGrain = 16 * 1024;

[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] void AddScaled(
    float* y, const float* x, float factor, int64_t count) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) y[i] += factor * x[i];
}

[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] void SetScaled(
    float* y, const float* x, float factor, int64_t count) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) y[i] = factor * x[i];
}

[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] void TimesRange(
    float* y, const float* x, int64_t count) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) y[i] *= x[i];
}

// NaN propagates: a NaN replaces any number.
bool Replaces(float b, float a) { return b > a || b != b; }

}  // namespace

void WeightedSum(float* y, std::span<float* const> sources, std::span<const float> coefficients,
                 int64_t count) {
  ParallelFor(count, kGrain, [&](int64_t first, int64_t last) {
    SetScaled(y + first, sources[0] + first, coefficients[0], last - first);
    for (size_t k = 1; k < sources.size(); ++k)
      AddScaled(y + first, sources[k] + first, coefficients[k], last - first);
  });
}

void Scale(float* y, const float* x, float factor, int64_t count) {
  ParallelFor(count, kGrain, [&](int64_t first, int64_t last) {
    SetScaled(y + first, x + first, factor, last - first);
  });
}

void Product(float* y, std::span<float* const> sources, size_t left_out, int64_t count) {
  ParallelFor(count, kGrain, [&](int64_t first, int64_t last) {
    bool empty = true;
    for (size_t k = 0; k < sources.size(); ++k) {
      if (k == left_out) continue;
      if (empty) {
        std::copy(sources[k] + first, sources[k] + last, y + first);
      } else {
        TimesRange(y + first, sources[k] + first, last - first);
      }
      empty = false;
    }
    if (empty) std::fill(y + first, y + last, 1.0f);
  });
}

void MultiplyInPlace(float* y, const float* x, int64_t count) {
  ParallelFor(count, kGrain,
              [&](int64_t first, int64_t last) { TimesRange(y + first, x + first, last - first); });
}

void Max(float* y, std::span<float* const> sources, int64_t count) {
  ParallelFor(count, kGrain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      float best = sources[0][i];
      for (size_t k = 1; k < sources.size(); ++k)
        best = Replaces(sources[k][i], best) ? sources[k][i] : best;
      y[i] = best;
    }
  });
}

void MaxBackward(float* dx, const float* dy, std::span<float* const> sources, size_t which,
                 int64_t count) {
  ParallelFor(count, kGrain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      size_t best = 0;
      for (size_t k = 1; k < sources.size(); ++k)
        best = Replaces(sources[k][i], sources[best][i]) ? k : best;
      dx[i] = best == which ? dy[i] : 0.0f;
    }
  });
}

void PowerForward(float* y, const float* x, const PowerParameters& op, int64_t count) {
  const auto power = static_cast<float>(op.power), scale = static_cast<float>(op.scale),
             shift = static_cast<float>(op.shift);
  ParallelFor(count, kGrain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const float base = shift + scale * x[i];
      y[i] = power == 1 ? base : power == 2 ? base * base : std::pow(base, power);
    }
  });
}

void PowerBackward(float* dx, const float* dy, const float* x, const PowerParameters& op,
                   int64_t count) {
  const auto power = static_cast<float>(op.power), scale = static_cast<float>(op.scale),
             shift = static_cast<float>(op.shift);
  const auto factor = static_cast<float>(op.power * op.scale);
  ParallelFor(count, kGrain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const float base = shift + scale * x[i];
      const float slope = power == 1 ? 1.0f : power == 2 ? base : std::pow(base, power - 1);
      dx[i] = factor == 0 ? 0.0f : dy[i] * factor * slope;
    }
  });
}

}  // namespace tench::native
