// SPDX-License-Identifier: Apache-2.0
#pragma once
// The transforms of Winograd's form (winograd_transform.h) between images and kernels in blocks of eight channels and the matrices of
// winograd_geometry.h. Each call is one thread's share.

#ifdef __x86_64__
#include <immintrin.h>

#include <algorithm>

#include "workers/native/winograd_geometry.h"
#include "workers/native/winograd_transform.h"

namespace tench::native::winograd {

// kSize × kSize pixels of a block of channels from (h, w) on, zeros beyond the image.
template <int kSize>
[[gnu::target("avx2,fma"), gnu::always_inline]] inline void Load(const float* block, const Plane& plane, int64_t h, int64_t w,
                                                                  __m256 (&to)[kSize][kSize]) {
  if (h >= 0 && w >= 0 && h + kSize <= plane.h && w + kSize <= plane.w) {
    const float* from = block + (h * plane.w + w) * kBlock;
#pragma GCC unroll 6
    for (int i = 0; i < kSize; ++i) {
#pragma GCC unroll 6
      for (int j = 0; j < kSize; ++j) to[i][j] = _mm256_loadu_ps(from + (i * plane.w + j) * kBlock);
    }
    return;
  }
  for (int i = 0; i < kSize; ++i) {
    for (int j = 0; j < kSize; ++j) {
      const bool inside = h + i >= 0 && h + i < plane.h && w + j >= 0 && w + j < plane.w;
      to[i][j] = inside ? _mm256_loadu_ps(block + ((h + i) * plane.w + w + j) * kBlock) : _mm256_setzero_ps();
    }
  }
}

[[gnu::target("avx2,fma"), gnu::always_inline]] inline void Scatter(const __m256 (&from)[kSide][kSide], float* to, int64_t apart) {
#pragma GCC unroll 6
  for (int i = 0; i < kSide; ++i) {
#pragma GCC unroll 6
    for (int j = 0; j < kSide; ++j) _mm256_storeu_ps(to + (i * kSide + j) * apart, from[i][j]);
  }
}

[[gnu::target("avx2,fma"), gnu::always_inline]] inline void Gather(const float* from, int64_t apart, __m256 (&to)[kSide][kSide]) {
#pragma GCC unroll 6
  for (int i = 0; i < kSide; ++i) {
#pragma GCC unroll 6
    for (int j = 0; j < kSide; ++j) to[i][j] = _mm256_loadu_ps(from + (i * kSide + j) * apart);
  }
}

// Tiles [first, last) of the lot that begins with tile `begin`, to matrices (tile, channel).
template <int kTaps>
[[gnu::target("avx2,fma")]] void TransformInput(const Geometry<kTaps>& g, const float* in, int64_t begin, int64_t first, int64_t last, float* to) {
  for (int64_t tile = first; tile < last; ++tile) {
    const auto corner = g.CornerOf(begin + tile);
    const float* block = in + corner.image * g.in.image;
    for (int64_t channel = 0; channel < g.in.blocks * kBlock; channel += kBlock, block += g.in.block()) {
      __m256 pixels[kSide][kSide], values[kSide][kSide];
      Load<kSide>(block, g.in, corner.h - g.pad_h, corner.w - g.pad_w, pixels);
      Square<Input>(pixels, values);
      Scatter(values, to + tile * g.in_row() + channel, g.in_apart());
    }
  }
}

// Where transformed tiles go: matrices (tile, channel), or panels of sixteen channels (tile, 16).
struct Target {
  float* data;
  int64_t tile, panel, apart;   // from one to the next
};

// The same of the output's gradient in `plane`, `channels` from `channel` on.
template <int kTaps>
[[gnu::target("avx2,fma")]] void TransformGradient(const Geometry<kTaps>& g, const Plane& plane, const float* dy, int64_t begin, int64_t first,
                                                   int64_t last, int64_t channel, int64_t channels, const Target& to) {
  constexpr int kOut = Geometry<kTaps>::kOut;
  for (int64_t tile = first; tile < last; ++tile) {
    const auto corner = g.CornerOf(begin + tile);
    const float* block = dy + corner.image * plane.image + channel * plane.h * plane.w;
    for (int64_t at = 0; at < channels; at += kBlock, block += plane.block()) {
      __m256 pixels[kOut][kOut], values[kSide][kSide];
      Load<kOut>(block, plane, corner.h, corner.w, pixels);
      Square<Values<kOut>>(pixels, values);
      Scatter(values, to.data + tile * to.tile + at / kPanelWidth * to.panel + at % kPanelWidth, to.apart);
    }
  }
}

// A mask of the first `count` lanes.
[[gnu::target("avx2,fma")]] inline __m256i Lanes(int64_t count) {
  alignas(32) static constexpr int32_t kOnes[2 * kBlock] = {-1, -1, -1, -1, -1, -1, -1, -1};
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kOnes + kBlock - std::min(count, kBlock)));
}

struct Finish {
  const float* bias = nullptr;   // of the group
  bool relu = false;
};

