// SPDX-License-Identifier: Apache-2.0
// The GEMM is (pixels × output channels) · (output channels × columns), where a column is one tap
// and one input channel. The weights are packed once per call into panels of kPanel columns. The
// register-blocked accumulator tile is six pixels × one panel. Scatter (col2im) then adds each
// pixel's columns to the input pixels under its taps.
#include "workers/native/kernels/conv_backward_data.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <algorithm>

#include "workers/native/kernels/conv_backward_weights.h"
#include "workers/native/kernels/parallel.h"

namespace tench::native {
namespace {

constexpr int64_t kBlock = kChannelBlock;
constexpr int64_t kPanel = 16;  // columns
constexpr int64_t kTilePixels = 6;
constexpr int64_t kPixelBlock = 12;  // reuses a panel while it is in the L1 cache

class BackwardData {
 public:
  BackwardData(const BlockedConvShape& shape, float* scratch)
      : s_(shape),
        in_channels_(shape.in_channels / shape.groups),
        out_channels_(shape.out_channels / shape.groups),
        taps_(shape.kernel_h * shape.kernel_w),
        columns_(taps_ * in_channels_),
        panels_((columns_ + kPanel - 1) / kPanel),
        packed_(scratch) {}

  int64_t panels() const { return s_.groups * panels_; }  // of all groups
  int64_t packed_floats() const { return panels() * kPanel * out_channels_; }
  int64_t thread_floats() const { return kPixelBlock * panels_ * kPanel; }

  // A packed panel is (output channel, kPanel columns), zero beyond the last column.
  void Pack(int64_t panel, const float* weights) const {
    float* to = packed_ + panel * kPanel * out_channels_;
    const int64_t in_blocks = ChannelBlocks(in_channels_),
                  first_block = panel / panels_ * ChannelBlocks(out_channels_);
    for (int64_t at = 0; at < kPanel; ++at) {
      const int64_t column = panel % panels_ * kPanel + at, tap = column / in_channels_,
                    in = column % in_channels_;
      for (int64_t o = 0; o < out_channels_; ++o) {
        const int64_t block = ((first_block + o / kBlock) * in_blocks + in / kBlock) * taps_ + tap;
        to[o * kPanel + at] = column < columns_
                                  ? weights[(block * kBlock + in % kBlock) * kBlock + o % kBlock]
                                  : 0.0f;
      }
    }
  }

  // One image of one group.
  void Image(int64_t group, const float* dy, float* dx, int64_t thread) const {
    std::fill_n(dx, ChannelBlocks(in_channels_) * kBlock * s_.in_h * s_.in_w, 0.0f);
    float* columns = packed_ + packed_floats() + thread * thread_floats();
    const int64_t pixels = s_.out_h * s_.out_w;
    for (int64_t pixel = 0; pixel < pixels; pixel += kPixelBlock) {
      const int64_t count = std::min(kPixelBlock, pixels - pixel);
      for (int64_t panel = 0; panel < panels_; ++panel)
        Product(dy, pixel, count, group * panels_ + panel, columns + panel * kPanel);
      for (int64_t i = 0; i < count; ++i)
        Scatter(columns + i * panels_ * kPanel, (pixel + i) / s_.out_w, (pixel + i) % s_.out_w, dx);
    }
  }

 private:
  void Product(const float* dy, int64_t pixel, int64_t count, int64_t panel, float* to) const;
  void Scatter(const float* columns, int64_t row, int64_t column, float* dx) const;

