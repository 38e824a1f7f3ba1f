// SPDX-License-Identifier: Apache-2.0
// One call of a tile kernel is one tap (kh, kw) of the weights, up to four input channels and up to 24 output channels, over some rows of
// pixels: twelve sums in registers, three loads of dy and four broadcasts of x for every twelve multiply-adds. The rows are so many that what
// they need of x and dy stays in the first-level cache for all taps of a kernel's row.
#include "workers/native/conv_gradient_kernel.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <algorithm>

#include "workers/native/parallel.h"

namespace tench::native {
namespace {

constexpr int64_t kBlock = kGradientBlock;
constexpr int64_t kLanes = 4;        // input channels of a tile
constexpr int64_t kWideBlocks = 3;   // blocks of output channels of a tile
constexpr int64_t kCacheBytes = 24 * 1024;

int64_t Blocks(int64_t channels) { return (channels + kBlock - 1) / kBlock; }

// The pixels of one call: `rows` × `columns`, and how far apart things lie.
struct Pixels {
  int64_t rows, columns;
  int64_t x_row, x_column, lane;        // from one pixel's x to the next, and from one channel to the next
  int64_t dy_row, dy_block;             // from one row to the next, and from one block of output channels to the next
  int64_t dw_lane, dw_block;
};

using TileKernel = void (*)(const Pixels& p, const float* x, const float* dy, float* dw);

#ifdef __x86_64__
template <int64_t kIn, int64_t kOut>
[[gnu::target("avx2,fma")]] void Tile(const Pixels& p, const float* x, const float* dy, float* dw) {
  __m256 sum[kIn][kOut];
#pragma GCC unroll 4
  for (int64_t i = 0; i < kIn; ++i) {
#pragma GCC unroll 3
    for (int64_t o = 0; o < kOut; ++o) sum[i][o] = _mm256_setzero_ps();
  }
  for (int64_t row = 0; row < p.rows; ++row, x += p.x_row, dy += p.dy_row) {
    const float *at_x = x, *at_dy = dy;
    for (int64_t column = 0; column < p.columns; ++column, at_x += p.x_column, at_dy += kBlock) {
      __m256 out[kOut];
#pragma GCC unroll 3
      for (int64_t o = 0; o < kOut; ++o) out[o] = _mm256_loadu_ps(at_dy + o * p.dy_block);
#pragma GCC unroll 4
      for (int64_t i = 0; i < kIn; ++i) {
        const __m256 in = _mm256_broadcast_ss(at_x + i * p.lane);
#pragma GCC unroll 3
        for (int64_t o = 0; o < kOut; ++o) sum[i][o] = _mm256_fmadd_ps(in, out[o], sum[i][o]);
      }
    }
  }
#pragma GCC unroll 4
  for (int64_t i = 0; i < kIn; ++i) {
#pragma GCC unroll 3
    for (int64_t o = 0; o < kOut; ++o) {
      float* to = dw + i * p.dw_lane + o * p.dw_block;
      _mm256_storeu_ps(to, _mm256_add_ps(_mm256_loadu_ps(to), sum[i][o]));
    }
  }
}

template <int64_t kIn>
constexpr TileKernel kTiles[] = {Tile<kIn, 1>, Tile<kIn, 2>, Tile<kIn, 3>};

TileKernel TileOf(int64_t lanes, int64_t blocks) {
  const TileKernel* const of_lanes[] = {kTiles<1>, kTiles<2>, kTiles<3>, kTiles<4>};
  return of_lanes[lanes - 1][blocks - 1];
}
#else
TileKernel TileOf(int64_t, int64_t) { return nullptr; }
#endif

// Where a window's tap meets the image: [first, last) of the output's rows or columns.
struct Span {
  int64_t first, last;
};
Span Meets(int64_t in, int64_t out, int64_t stride, int64_t offset) {   // 0 ≤ o · stride + offset < in
  const int64_t first = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
  const int64_t last = in - 1 - offset < 0 ? 0 : std::min(out, (in - 1 - offset) / stride + 1);
  return {std::min(first, last), last};
}

// What one thread does at a time: one row of the kernel's taps, one block of input channels (all, if they are plain), and some blocks of
// output channels.
struct Item {
  int64_t group, in_block, out_block, out_blocks, kh;
};

class Gradient {
 public:
  Gradient(const ConvGradientShape& shape, const float* x, const float* dy, float* dw)
      : s_(shape), x_(x), dy_(dy), dw_(dw),
        group_in_(shape.in_channels / shape.groups), in_blocks_(shape.plain_in ? 1 : Blocks(group_in_)),
        out_blocks_(Blocks(shape.out_channels / shape.groups)),
        tiles_((out_blocks_ + kWideBlocks - 1) / kWideBlocks) {}

