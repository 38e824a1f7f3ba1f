// SPDX-License-Identifier: Apache-2.0
#include "workers/native/lrn_kernel.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "workers/native/parallel.h"

namespace tench::native {
namespace {

constexpr int64_t kGrain = 4096;         // elements per thread
constexpr int64_t kLine = 2048;          // channels in one line, with a margin for the window on both sides
constexpr int64_t kLines = 4;

struct Window {
  int64_t channels, reach;               // reach: neighbours on each side
  float k, scale, beta;                  // scale: alpha / size
};

// s^-beta. The usual exponent needs square roots only.
[[gnu::always_inline]] inline float Power(float s, float beta) {
  if (beta == 0.75f) {
    const float root = std::sqrt(s);
    return 1.0f / (root * std::sqrt(root));
  }
  return std::pow(s, -beta);
}

// sums[c] = Σ line[c - reach … c + reach]; the line is zero in its margins.
[[gnu::always_inline]] inline void Slide(const float* line, float* sums, int64_t channels, int64_t reach) {
  if (reach == 2) {
    for (int64_t c = 0; c < channels; ++c) sums[c] = ((line[c - 2] + line[c + 2]) + (line[c - 1] + line[c + 1])) + line[c];
    return;
  }
  for (int64_t c = 0; c < channels; ++c) sums[c] = line[c];
  for (int64_t i = 1; i <= reach; ++i) {
    for (int64_t c = 0; c < channels; ++c) sums[c] += line[c - i] + line[c + i];
  }
}

[[gnu::target_clones("default", "arch=haswell", "arch=skylake-avx512")]]
void ForwardLine(const Window& window, const float* x, float* squares, float* sums, float* y) {
  for (int64_t c = 0; c < window.channels; ++c) squares[c] = x[c] * x[c];
  Slide(squares, sums, window.channels, window.reach);
  if (window.beta == 0.75f) {
    for (int64_t c = 0; c < window.channels; ++c) y[c] = x[c] * Power(window.k + window.scale * sums[c], 0.75f);
  } else {
    for (int64_t c = 0; c < window.channels; ++c) y[c] = x[c] * Power(window.k + window.scale * sums[c], window.beta);
  }
}

// dx = dy·s^-β - 2·scale·β·x·Σ dy·x·s^(-β-1)
[[gnu::target_clones("default", "arch=haswell", "arch=skylake-avx512")]]
void BackwardLine(const Window& window, const float* x, const float* dy, float* line, float* sums, float* dx) {
  for (int64_t c = 0; c < window.channels; ++c) line[c] = x[c] * x[c];
  Slide(line, sums, window.channels, window.reach);
  for (int64_t c = 0; c < window.channels; ++c) {
    const float s = window.k + window.scale * sums[c];
    const float power = window.beta == 0.75f ? Power(s, 0.75f) : Power(s, window.beta);
    line[c] = dy[c] * x[c] * power / s;
    dx[c] = dy[c] * power;
  }
  Slide(line, sums, window.channels, window.reach);
  const float factor = 2 * window.scale * window.beta;
  for (int64_t c = 0; c < window.channels; ++c) dx[c] -= factor * x[c] * sums[c];
}

void Gather(const LrnShape& shape, const float* pixel, float* line) {
  for (int64_t i = 0; i < shape.blocks; ++i) {
    for (int64_t c = 0; c < shape.block; ++c) line[i * shape.block + c] = pixel[i * shape.block_stride + c];
  }
}

void Scatter(const LrnShape& shape, const float* line, float* pixel) {
  for (int64_t i = 0; i < shape.blocks; ++i) {
    for (int64_t c = 0; c < shape.block; ++c) pixel[i * shape.block_stride + c] = line[i * shape.block + c];
  }
}

Window WindowOf(const LrnShape& shape, const Lrn& op) {
  return {shape.blocks * shape.block, op.size / 2, static_cast<float>(op.k), static_cast<float>(op.alpha / static_cast<double>(op.size)),
          static_cast<float>(op.beta)};
}

// Calls work(offset of the pixel, lines) for every pixel; each of the kLines lines has its margins zeroed.
template <class Work>
void ForEachPixel(const LrnShape& shape, const Window& window, const Work& work) {
  const int64_t line_size = window.channels + 2 * window.reach;
  ParallelFor(shape.images * shape.pixels, std::max<int64_t>(1, kGrain / window.channels), [&](int64_t first, int64_t last) {
    float stack[kLines][kLine];
    std::vector<float> heap(line_size > kLine ? kLines * line_size : 0);   // only for more channels than any network has
    float* lines[kLines];
    for (int64_t i = 0; i < kLines; ++i) {
      float* begin = heap.empty() ? stack[i] : heap.data() + i * line_size;
      std::fill_n(begin, line_size, 0.0f);
      lines[i] = begin + window.reach;
    }
    for (int64_t i = first; i < last; ++i) work(i / shape.pixels * shape.image_stride + i % shape.pixels * shape.pixel_stride, lines);
  });
}

}  // namespace

LrnShape LrnShapeOf(const Md& md) {
  const auto dims = md.get_padded_dims(), strides = md.get_strides();
  LrnShape shape;
  shape.images = dims[0];
  shape.pixels = dims[2] * dims[3];
  shape.image_stride = strides[0];
  shape.pixel_stride = strides[3];
  const bool blocked = md.get_inner_nblks() == 1;
  const bool channels_last = !blocked && strides[1] == 1;
  shape.block = blocked ? md.get_inner_blks()[0] : channels_last ? dims[1] : 1;
  shape.blocks = dims[1] / shape.block;
  shape.block_stride = channels_last ? 0 : strides[1];
  return shape;
}

void LrnForward(const LrnShape& shape, const Lrn& op, const float* x, float* y) {
  const Window window = WindowOf(shape, op);
  ForEachPixel(shape, window, [&](int64_t at, float* const* lines) {
    Gather(shape, x + at, lines[0]);
    ForwardLine(window, lines[0], lines[1], lines[2], lines[3]);
    Scatter(shape, lines[3], y + at);
  });
}

void LrnBackward(const LrnShape& shape, const Lrn& op, const float* x, const float* dy, float* dx) {
  const Window window = WindowOf(shape, op);
  ForEachPixel(shape, window, [&](int64_t at, float* const* lines) {
    Gather(shape, x + at, lines[0]);
    Gather(shape, dy + at, lines[1]);
    BackwardLine(window, lines[0], lines[1], lines[2], lines[3], lines[1]);
    Scatter(shape, lines[1], dx + at);
  });
}

}  // namespace tench::native
