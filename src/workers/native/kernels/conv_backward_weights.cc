// SPDX-License-Identifier: Apache-2.0
// The microkernel computes one tap (kh, kw) for up to four input channels and 24 output channels
// over a block of image rows. Its register-blocked accumulator tile has twelve vectors; one pixel
// takes three loads of dy and four broadcasts of x for twelve fused multiply-adds. The row block is
// chosen so that its x and dy stay in the L1 cache for all taps of a kernel row.
//
// For a blocked x, the pixels under a tap are first copied (im2col of one tap), with zeros for the
// padding. The pixel loop then runs over the whole row block, since short inner loops mispredict
// their exit.
#include "workers/native/kernels/conv_backward_weights.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <algorithm>

#include "workers/native/kernels/cpu_features.h"
#include "workers/native/kernels/parallel.h"

namespace tench::native {
namespace {

constexpr int64_t kBlock = kChannelBlock;
constexpr int64_t kLanes = 4;               // input channels of a tile
constexpr int64_t kWideBlocks = 3;          // output-channel blocks of a tile
constexpr int64_t kCacheBytes = 24 * 1024;  // of L1, for a row block of x and dy
// Enough items for dynamic scheduling to balance the load.
constexpr int64_t kItemsPerThread = 8, kPlainItemsPerThread = 4;

// The pixels of one microkernel call, and the strides of its operands in floats. A lane is one
// input channel of the tile, a block one output-channel block.
struct Pixels {
  int64_t rows, columns;
  int64_t x_row, x_column, lane;
  int64_t dy_row, dy_block;
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

// Output rows or columns [first, last) for which a tap is inside the image.
struct Span {
  int64_t first, last;
};
Span InsideImage(int64_t in, int64_t out, int64_t stride,
                 int64_t offset) {  // 0 ≤ o · stride + offset < in
  const int64_t first = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
  const int64_t last = in - 1 - offset < 0 ? 0 : std::min(out, (in - 1 - offset) / stride + 1);
  return {std::min(first, last), last};
}

// A unit of scheduling: one kernel row, one input-channel block (all channels of a plain x), and a
// range of output-channel tiles.
struct Item {
  int64_t group, in_block, kh, first_tile, last_tile;
};

class BackwardWeights {
 public:
  BackwardWeights(const BlockedConvShape& shape, const float* x, const float* dy, float* dw)
      : s_(shape),
        x_(x),
        dy_(dy),
        dw_(dw),
        group_in_(shape.in_channels / shape.groups),
        in_blocks_(shape.plain_in ? 1 : ChannelBlocks(group_in_)),
        out_blocks_(ChannelBlocks(shape.out_channels / shape.groups)),
        tiles_((out_blocks_ + kWideBlocks - 1) / kWideBlocks),
        row_block_(
            std::clamp<int64_t>(kCacheBytes / (4 * (lanes() * (s_.plain_in ? s_.in_w : s_.out_w) +
                                                    kWideBlocks * kBlock * s_.out_w)),
                                1, s_.out_h)) {}

  int64_t scratch_floats() const {
    return InPlace() ? 0 : s_.kernel_w * row_block_ * s_.out_w * kBlock;
  }

  void RunAll(float* scratch) const {
    if (s_.plain_in) return RunAllPlain();
    const int64_t rows = s_.groups * in_blocks_ * s_.kernel_h;
    const int64_t wanted = kItemsPerThread * omp_get_max_threads();
    const int64_t parts = std::clamp<int64_t>((wanted + rows - 1) / rows, 1, tiles_);
    // Items differ in size and write disjoint weights, so dynamic scheduling is deterministic.
#pragma omp parallel for schedule(dynamic)
    for (int64_t item = 0; item < rows * parts; ++item) {
      const int64_t row = item / parts, part = item % parts, block = row / s_.kernel_h;
      Run({block / in_blocks_, block % in_blocks_, row % s_.kernel_h, tiles_ * part / parts,
           tiles_ * (part + 1) / parts},
          scratch + omp_get_thread_num() * scratch_floats());
    }
  }

