// SPDX-License-Identifier: Apache-2.0
#include "workers/native/kernels/pointwise.h"

#include <algorithm>
#include <cmath>

#include "net/fill.h"
#include "workers/native/kernels/parallel.h"

namespace tench::native {
namespace {

constexpr int64_t kSegment = 2048;     // elements whose sum stays in the L1 cache
constexpr int64_t kGrain = 16 * 1024;  // elements per thread below which waking one costs more

[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] void AddSegments(
    float* target, const float* a, const float* b, int64_t count) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) target[i] = a[i] + b[i];
}

[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] void Derive(
    float* target, const float* gradient, const float* y, int64_t count, Activation activation) {
  if (activation == Activation::kRelu) {
#pragma GCC ivdep
    for (int64_t i = 0; i < count; ++i) target[i] = y[i] > 0 ? gradient[i] : 0.0f;
  } else if (activation == Activation::kSigmoid) {
#pragma GCC ivdep
    for (int64_t i = 0; i < count; ++i) target[i] = gradient[i] * y[i] * (1 - y[i]);
  } else {
#pragma GCC ivdep
    for (int64_t i = 0; i < count; ++i) target[i] = gradient[i] * (1 - y[i] * y[i]);
  }
}

[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] void Activate(
    float* y, int64_t count, Activation activation) {
  if (activation == Activation::kRelu) {
    for (int64_t i = 0; i < count; ++i) y[i] = y[i] > 0 ? y[i] : 0.0f;
  } else if (activation == Activation::kSigmoid) {
    for (int64_t i = 0; i < count; ++i) y[i] = 1 / (1 + std::exp(-y[i]));
  } else if (activation == Activation::kTanh) {
    for (int64_t i = 0; i < count; ++i) y[i] = std::tanh(y[i]);
  }
}

// Calls work(row, begin, length) for every segment of every row.
template <class Work>
void ForEachSegment(const Rows& rows, const Work& work) {
  const int64_t per_row = (rows.length + kSegment - 1) / kSegment;
  const int64_t usual = std::min(rows.length, kSegment);
  ParallelFor(rows.count * per_row, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, usual)),
              [&](int64_t first, int64_t last) {
                for (int64_t i = first; i < last; ++i) {
                  const int64_t begin = i % per_row * kSegment;
                  work(i / per_row, begin, std::min(kSegment, rows.length - begin));
                }
              });
}

const float* At(const RowPointer& source, int64_t row, int64_t begin) {
  return source.data + row * source.rows.stride + begin;
}

void SumSegment(float* target, std::span<const RowPointer> sources, int64_t row, int64_t begin,
                int64_t length) {
  const float* first = At(sources[0], row, begin);
  if (sources.size() == 1) {
    if (first != target) std::copy_n(first, length, target);
    return;
  }
  AddSegments(target, first, At(sources[1], row, begin), length);
  for (size_t i = 2; i < sources.size(); ++i)
    AddSegments(target, target, At(sources[i], row, begin), length);
}

}  // namespace

void SumGradients(float* target, const Rows& rows, std::span<const RowPointer> sources,
                  const RowPointer& activated, Activation activation) {
  ForEachSegment(rows, [&](int64_t row, int64_t begin, int64_t length) {
    float* out = target + row * rows.stride + begin;
    if (activation != Activation::kNone && sources.size() == 1) {
      Derive(out, At(sources[0], row, begin), At(activated, row, begin), length, activation);
      return;
    }
    SumSegment(out, sources, row, begin, length);
    if (activation != Activation::kNone)
      Derive(out, out, At(activated, row, begin), length, activation);
  });
}

void SumActivate(float* target, const Rows& rows, std::span<const RowPointer> sources,
                 Activation activation) {
  ForEachSegment(rows, [&](int64_t row, int64_t begin, int64_t length) {
    float* out = target + row * rows.stride + begin;
    SumSegment(out, sources, row, begin, length);
    Activate(out, length, activation);
  });
}

namespace {

[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] void AddBiasBlock(
    float* y, const float* bias, int64_t inner, int64_t block, bool relu) {
  if (block == 8) {
    for (int64_t i = 0; i < inner; ++i) {
      for (int64_t c = 0; c < 8; ++c) {
        const float sum = y[i * 8 + c] + bias[c];
        y[i * 8 + c] = relu && !(sum > 0) ? 0.0f : sum;
      }
    }
    return;
  }
  for (int64_t i = 0; i < inner; ++i) {
    for (int64_t c = 0; c < block; ++c) {
      const float sum = y[i * block + c] + bias[c];
      y[i * block + c] = relu && !(sum > 0) ? 0.0f : sum;
    }
  }
}

}  // namespace

