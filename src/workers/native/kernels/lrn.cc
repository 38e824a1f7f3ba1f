// SPDX-License-Identifier: Apache-2.0
#include "workers/native/kernels/lrn.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "workers/native/kernels/parallel.h"

namespace tench::native {
namespace {

// The channels of several pixels are gathered into one line in the L1 or L2 cache, separated by
// zeros as wide as the window's reach. One long loop then slides the window over all pixels, and
// its loads do not hit stores that are still in the store buffer.

constexpr int64_t kGrain = 4096;  // elements per thread
// Elements of a line: many pixels, so that channel blocks are read in long pieces. All kLines lines
// fit the L2 cache.
constexpr int64_t kLine = 8192;
constexpr int64_t kLines = 4;

struct Window {
  int64_t reach;         // neighbours on each side
  float k, scale, beta;  // scale: alpha / size
};

// s^−beta. The usual exponent, 3/4, needs square roots only.
[[gnu::always_inline]] inline float Power(float s, float beta) {
  if (beta == 0.75f) {
    const float root = std::sqrt(s);
    return 1.0f / (root * std::sqrt(root));
  }
  return std::pow(s, -beta);
}

// sums[i] = Σ line[i - reach … i + reach], except in the outer margins.
[[gnu::always_inline]] inline void Slide(const float* line, float* sums, int64_t length,
                                         int64_t reach) {
  if (reach == 2) {
#pragma GCC ivdep
    for (int64_t i = 2; i < length - 2; ++i)
      sums[i] = ((line[i - 2] + line[i + 2]) + (line[i - 1] + line[i + 1])) + line[i];
    return;
  }
  for (int64_t i = reach; i < length - reach; ++i) sums[i] = line[i];
  for (int64_t r = 1; r <= reach; ++r) {
#pragma GCC ivdep
    for (int64_t i = reach; i < length - reach; ++i) sums[i] += line[i - r] + line[i + r];
  }
}

[[gnu::always_inline]] inline void Normalize(Window window, float beta, const float* x,
                                             const float* sums, float* y, int64_t length) {
#pragma GCC ivdep
  for (int64_t i = 0; i < length; ++i) y[i] = x[i] * Power(window.k + window.scale * sums[i], beta);
}

[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] void ForwardLine(
    const Window& window, const float* x, float* squares, float* sums, float* y, int64_t length) {
  for (int64_t i = 0; i < length; ++i) squares[i] = x[i] * x[i];
  Slide(squares, sums, length, window.reach);
  if (window.beta == 0.75f) {
    Normalize(window, 0.75f, x, sums, y, length);
  } else {
    Normalize(window, window.beta, x, sums, y, length);
  }
}

// line = dy·x·s^(-β-1), dx = dy·s^-β; dy and dx may be the same.
[[gnu::always_inline]] inline void Spread(Window window, float beta, const float* x,
                                          const float* dy, const float* sums, float* line,
                                          float* dx, int64_t length) {
#pragma GCC ivdep
  for (int64_t i = 0; i < length; ++i) {
    const float s = window.k + window.scale * sums[i];
    const float scaled = dy[i] * Power(s, beta);
    line[i] = scaled * x[i] / s;
    dx[i] = scaled;
  }
}

// dx = dy·s^-β - 2·scale·β·x·Σ dy·x·s^(-β-1)
[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] void BackwardLine(
    const Window& window, const float* x, float* line, float* sums, float* dy_to_dx,
    int64_t length) {
  for (int64_t i = 0; i < length; ++i) line[i] = x[i] * x[i];
  Slide(line, sums, length, window.reach);
  if (window.beta == 0.75f) {
    Spread(window, 0.75f, x, dy_to_dx, sums, line, dy_to_dx, length);
  } else {
    Spread(window, window.beta, x, dy_to_dx, sums, line, dy_to_dx, length);
  }
  Slide(line, sums, length, window.reach);
  const float factor = 2 * window.scale * window.beta;
#pragma GCC ivdep
  for (int64_t i = 0; i < length; ++i) dy_to_dx[i] -= factor * x[i] * sums[i];
}

// Blocks of a constant size are copied by single vector loads and stores.
template <int64_t kBlock>
void GatherBlocks(const LrnShape& shape, const float* pixel, float* line) {
  for (int64_t i = 0; i < shape.blocks; ++i)
    std::copy_n(pixel + i * shape.block_stride, kBlock, line + i * kBlock);
}

template <int64_t kBlock>
void ScatterBlocks(const LrnShape& shape, const float* line, float* pixel) {
  for (int64_t i = 0; i < shape.blocks; ++i)
    std::copy_n(line + i * kBlock, kBlock, pixel + i * shape.block_stride);
}

void Gather(const LrnShape& shape, const float* pixel, float* line) {
  if (shape.block == 8) return GatherBlocks<8>(shape, pixel, line);
  if (shape.block == 16) return GatherBlocks<16>(shape, pixel, line);
  for (int64_t i = 0; i < shape.blocks; ++i)
    std::copy_n(pixel + i * shape.block_stride, shape.block, line + i * shape.block);
}

void Scatter(const LrnShape& shape, const float* line, float* pixel) {
  if (shape.block == 8) return ScatterBlocks<8>(shape, line, pixel);
  if (shape.block == 16) return ScatterBlocks<16>(shape, line, pixel);
  for (int64_t i = 0; i < shape.blocks; ++i)
    std::copy_n(line + i * shape.block, shape.block, pixel + i * shape.block_stride);
}

Window WindowOf(const LrnParameters& op) {
  return {op.size / 2, static_cast<float>(op.k),
          static_cast<float>(op.alpha / static_cast<double>(op.size)), static_cast<float>(op.beta)};
}

// Pixels [first, first + count) of all images. Pixel i begins at `Offset(i)` in memory and at
// `At(i)` in a line.
struct Tile {
  const LrnShape& shape;
  int64_t first, count, reach;