  int64_t items() const { return s_.groups * in_blocks_ * tiles_ * s_.kernel_h; }

  void Run(int64_t item) const {
    const int64_t tile = item / s_.kernel_h % tiles_;
    // Tiles of even width: 2 + 2 blocks are faster than 3 + 1.
    const int64_t first = out_blocks_ * tile / tiles_, last = out_blocks_ * (tile + 1) / tiles_;
    const int64_t rest = item / s_.kernel_h / tiles_;
    const Item it{rest / in_blocks_, rest % in_blocks_, first, last - first, item % s_.kernel_h};
    // The last block may hold fewer channels; the rest of its weights stay zero.
    const int64_t lanes = s_.plain_in ? group_in_ : std::min(kBlock, group_in_ - it.in_block * kBlock);
    Clear(it);
    const Span rows = Meets(s_.in_h, s_.out_h, s_.stride_h, it.kh * s_.dilation_h - s_.pad_h);
    const int64_t row_bytes = 4 * (s_.in_w * lanes_all() + it.out_blocks * s_.out_w * kBlock);
    const int64_t at_once = std::max<int64_t>(1, kCacheBytes / row_bytes);
    for (int64_t n = 0; n < s_.batch; ++n) {
      for (int64_t row = rows.first; row < rows.last; row += at_once) {
        RunRows(it, lanes, n, row, std::min(at_once, rows.last - row));
      }
    }
  }

 private:
  int64_t x_step() const { return s_.plain_in ? 1 : kBlock; }   // from one pixel to the next
  int64_t in_plane() const { return s_.in_h * s_.in_w; }
  int64_t out_plane() const { return s_.out_h * s_.out_w; }
  // (g, o / 8, i / 8, kh, kw, 8 i, 8 o), or (o / 8, kh, kw, i, 8 o)
  int64_t lanes_all() const { return s_.plain_in ? group_in_ : kBlock; }
  int64_t dw_block() const { return in_blocks_ * s_.kernel_h * s_.kernel_w * lanes_all() * kBlock; }
  float* Weights(const Item& it, int64_t kw) const {
    const int64_t block = (it.group * out_blocks_ + it.out_block) * in_blocks_ + it.in_block;
    return dw_ + ((block * s_.kernel_h + it.kh) * s_.kernel_w + kw) * lanes_all() * kBlock;
  }

  void Clear(const Item& it) const {
    for (int64_t o = 0; o < it.out_blocks; ++o) std::fill_n(Weights(it, 0) + o * dw_block(), s_.kernel_w * lanes_all() * kBlock, 0.0f);
  }

  void RunRows(const Item& it, int64_t lanes, int64_t n, int64_t row, int64_t rows) const {
    const int64_t step = x_step();
    const int64_t in_all = s_.plain_in ? s_.in_channels : s_.groups * in_blocks_ * kBlock, h = row * s_.stride_h + it.kh * s_.dilation_h - s_.pad_h;
    const float* image = x_ + n * in_all * in_plane() + (it.group * in_blocks_ + it.in_block) * kBlock * in_plane() + h * s_.in_w * step;
    const float* dy = dy_ + ((n * s_.groups + it.group) * out_blocks_ + it.out_block) * kBlock * out_plane() + row * s_.out_w * kBlock;
    Pixels p{rows, 0, s_.stride_h * s_.in_w * step, s_.stride_w * step, 1, s_.out_w * kBlock, out_plane() * kBlock, kBlock, dw_block()};
    if (s_.plain_in) {
      p.lane = s_.dilation_w;
      p.dw_lane = lanes * kBlock;
      for (int64_t c = 0; c < lanes; ++c) {
        for (int64_t kw = 0; kw < s_.kernel_w; kw += kLanes) {
          RunTaps(p, image + c * in_plane(), dy, it, kw, std::min(kLanes, s_.kernel_w - kw), c);
        }
      }
      return;
    }
    for (int64_t kw = 0; kw < s_.kernel_w; ++kw) {
      for (int64_t lane = 0; lane < lanes; lane += kLanes) RunTile(p, image + lane, dy, it, kw, kLanes, Columns(kw), lane);
    }
  }

