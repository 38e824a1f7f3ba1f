// SPDX-License-Identifier: Apache-2.0
#include "workers/native/kernels/loss.h"

#include <algorithm>
#include <cmath>

#include "workers/native/kernels/exponential.h"
#include "workers/native/kernels/parallel.h"
#include "workers/native/kernels/thread_sum.h"

namespace tench::native {
namespace {

constexpr int64_t kGrain = 2048;  // elements per thread
constexpr int64_t kSegment = 64;  // factors of at most 2, whose product a float can hold

[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] double SoftmaxRow(
    const float* scores, int32_t label, float* gradient, int64_t classes, float scale) {
  float largest = scores[0];
  for (int64_t i = 1; i < classes; ++i) largest = scores[i] > largest ? scores[i] : largest;
  double sum = 0;
  constexpr int64_t kPart = 256;
  float part[kPart];
  for (int64_t begin = 0; begin < classes; begin += kPart) {
    const int64_t count = std::min(kPart, classes - begin);
    float* out = gradient != nullptr ? gradient + begin : part;
    for (int64_t i = 0; i < count; ++i) out[i] = Exponential(scores[begin + i] - largest);
    for (int64_t i = 0; i < count; ++i) sum += out[i];
  }
  if (gradient != nullptr) {
    const float share = static_cast<float>(scale / sum);
    for (int64_t i = 0; i < classes; ++i) gradient[i] *= share;
    gradient[label] -= scale;
  }
  const double loss = std::log(sum) - (static_cast<double>(scores[label]) - largest);
  return loss > 0 || std::isnan(loss) ? loss : 0.0;
}

// Σ log(1 + e^−|x|) is computed as the logarithm of a product: one logarithm per segment.
[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] double SigmoidSegment(
    const float* x, const float* t, float* gradient, int64_t count, float scale) {
  float factor[kSegment];
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    const float e = Exponential(-std::abs(x[i]));
    factor[i] = 1 + e;
    if (gradient != nullptr) gradient[i] = ((x[i] >= 0 ? 1.0f : e) / (1 + e) - t[i]) * scale;
  }
  float product = 1;
  for (int64_t i = 0; i < count; ++i) {
    product *= factor[i];
    sum += (x[i] > 0 ? x[i] : 0.0f) - x[i] * t[i];
  }
  // NaN propagates through `sum` even where the vectorised clamp of Exponential drops it.
  return std::isnan(sum) ? sum : sum + std::log(static_cast<double>(product));
}

}  // namespace

double SoftmaxLoss(const float* scores, const int32_t* labels, float* gradient, int64_t batch,
                   int64_t classes, double weight, std::optional<int64_t> ignored) {
  ThreadSum sums;
  const int64_t counted = batch - (ignored ? std::count(labels, labels + batch, *ignored) : 0);
  const double share = weight / static_cast<double>(std::max<int64_t>(counted, 1));
  const float scale = static_cast<float>(share);
  ParallelFor(batch, std::max<int64_t>(1, kGrain / classes), [&](int64_t first, int64_t last) {
    for (int64_t n = first; n < last; ++n) {
      float* row = gradient == nullptr ? nullptr : gradient + n * classes;
      if (labels[n] != ignored) {
        sums.Mine() += SoftmaxRow(scores + n * classes, labels[n], row, classes, scale);
      } else if (row != nullptr) {
        std::fill_n(row, classes, 0.0f);
      }
    }
  });
  return sums.Total() * share;
}

double SigmoidLoss(const float* scores, const float* targets, float* gradient, int64_t batch,
                   int64_t count, double weight) {
  ThreadSum sums;
  const float scale = static_cast<float>(weight / static_cast<double>(batch));
  ParallelFor((count + kSegment - 1) / kSegment, kGrain / kSegment,
              [&](int64_t first, int64_t last) {
                for (int64_t i = first; i < last; ++i) {
                  const int64_t at = i * kSegment;
                  sums.Mine() += SigmoidSegment(scores + at, targets + at,
                                                gradient == nullptr ? nullptr : gradient + at,
                                                std::min(kSegment, count - at), scale);
                }
              });
  return sums.Total() * weight / static_cast<double>(batch);
}

double SquaredLoss(const float* values, const float* targets, float* gradient, int64_t count,
                   double weight) {
  ThreadSum sums;
  const float scale = static_cast<float>(2 * weight / static_cast<double>(count));
  ParallelFor(count, kGrain, [&](int64_t first, int64_t last) {
    double sum = 0;
    for (int64_t i = first; i < last; ++i) {
      const float difference = values[i] - targets[i];
      sum += static_cast<double>(difference) * difference;
      if (gradient != nullptr) gradient[i] = difference * scale;
    }
    sums.Mine() += sum;
  });
  return sums.Total() * weight / static_cast<double>(count);
}

}  // namespace tench::native