 private:
  // Whether x needs no copy: a tap reads all of x in order, or x is plain and the lanes of a tile
  // are neighbouring taps.
  bool InPlace() const {
    return s_.plain_in || (s_.kernel_h == 1 && s_.kernel_w == 1 && s_.stride_h == 1 &&
                           s_.stride_w == 1 && s_.pad_h == 0 && s_.pad_w == 0);
  }
  int64_t in_plane() const { return s_.in_h * s_.in_w; }
  int64_t out_plane() const { return s_.out_h * s_.out_w; }
  // Input channels that one tap of the weights holds side by side.
  int64_t lanes() const { return s_.plain_in ? group_in_ : kBlock; }
  int64_t dw_block() const { return in_blocks_ * s_.kernel_h * s_.kernel_w * lanes() * kBlock; }
  // Tiles of balanced width: 2 + 2 blocks are faster than 3 + 1.
  int64_t FirstBlock(int64_t tile) const { return out_blocks_ * tile / tiles_; }
  int64_t BlocksOf(int64_t tile) const { return FirstBlock(tile + 1) - FirstBlock(tile); }
  float* Weights(const Item& it, int64_t out_block, int64_t kw) const {
    const int64_t block = (it.group * out_blocks_ + out_block) * in_blocks_ + it.in_block;
    return dw_ + ((block * s_.kernel_h + it.kh) * s_.kernel_w + kw) * lanes() * kBlock;
  }
  const float* OutputGradient(const Item& it, int64_t out_block, int64_t n, int64_t row) const {
    return dy_ + ((n * s_.groups + it.group) * out_blocks_ + out_block) * kBlock * out_plane() +
           row * s_.out_w * kBlock;
  }
  const float* Image(const Item& it, int64_t n) const {
    const int64_t channels = s_.plain_in ? s_.in_channels : s_.groups * in_blocks_ * kBlock;
    return x_ + (n * channels + (it.group * in_blocks_ + it.in_block) * kBlock) * in_plane();
  }
  Span Columns(int64_t kw) const {
    return InsideImage(s_.in_w, s_.out_w, s_.stride_w, kw * s_.dilation_w - s_.pad_w);
  }

  Span Rows(int64_t kh) const {
    return InsideImage(s_.in_h, s_.out_h, s_.stride_h, kh * s_.dilation_h - s_.pad_h);
  }

  void Clear(const Item& it) const {
    for (int64_t block = FirstBlock(it.first_tile); block < FirstBlock(it.last_tile); ++block)
      std::fill_n(Weights(it, block, 0), s_.kernel_w * lanes() * kBlock, 0.0f);
  }

  void Run(const Item& it, float* scratch) const {
    Clear(it);
    const Span rows = Rows(it.kh);
    for (int64_t n = 0; n < s_.batch; ++n) {
      for (int64_t row = rows.first; row < rows.last; row += row_block_)
        RunBlocked(it, n, row, std::min(row_block_, rows.last - row), scratch);
    }
  }

  // A first layer has few weights and a large dy, so each row block of dy is used for several
  // kernel rows while it is in the cache.
  void RunAllPlain() const {
    const int64_t wanted = kPlainItemsPerThread * omp_get_max_threads();
    const int64_t parts = std::clamp<int64_t>((wanted + tiles_ - 1) / tiles_, 1, s_.kernel_h);
#pragma omp parallel for schedule(dynamic)
    for (int64_t item = 0; item < tiles_ * parts; ++item) {
      const int64_t tile = item / parts, first = s_.kernel_h * (item % parts) / parts,
                    last = s_.kernel_h * (item % parts + 1) / parts;
      for (int64_t kh = first; kh < last; ++kh) Clear({0, 0, kh, tile, tile + 1});
      for (int64_t n = 0; n < s_.batch; ++n) {
        for (int64_t row = 0; row < s_.out_h; row += row_block_) {
          for (int64_t kh = first; kh < last; ++kh) {
            const Span rows = Rows(kh);
            const int64_t begin = std::max(row, rows.first),
                          end = std::min(row + row_block_, rows.last);
            if (begin < end) RunPlain({0, 0, kh, tile, tile + 1}, n, begin, end - begin);
          }
        }
      }
    }
  }