  Span Columns(int64_t kw) const { return Meets(s_.in_w, s_.out_w, s_.stride_w, kw * s_.dilation_w - s_.pad_w); }

  // Where planes lie apart, the lanes of a tile are neighbouring taps of one channel. At the image's edges fewer of them meet it, one by one.
  void RunTaps(const Pixels& p, const float* plane, const float* dy, const Item& it, int64_t kw, int64_t taps, int64_t channel) const {
    Span common = Columns(kw);
    for (int64_t i = 1; i < taps; ++i) {
      const Span columns = Columns(kw + i);
      common = {std::max(common.first, columns.first), std::min(common.last, columns.last)};
    }
    if (common.first >= common.last) common = {0, 0};
    RunTile(p, plane, dy, it, kw, taps, common, channel);
    for (int64_t i = 0; i < taps; ++i) {
      const Span columns = Columns(kw + i);
      RunTile(p, plane, dy, it, kw + i, 1, {columns.first, std::min(columns.last, common.first)}, channel);
      RunTile(p, plane, dy, it, kw + i, 1, {std::max(columns.first, common.last), columns.last}, channel);
    }
  }

  void RunTile(Pixels p, const float* x, const float* dy, const Item& it, int64_t kw, int64_t lanes, Span columns, int64_t lane) const {
    p.columns = columns.last - columns.first;
    if (p.columns <= 0) return;
    const int64_t w = columns.first * s_.stride_w + kw * s_.dilation_w - s_.pad_w;
    TileOf(lanes, it.out_blocks)(p, x + w * x_step(), dy + columns.first * kBlock, Weights(it, kw) + lane * kBlock);
  }

  const ConvGradientShape& s_;
  const float *x_, *dy_;
  float* dw_;
  const int64_t group_in_, in_blocks_, out_blocks_, tiles_;
};

[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]]
void SumPixels(const float* dy, int64_t pixels, float (&sum)[kBlock]) {
  for (int64_t p = 0; p < pixels; ++p) {
    for (int64_t o = 0; o < kBlock; ++o) sum[o] += dy[p * kBlock + o];
  }
}

void BiasGradient(const ConvGradientShape& shape, const float* dy, float* db) {
  const int64_t blocks = Blocks(shape.out_channels), plane = shape.out_h * shape.out_w;
  ParallelFor(blocks, std::max<int64_t>(1, 16 * 1024 / (shape.batch * plane * kBlock)), [&](int64_t first, int64_t last) {
    for (int64_t block = first; block < last; ++block) {
      float total[kBlock] = {};
      for (int64_t n = 0; n < shape.batch; ++n) {
        float sum[kBlock] = {};   // of one image, so that rounding stays small
        SumPixels(dy + (n * blocks + block) * plane * kBlock, plane, sum);
        for (int64_t o = 0; o < kBlock; ++o) total[o] += sum[o];
      }
      std::copy_n(total, std::min(kBlock, shape.out_channels - block * kBlock), db + block * kBlock);
    }
  });
}

}  // namespace

bool HasConvGradient(const ConvGradientShape& shape) {
#ifdef __x86_64__
  const bool able = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  const bool able = false;
#endif
  if (!able) return false;
  if (shape.out_channels < kBlock || (shape.plain_in ? shape.groups > 1 : shape.in_channels < kBlock)) return false;
  return shape.groups == 1 || (shape.in_channels / shape.groups % kBlock == 0 && shape.out_channels / shape.groups % kBlock == 0);
}

void ConvGradient(const ConvGradientShape& shape, const float* x, const float* dy, float* dw, float* db) {
  const Gradient gradient(shape, x, dy, dw);
  // Items differ in size and write weights of their own, so it does not matter who takes which.
  const int64_t items = gradient.items();
#pragma omp parallel for schedule(dynamic)
  for (int64_t item = 0; item < items; ++item) gradient.Run(item);
  if (db != nullptr) BiasGradient(shape, dy, db);
}

}  // namespace tench::native
