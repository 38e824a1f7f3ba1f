// SPDX-License-Identifier: Apache-2.0
#include "workers/native/kernels/sequence.h"

#include <algorithm>

#include "workers/native/kernels/parallel.h"

namespace tench::native {
namespace {

constexpr int64_t kGrain = 16 * 1024;

int64_t RowGrain(int64_t features) { return std::max<int64_t>(1, kGrain / features); }

[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] void AddRow(float* sum,
                                                                                  const float* row,
                                                                                  int64_t count) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) sum[i] += row[i];
}

[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] void ScaleRow(
    float* to, const float* from, float scale, int64_t count) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) to[i] = from[i] * scale;
}

[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] void DecayRows(
    float* w, float* m, int64_t count, float momentum, float rate_decay) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    const float v = momentum * m[i] + rate_decay * w[i];
    m[i] = v;
    w[i] -= v;
  }
}

// After DecayRows, m lacks only the term of the gradient.
[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] void AddGradient(
    float* w, float* m, const float* dy, int64_t count, float rate) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    m[i] += rate * dy[i];
    w[i] -= rate * dy[i];
  }
}

}  // namespace

void EmbeddingForward(const SequenceShape& shape, const int32_t* tokens, const float* table,
                      float* out) {
  ParallelFor(shape.time * shape.batch, RowGrain(shape.features), [&](int64_t first, int64_t last) {
    for (int64_t at = first; at < last; ++at) {
      const int64_t t = at / shape.batch, n = at % shape.batch;
      std::copy_n(table + int64_t{tokens[n * shape.time + t]} * shape.features, shape.features,
                  out + at * shape.features);
    }
  });
}

void SortTokens(const SequenceShape& shape, int64_t vocabulary, const int32_t* tokens,
                int32_t* starts, int32_t* places) {
  std::fill_n(starts, vocabulary + 1, 0);
  for (int64_t i = 0; i < shape.batch * shape.time; ++i) ++starts[tokens[i] + 1];
  for (int64_t row = 0; row < vocabulary; ++row) starts[row + 1] += starts[row];
  for (int64_t n = 0; n < shape.batch; ++n) {
    for (int64_t t = 0; t < shape.time; ++t)
      places[starts[tokens[n * shape.time + t]]++] = static_cast<int32_t>(t * shape.batch + n);
  }
  // The loop above moved each start to the end of its row, which is the start of the next.
  for (int64_t row = vocabulary; row > 0; --row) starts[row] = starts[row - 1];
  starts[0] = 0;
}

void EmbeddingBackwardWeights(const SequenceShape& shape, int64_t vocabulary, const int32_t* starts,
                              const int32_t* places, const float* dy, float* gradients) {
  ParallelFor(vocabulary, RowGrain(shape.features), [&](int64_t first, int64_t last) {
    std::fill_n(gradients + first * shape.features, (last - first) * shape.features, 0.0f);
    for (int64_t row = first; row < last; ++row) {
      for (int32_t i = starts[row]; i < starts[row + 1]; ++i) {
        AddRow(gradients + row * shape.features, dy + int64_t{places[i]} * shape.features,
               shape.features);
      }
    }
  });
}

void EmbeddingBackwardWeightsSgd(const SequenceShape& shape, int64_t vocabulary,
                                 const int32_t* starts, const int32_t* places, const float* dy,
                                 float* table, float* momenta, const UpdateRule& rule, double lr) {
  const auto momentum = static_cast<float>(rule.momentum),
             rate = static_cast<float>(lr * rule.lr_mult);
  const auto rate_decay = static_cast<float>(lr * rule.lr_mult * rule.decay);
  constexpr int64_t kRowBlock = 16;  // rows stay in L1 between the decay and the gradient
  ParallelFor(vocabulary, RowGrain(shape.features), [&](int64_t first, int64_t last) {
    for (int64_t begin = first; begin < last; begin += kRowBlock) {
      const int64_t end = std::min(last, begin + kRowBlock);
      DecayRows(table + begin * shape.features, momenta + begin * shape.features,
                (end - begin) * shape.features, momentum, rate_decay);
      for (int64_t row = begin; row < end; ++row) {
        for (int32_t i = starts[row]; i < starts[row + 1]; ++i) {
          AddGradient(table + row * shape.features, momenta + row * shape.features,
                      dy + int64_t{places[i]} * shape.features, shape.features, rate);
        }
      }
    }
  });
}

void MeanTimeForward(const SequenceShape& shape, const float* x, const int32_t* lengths, float* y) {
  ParallelFor(shape.batch, RowGrain(shape.features * shape.time), [&](int64_t first, int64_t last) {
    for (int64_t n = first; n < last; ++n) {
      float* sum = y + n * shape.features;
      std::fill_n(sum, shape.features, 0.0f);
      for (int64_t t = 0; t < lengths[n]; ++t)
        AddRow(sum, x + (t * shape.batch + n) * shape.features, shape.features);
      ScaleRow(sum, sum, 1.0f / static_cast<float>(lengths[n]), shape.features);
    }
  });
}

void MeanTimeBackward(const SequenceShape& shape, const float* dy, const int32_t* lengths,
                      float* dx) {
  ParallelFor(shape.time * shape.batch, RowGrain(shape.features), [&](int64_t first, int64_t last) {
    for (int64_t at = first; at < last; ++at) {
      const int64_t t = at / shape.batch, n = at % shape.batch;
      const float scale = t < lengths[n] ? 1.0f / static_cast<float>(lengths[n]) : 0.0f;
      ScaleRow(dx + at * shape.features, dy + n * shape.features, scale, shape.features);
    }
  });
}

}  // namespace tench::native