void AddBias(float* y, const float* bias, int64_t n, int64_t channels, int64_t inner, int64_t block,
             Activation activation) {
  const int64_t blocks = channels / block;
  ParallelFor(n * blocks, std::max<int64_t>(1, kGrain / (inner * block)),
              [&](int64_t first, int64_t last) {
                for (int64_t i = first; i < last; ++i) {
                  float* out = y + i * inner * block;
                  AddBiasBlock(out, bias + i % blocks * block, inner, block,
                               activation == Activation::kRelu);
                  if (activation != Activation::kRelu) Activate(out, inner * block, activation);
                }
              });
}

namespace {

// Batch norm of one channel block as an affine map of x − mean.
struct Line {
  float mean[16], scale[16], shift[16];
};

template <int64_t kBlock>
[[gnu::always_inline]] inline void NormAddPlane(const float* x, const Line& line,
                                                const float* other, bool relu, int64_t inner,
                                                float* y) {
  for (int64_t i = 0; i < inner; ++i) {
    for (int64_t c = 0; c < kBlock; ++c) {
      const int64_t at = i * kBlock + c;
      const float sum = (x[at] - line.mean[c]) * line.scale[c] + line.shift[c] + other[at];
      y[at] = relu && !(sum > 0) ? 0.0f : sum;
    }
  }
}

[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] void NormAddPlane(
    const float* x, const Line& line, const float* other, bool relu, int64_t inner, int64_t block,
    float* y) {
  block == 8 ? NormAddPlane<8>(x, line, other, relu, inner, y)
             : NormAddPlane<16>(x, line, other, relu, inner, y);
}

}  // namespace

void BatchNormAdd(const BlockedImages& images, const float* x, const NormVectors& norm,
                  const float* other, bool relu, float* y) {
  const int64_t plane = images.inner * images.block;
  ParallelFor(images.planes, std::max<int64_t>(1, kGrain / plane),
              [&](int64_t first, int64_t last) {
                for (int64_t i = first; i < last; ++i) {
                  const int64_t channel = i % images.channel_blocks * images.block;
                  Line line;
                  for (int64_t c = 0; c < images.block; ++c) {
                    line.mean[c] = norm.mean[channel + c];
                    line.scale[c] = (norm.scale == nullptr ? 1 : norm.scale[channel + c]) /
                                    std::sqrt(norm.variance[channel + c] + norm.eps);
                    line.shift[c] = norm.shift == nullptr ? 0 : norm.shift[channel + c];
                  }
                  NormAddPlane(x + i * plane, line, other + i * plane, relu, images.inner,
                               images.block, y + i * plane);
                }
              });
}

void DropoutForward(float* target, const float* source, uint8_t* kept, int64_t count,
                    const DropoutMask& mask) {
  const Generator random(
      mask.seed ^ (mask.step * 0x9E3779B97F4A7C15ull) ^ (mask.layer * 0xC2B2AE3D27D4EB4Full),
      "dropout");
  const auto limit = static_cast<uint32_t>(std::min(4294967295.0, mask.ratio * 4294967296.0));
  const float scale = static_cast<float>(1 / (1 - mask.ratio));
  ParallelFor((count + 1) / 2, kGrain / 8, [&](int64_t first, int64_t last) {
    for (int64_t pair = first; pair < last; ++pair) {
      const uint64_t bits = random.Bits(static_cast<uint64_t>(pair));
      for (int64_t i = 2 * pair; i < std::min(count, 2 * pair + 2); ++i) {
        kept[i] = static_cast<uint32_t>(i % 2 == 0 ? bits : bits >> 32) >= limit;
        target[i] = kept[i] ? source[i] * scale : 0.0f;
      }
    }
  });
}

void DropoutBackward(float* target, const float* source, const uint8_t* kept, int64_t count,
                     double ratio) {
  const float scale = static_cast<float>(1 / (1 - ratio));
  ParallelFor(count, kGrain, [&](int64_t first, int64_t last) {
#pragma GCC ivdep
    for (int64_t i = first; i < last; ++i) target[i] = kept[i] ? source[i] * scale : 0.0f;
  });
}

}  // namespace tench::native