  int64_t Offset(int64_t i) const {
    return (first + i) / shape.pixels * shape.image_stride +
           (first + i) % shape.pixels * shape.pixel_stride;
  }
  int64_t At(int64_t i) const { return reach + i * (shape.blocks * shape.block + reach); }
  int64_t length() const { return At(count); }
  void Load(const float* image, float* line) const {
    for (int64_t i = 0; i < count; ++i) Gather(shape, image + Offset(i), line + At(i));
  }
  void Store(const float* line, float* image) const {
    for (int64_t i = 0; i < count; ++i) Scatter(shape, line + At(i), image + Offset(i));
  }
};

// Calls work(tile, lines) for all pixels. The margins of each line are zero, and work must keep
// those of the lines that it loads.
template <class Work>
void ForEachTile(const LrnShape& shape, int64_t reach, const Work& work) {
  const int64_t width = shape.blocks * shape.block + reach;
  const int64_t line_size = std::max(kLine, width + reach), per_tile = (line_size - reach) / width;
  ParallelFor(shape.images * shape.pixels, std::max<int64_t>(per_tile, kGrain / width),
              [&](int64_t first, int64_t last) {
                alignas(64) float stack[kLines][kLine];
                // Only if the channels of one pixel exceed kLine.
                std::vector<float> heap(line_size > kLine ? kLines * line_size : 0);
                float* lines[kLines];
                for (int64_t i = 0; i < kLines; ++i) {
                  lines[i] = heap.empty() ? stack[i] : heap.data() + i * line_size;
                  std::fill_n(lines[i], line_size, 0.0f);
                }
                for (int64_t i = first; i < last; i += per_tile)
                  work(Tile{shape, i, std::min(per_tile, last - i), reach}, lines);
              });
}

}  // namespace

void LrnForward(const LrnShape& shape, const LrnParameters& op, const float* x, float* y) {
  const Window window = WindowOf(op);
  ForEachTile(shape, window.reach, [&](const Tile& tile, float* const* lines) {
    tile.Load(x, lines[0]);
    ForwardLine(window, lines[0], lines[1], lines[2], lines[3], tile.length());
    tile.Store(lines[3], y);
  });
}

void LrnBackward(const LrnShape& shape, const LrnParameters& op, const float* x, const float* dy,
                 float* dx) {
  const Window window = WindowOf(op);
  ForEachTile(shape, window.reach, [&](const Tile& tile, float* const* lines) {
    tile.Load(x, lines[0]);
    tile.Load(dy, lines[1]);
    BackwardLine(window, lines[0], lines[2], lines[3], lines[1], tile.length());
    tile.Store(lines[1], dx);
  });
}

}  // namespace tench::native