  void RunBlocked(const Item& it, int64_t n, int64_t row, int64_t rows, float* scratch) const {
    const int64_t pixels = rows * s_.out_w;
    const Pixels p{1, pixels, 0, kBlock, 1, 0, out_plane() * kBlock, kBlock, dw_block()};
    const float* pixels_of_taps = InPlace() ? Image(it, n) + row * s_.in_w * kBlock : scratch;
    if (!InPlace()) {
      for (int64_t kw = 0; kw < s_.kernel_w; ++kw)
        Copy(it, n, row, rows, kw, scratch + kw * pixels * kBlock);
    }
    // Unused channels of the last block keep the zeros of Clear.
    const int64_t lanes = std::min(kBlock, group_in_ - it.in_block * kBlock);
    for (int64_t tile = it.first_tile; tile < it.last_tile; ++tile) {
      const float* dy = OutputGradient(it, FirstBlock(tile), n, row);
      const TileKernel kernel = TileOf(kLanes, BlocksOf(tile));
      for (int64_t kw = 0; kw < s_.kernel_w; ++kw) {
        float* dw = Weights(it, FirstBlock(tile), kw);
        for (int64_t lane = 0; lane < lanes; lane += kLanes)
          kernel(p, pixels_of_taps + kw * pixels * kBlock + lane, dy, dw + lane * kBlock);
      }
    }
  }

  // The pixels under one tap for some output rows: (pixels, 8), zeros for the padding.
  void Copy(const Item& it, int64_t n, int64_t row, int64_t rows, int64_t kw, float* to) const {
    const Span columns = Columns(kw);
    const int64_t first_w = columns.first * s_.stride_w + kw * s_.dilation_w - s_.pad_w;
    for (int64_t r = row; r < row + rows; ++r, to += s_.out_w * kBlock) {
      const int64_t h = r * s_.stride_h + it.kh * s_.dilation_h - s_.pad_h;
      const float* from = Image(it, n) + (h * s_.in_w + first_w) * kBlock;
      std::fill_n(to, columns.first * kBlock, 0.0f);
      if (s_.stride_w == 1) {
        std::copy_n(from, (columns.last - columns.first) * kBlock, to + columns.first * kBlock);
      } else {
        for (int64_t c = columns.first; c < columns.last; ++c, from += s_.stride_w * kBlock)
          std::copy_n(from, kBlock, to + c * kBlock);
      }
      std::fill(to + columns.last * kBlock, to + s_.out_w * kBlock, 0.0f);
    }
  }

  void RunPlain(const Item& it, int64_t n, int64_t row, int64_t rows) const {
    const int64_t h = row * s_.stride_h + it.kh * s_.dilation_h - s_.pad_h;
    const Pixels p{rows,
                   0,
                   s_.stride_h * s_.in_w,
                   s_.stride_w,
                   s_.dilation_w,
                   s_.out_w * kBlock,
                   out_plane() * kBlock,
                   group_in_ * kBlock,
                   dw_block()};
    // Tap groups of balanced size: 3 + 2 are faster than 4 + 1.
    const int64_t parts = (s_.kernel_w + kLanes - 1) / kLanes;
    for (int64_t tile = it.first_tile; tile < it.last_tile; ++tile) {
      const float* dy = OutputGradient(it, FirstBlock(tile), n, row);
      for (int64_t c = 0; c < group_in_; ++c) {
        const float* plane = Image(it, n) + c * in_plane() + h * s_.in_w;
        for (int64_t part = 0; part < parts; ++part)
          RunTaps(p, plane, dy, it, tile, s_.kernel_w * part / parts,
                  s_.kernel_w * (part + 1) / parts, c);
      }
    }
  }