// From matrices (tile, channel of the slab) to pixels.
template <int kTaps>
[[gnu::target("avx2,fma")]] void TransformOutput(const Geometry<kTaps>& g, const float* from, int64_t begin, int64_t first, int64_t last,
                                                 int64_t channel, int64_t channels, const Finish& finish, float* out) {
  constexpr int kOut = Geometry<kTaps>::kOut;
  const __m256 floor = _mm256_set1_ps(finish.relu ? 0.0f : -__builtin_inff());
  for (int64_t tile = first; tile < last; ++tile) {
    const auto corner = g.CornerOf(begin + tile);
    const int64_t rows = std::min<int64_t>(kOut, g.out.h - corner.h), columns = std::min<int64_t>(kOut, g.out.w - corner.w);
    float* to = out + corner.image * g.out.image + (corner.h * g.out.w + corner.w) * kBlock + channel / kBlock * g.out.block();
    for (int64_t at = 0; at < channels; at += kBlock, to += g.out.block()) {
      __m256 values[kSide][kSide], pixels[kOut][kOut];
      Gather(from + tile * g.out_row() + at, g.out_apart(), values);
      Square<Results<kOut>>(values, pixels);
      const __m256 bias = finish.bias == nullptr ? _mm256_setzero_ps() : _mm256_maskload_ps(finish.bias + channel + at, Lanes(g.out.channels - channel - at));
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < columns; ++j) _mm256_storeu_ps(to + (i * g.out.w + j) * kBlock, _mm256_max_ps(floor, pixels[i][j] + bias));
      }
    }
  }
}

// From matrices (tile, channel) of a lot of whole images back to what each tile's input gets, which overlap: one image, one block of channels.
template <int kTaps>
[[gnu::target("avx2,fma")]] void AddInputGradient(const Geometry<kTaps>& g, const float* from, int64_t image, int64_t slab_block, float* to) {
  std::fill_n(to, g.out.block(), 0.0f);
  for (int64_t tile = 0; tile < g.area(); ++tile) {
    const auto corner = g.CornerOf(tile);
    __m256 values[kSide][kSide], pixels[kSide][kSide];
    Gather(from + (image * g.area() + tile) * g.out_row() + slab_block * kBlock, g.out_apart(), values);
    Square<InputGradient>(values, pixels);
    const int64_t h = corner.h - g.pad_h, w = corner.w - g.pad_w;
    for (int64_t i = std::max<int64_t>(0, -h); i < std::min<int64_t>(kSide, g.out.h - h); ++i) {
      for (int64_t j = std::max<int64_t>(0, -w); j < std::min<int64_t>(kSide, g.out.w - w); ++j) {
        float* pixel = to + ((h + i) * g.out.w + w + j) * kBlock;
        _mm256_storeu_ps(pixel, _mm256_loadu_ps(pixel) + pixels[i][j]);
      }
    }
  }
}

// Where the kernel from one block of input channels to one of output channels lies, and the blocks of either in a row.
struct Weights {
  const float* data;
  int64_t in_blocks;   // of the convolution's own input
  // For the gradient of the input they are transposed, and turned by 180 degrees if that is computed as a convolution.
  bool transposed = false, turned = false;
};

// One block of channels of the plane that is read, one of the slab that is written.
template <int kTaps>
[[gnu::target("avx2,fma")]] void TransformKernel(const Geometry<kTaps>& g, const Weights& w, int64_t in_block, int64_t slab_block, int64_t out_block,
                                                 float* to) {
  const float* block = w.data + (w.transposed ? in_block * w.in_blocks + out_block : out_block * w.in_blocks + in_block) * kTaps * kTaps * kBlock * kBlock;
  to += (slab_block * kBlock / kPanelWidth * g.in.channels + in_block * kBlock) * kPanelWidth + slab_block * kBlock % kPanelWidth;
  __m256 taps[kBlock][kTaps][kTaps];
  for (int tap = 0; tap < kTaps * kTaps; ++tap) {
    __m256 rows[kBlock];
    for (int i = 0; i < kBlock; ++i) rows[i] = _mm256_loadu_ps(block + (tap * kBlock + i) * kBlock);
    if (w.transposed) Transpose(rows);
    const int place = w.turned ? kTaps * kTaps - 1 - tap : tap;
    for (int i = 0; i < kBlock; ++i) taps[i][place / kTaps][place % kTaps] = rows[i];
  }
  const int64_t used = std::min(kBlock, g.in.channels - in_block * kBlock);
  for (int64_t i = 0; i < used; ++i) {
    __m256 values[kSide][kSide];
    Square<ScaledValues<kTaps>>(taps[i], values);
    Scatter(values, to + i * kPanelWidth, g.kernel_apart());
  }
}

// One block of the kernels' gradient, from the sum of `count` times 36 matrices (input channel, output channel of the slab).
template <int kTaps>
[[gnu::target("avx2,fma")]] void CollectKernel(const Geometry<kTaps>& g, const float* from, int64_t count, int64_t apart, int64_t in_block,
                                               int64_t slab_block, float* to) {
  const int64_t used = std::min(kBlock, g.in.channels - in_block * kBlock);
  if (used < kBlock) std::fill_n(to, kTaps * kTaps * kBlock * kBlock, 0.0f);
  for (int64_t i = 0; i < used; ++i) {
    __m256 values[kSide][kSide], taps[kTaps][kTaps];
    const float* row = from + (in_block * kBlock + i) * g.slab_channels + slab_block * kBlock;
    Gather(row, g.kernel_apart(), values);
    for (int64_t other = 1; other < count; ++other) {
      for (int64_t point = 0; point < kPoints; ++point)
        values[point / kSide][point % kSide] += _mm256_loadu_ps(row + other * apart + point * g.kernel_apart());
    }
    Square<ScaledResults<kTaps>>(values, taps);
    for (int tap = 0; tap < kTaps * kTaps; ++tap) _mm256_storeu_ps(to + (tap * kBlock + i) * kBlock, taps[tap / kTaps][tap % kTaps]);
  }
}

}  // namespace tench::native::winograd
#endif