  const BlockedConvShape& s_;
  const int64_t in_channels_, out_channels_;  // of a group
  const int64_t taps_, columns_, panels_;
  float* const packed_;  // the panels, followed by the columns of each thread
};

#ifdef __x86_64__
// to (kPixels × 16, rows `stride` apart) = dy (kPixels × channels) · panel
template <int64_t kPixels>
[[gnu::target("avx2,fma")]] void Tile(const float* dy, int64_t block_stride, int64_t channels,
                                      const float* panel, float* to, int64_t stride) {
  __m256 sum[kPixels][2];
#pragma GCC unroll 6
  for (int64_t i = 0; i < kPixels; ++i) sum[i][0] = sum[i][1] = _mm256_setzero_ps();
  for (int64_t first = 0; first < channels; first += kBlock, dy += block_stride) {
    const int64_t lanes = std::min(kBlock, channels - first);
    for (int64_t lane = 0; lane < lanes; ++lane, panel += kPanel) {
      const __m256 left = _mm256_loadu_ps(panel), right = _mm256_loadu_ps(panel + 8);
#pragma GCC unroll 6
      for (int64_t i = 0; i < kPixels; ++i) {
        const __m256 factor = _mm256_broadcast_ss(dy + i * kBlock + lane);
        sum[i][0] = _mm256_fmadd_ps(left, factor, sum[i][0]);
        sum[i][1] = _mm256_fmadd_ps(right, factor, sum[i][1]);
      }
    }
  }
#pragma GCC unroll 6
  for (int64_t i = 0; i < kPixels; ++i) {
    _mm256_storeu_ps(to + i * stride, sum[i][0]);
    _mm256_storeu_ps(to + i * stride + 8, sum[i][1]);
  }
}

void BackwardData::Product(const float* dy, int64_t pixel, int64_t count, int64_t panel,
                           float* to) const {
  static constexpr decltype(&Tile<1>) kTiles[] = {Tile<1>, Tile<2>, Tile<3>,
                                                  Tile<4>, Tile<5>, Tile<6>};
  const int64_t stride = panels_ * kPanel;
  // Tiles of balanced height: 4 + 4 pixels are faster than 6 + 2.
  int64_t tiles = (count + kTilePixels - 1) / kTilePixels;
  for (int64_t i = 0; i < count; --tiles) {
    const int64_t height = (count - i + tiles - 1) / tiles;
    kTiles[height - 1](dy + (pixel + i) * kBlock, s_.out_h * s_.out_w * kBlock, out_channels_,
                       packed_ + panel * kPanel * out_channels_, to + i * stride, stride);
    i += height;
  }
}

[[gnu::target("avx2,fma")]] void BackwardData::Scatter(const float* columns, int64_t row,
                                                       int64_t column, float* dx) const {
  const int64_t whole = in_channels_ / kBlock, rest = in_channels_ % kBlock,
                plane = s_.in_h * s_.in_w;
  alignas(32) static constexpr int32_t kOnes[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
  const __m256i tail = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kOnes + kBlock - rest));
  for (int64_t kh = 0; kh < s_.kernel_h; ++kh) {
    const int64_t h = row * s_.stride_h + kh * s_.dilation_h - s_.pad_h;
    for (int64_t kw = 0; kw < s_.kernel_w; ++kw, columns += in_channels_) {
      const int64_t w = column * s_.stride_w + kw * s_.dilation_w - s_.pad_w;
      if (h < 0 || h >= s_.in_h || w < 0 || w >= s_.in_w) continue;
      float* to = dx + (h * s_.in_w + w) * kBlock;
      for (int64_t block = 0; block < whole; ++block, to += plane * kBlock)
        _mm256_storeu_ps(
            to, _mm256_add_ps(_mm256_loadu_ps(to), _mm256_loadu_ps(columns + block * kBlock)));
      if (rest > 0)
        _mm256_storeu_ps(to, _mm256_add_ps(_mm256_loadu_ps(to),
                                           _mm256_maskload_ps(columns + whole * kBlock, tail)));
    }
  }
}
#else
void BackwardData::Product(const float*, int64_t, int64_t, int64_t, float*) const {}
void BackwardData::Scatter(const float*, int64_t, int64_t, float*) const {}
#endif

}  // namespace

bool HasConvBackwardData(const BlockedConvShape& shape) {
  return !shape.plain_in && HasConvBackwardWeights(shape);
}

int64_t ConvBackwardDataScratch(const BlockedConvShape& shape, int64_t threads) {
  const BackwardData backward(shape, nullptr);
  return backward.packed_floats() + threads * backward.thread_floats();
}

void ConvBackwardData(const BlockedConvShape& shape, const float* dy, const float* w, float* dx,
                      float* scratch) {
  const BackwardData backward(shape, scratch);
  // Floats of one image and one group.
  const int64_t in_floats =
      ChannelBlocks(shape.in_channels / shape.groups) * kBlock * shape.in_h * shape.in_w;
  const int64_t out_floats =
      ChannelBlocks(shape.out_channels / shape.groups) * kBlock * shape.out_h * shape.out_w;
#pragma omp parallel
  {
    const int64_t thread = omp_get_thread_num();
#pragma omp for schedule(static)
    for (int64_t panel = 0; panel < backward.panels(); ++panel) backward.Pack(panel, w);
#pragma omp for schedule(static)
    for (int64_t part = 0; part < shape.batch * shape.groups; ++part)
      backward.Image(part % shape.groups, dy + part * out_floats, dx + part * in_floats, thread);
  }
}

}  // namespace tench::native