  // Taps [first, last) of a channel: together for the columns where all are inside the image, one
  // by one for the rest.
  void RunTaps(const Pixels& p, const float* plane, const float* dy, const Item& it, int64_t tile,
               int64_t first, int64_t last, int64_t channel) const {
    Span common = Columns(first);
    for (int64_t kw = first + 1; kw < last; ++kw) {
      const Span columns = Columns(kw);
      common = {std::max(common.first, columns.first), std::min(common.last, columns.last)};
    }
    if (common.first >= common.last) common = {0, 0};
    RunTile(p, plane, dy, it, tile, first, last - first, common, channel);
    for (int64_t kw = first; kw < last; ++kw) {
      const Span columns = Columns(kw);
      RunTile(p, plane, dy, it, tile, kw, 1, {columns.first, std::min(columns.last, common.first)},
              channel);
      RunTile(p, plane, dy, it, tile, kw, 1, {std::max(columns.first, common.last), columns.last},
              channel);
    }
  }

  void RunTile(Pixels p, const float* plane, const float* dy, const Item& it, int64_t tile,
               int64_t kw, int64_t taps, Span columns, int64_t channel) const {
    p.columns = columns.last - columns.first;
    if (p.columns <= 0) return;
    const int64_t w = columns.first * s_.stride_w + kw * s_.dilation_w - s_.pad_w;
    TileOf(taps, BlocksOf(tile))(p, plane + w, dy + columns.first * kBlock,
                                 Weights(it, FirstBlock(tile), kw) + channel * kBlock);
  }

  const BlockedConvShape& s_;
  const float *x_, *dy_;
  float* dw_;
  const int64_t group_in_, in_blocks_, out_blocks_, tiles_;
  const int64_t row_block_;
};

template <int64_t kLanes>
[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] void SumPixels(
    const float* dy, int64_t pixels, float* sum) {
  float lanes[kLanes] = {};
  for (int64_t p = 0; p < pixels; ++p) {
    for (int64_t o = 0; o < kLanes; ++o) lanes[o] += dy[p * kLanes + o];
  }
  for (int64_t o = 0; o < kLanes; ++o) sum[o] += lanes[o];
}

}  // namespace

bool HasConvBackwardWeights(const BlockedConvShape& shape) {
  if (!HasAvx2()) return false;
  if (shape.out_channels < kBlock ||
      (shape.plain_in ? shape.groups > 1 : shape.in_channels < kBlock))
    return false;
  return shape.groups == 1 || (shape.in_channels / shape.groups % kBlock == 0 &&
                               shape.out_channels / shape.groups % kBlock == 0);
}

int64_t ConvBackwardWeightsScratch(const BlockedConvShape& shape, int64_t threads) {
  return threads * BackwardWeights(shape, nullptr, nullptr, nullptr).scratch_floats();
}

void ConvBackwardWeights(const BlockedConvShape& shape, const float* x, const float* dy, float* dw,
                         float* scratch) {
  BackwardWeights(shape, x, dy, dw).RunAll(scratch);
}

void ConvBackwardBias(const BlockedConvShape& shape, const float* dy, float* db) {
  const int64_t blocks = ChannelBlocks(shape.out_channels, shape.block),
                plane = shape.out_h * shape.out_w * shape.block;
  const auto sum_pixels = shape.block == kBlock ? SumPixels<kBlock> : SumPixels<2 * kBlock>;
  ParallelFor(blocks, std::max<int64_t>(1, 16 * 1024 / (shape.batch * plane)),
              [&](int64_t first, int64_t last) {
                for (int64_t block = first; block < last; ++block) {
                  float total[2 * kBlock] = {};
                  // A partial sum per image keeps the rounding error small.
                  for (int64_t n = 0; n < shape.batch; ++n)
                    sum_pixels(dy + (n * blocks + block) * plane, shape.out_h * shape.out_w, total);
                  std::copy_n(total,
                              std::min(shape.block, shape.out_channels - block * shape.block),
                              db + block * shape.block);
                }
              });
}

}  // namespace tench::native
