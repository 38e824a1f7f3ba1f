// SPDX-License-Identifier: Apache-2.0
#pragma once
// The transforms of Winograd's form (winograd_transform.h) between images and kernels in blocks of
// channels and the matrices of winograd_geometry.h. Each call is one thread's share.

#include <algorithm>

#include "workers/native/kernels/winograd/blocking.h"
#include "workers/native/kernels/winograd/transform.h"

namespace tench::native::winograd {

#define TENCH_WINOGRAD [[gnu::always_inline]] inline
#define TENCH_WINOGRAD_SHARE [[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]]

template <int64_t kBlock>
using Vector = typename VectorOf<kBlock>::Type;

// kSize × kSize pixels of a block of channels from (h, w) on, zeros beyond the image.
template <int64_t kSize, class Vec>
TENCH_WINOGRAD void LoadTile(const float* block, const Plane& plane, int64_t h, int64_t w,
                             Vec (&to)[kSize][kSize]) {
  constexpr int64_t kBlock = kLanesOf<Vec>;
  if (h >= 0 && w >= 0 && h + kSize <= plane.h && w + kSize <= plane.w) {
    const float* from = block + (h * plane.w + w) * kBlock;
#pragma GCC unroll 6
    for (int64_t i = 0; i < kSize; ++i) {
#pragma GCC unroll 6
      for (int64_t j = 0; j < kSize; ++j) Load(from + (i * plane.w + j) * kBlock, to[i][j]);
    }
    return;
  }
  for (int64_t i = 0; i < kSize; ++i) {
    for (int64_t j = 0; j < kSize; ++j) {
      to[i][j] = Vec{};
      if (h + i >= 0 && h + i < plane.h && w + j >= 0 && w + j < plane.w)
        Load(block + ((h + i) * plane.w + w + j) * kBlock, to[i][j]);
    }
  }
}

template <class Vec>
TENCH_WINOGRAD void Scatter(const Vec (&from)[kSide][kSide], float* to, int64_t apart) {
#pragma GCC unroll 6
  for (int64_t i = 0; i < kSide; ++i) {
#pragma GCC unroll 6
    for (int64_t j = 0; j < kSide; ++j) Store(from[i][j], to + (i * kSide + j) * apart);
  }
}

template <class Vec>
TENCH_WINOGRAD void Gather(const float* from, int64_t apart, Vec (&to)[kSide][kSide]) {
#pragma GCC unroll 6
  for (int64_t i = 0; i < kSide; ++i) {
#pragma GCC unroll 6
    for (int64_t j = 0; j < kSide; ++j) Load(from + (i * kSide + j) * apart, to[i][j]);
  }
}

// Tiles [first, last) of the lot that begins with tile `begin`, to matrices (tile, channel).
template <int64_t kTaps, int64_t kBlock>
TENCH_WINOGRAD_SHARE void TransformInput(const Geometry<kTaps, kBlock>& g, const float* in,
                                         int64_t begin, int64_t first, int64_t last, float* to) {
  for (int64_t tile = first; tile < last; ++tile) {
    const auto corner = g.CornerOf(begin + tile);
    const float* block = in + corner.image * g.in.image;
    for (int64_t channel = 0; channel < g.in_channels(); channel += kBlock, block += g.in_block()) {
      Vector<kBlock> pixels[kSide][kSide], values[kSide][kSide];
      LoadTile(block, g.in, corner.h - g.pad_h, corner.w - g.pad_w, pixels);
      Square<Input>(pixels, values);
      Scatter(values, to + tile * g.in_row() + channel, g.in_apart());
    }
  }
}

// Where transformed tiles go: matrices (tile, channel), or panels of sixteen channels (tile, 16).
struct Target {
  float* data;
  int64_t tile, panel, apart;  // from one to the next
};

// The same of the output's gradient in `plane`, `channels` from `channel` on.
template <int64_t kTaps, int64_t kBlock>
TENCH_WINOGRAD_SHARE void TransformGradient(const Geometry<kTaps, kBlock>& g, const Plane& plane,
                                            const float* dy, int64_t begin, int64_t first,
                                            int64_t last, int64_t channel, int64_t channels,
                                            const Target& to) {
  constexpr int64_t kOut = Geometry<kTaps, kBlock>::kOut;
  for (int64_t tile = first; tile < last; ++tile) {
    const auto corner = g.CornerOf(begin + tile);
    const float* block = dy + corner.image * plane.image + channel * plane.h * plane.w;
    for (int64_t at = 0; at < channels; at += kBlock, block += plane.h * plane.w * kBlock) {
      Vector<kBlock> pixels[kOut][kOut], values[kSide][kSide];
      LoadTile(block, plane, corner.h, corner.w, pixels);
      Square<Values<kOut>>(pixels, values);
      Scatter(values, to.data + tile * to.tile + at / kPanelWidth * to.panel + at % kPanelWidth,
              to.apart);
    }
  }
}

struct Finish {
  const float* bias = nullptr;  // of the group
  bool relu = false;
};

// From matrices (tile, channel of the slab) to pixels.
template <int64_t kTaps, int64_t kBlock>
TENCH_WINOGRAD_SHARE void TransformOutput(const Geometry<kTaps, kBlock>& g, const float* from,
                                          int64_t begin, int64_t first, int64_t last,
                                          int64_t channel, int64_t channels, const Finish& finish,
                                          float* out) {
  constexpr int64_t kOut = Geometry<kTaps, kBlock>::kOut;
  for (int64_t tile = first; tile < last; ++tile) {
    const auto corner = g.CornerOf(begin + tile);
    const int64_t rows = std::min<int64_t>(kOut, g.out.h - corner.h),
                  columns = std::min<int64_t>(kOut, g.out.w - corner.w);
    float* to = out + corner.image * g.out.image + (corner.h * g.out.w + corner.w) * kBlock +
                channel / kBlock * g.out_block();
    for (int64_t at = 0; at < channels; at += kBlock, to += g.out_block()) {
      Vector<kBlock> values[kSide][kSide], pixels[kOut][kOut];
      Gather(from + tile * g.out_row() + at, g.out_apart(), values);
      Square<Results<kOut>>(values, pixels);
      float lanes[kBlock] = {};
      if (finish.bias != nullptr)
        std::copy_n(finish.bias + channel + at, std::min(kBlock, g.out.channels - channel - at),
                    lanes);
      Vector<kBlock> bias;
      Load(lanes, bias);
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < columns; ++j) {
          const Vector<kBlock> sum = pixels[i][j] + bias;
          Store(finish.relu ? (sum > 0 ? sum : Vector<kBlock>{}) : sum,
                to + (i * g.out.w + j) * kBlock);
        }
      }
    }
  }
}

// From matrices (tile, channel) of a lot of whole images back to what each tile's input gets, which
// overlap: one image, one block of channels.
template <int64_t kTaps, int64_t kBlock>
TENCH_WINOGRAD_SHARE void AddInputGradient(const Geometry<kTaps, kBlock>& g, const float* from,
                                           int64_t image, int64_t slab_block, float* to) {
  std::fill_n(to, g.out_block(), 0.0f);
  for (int64_t tile = 0; tile < g.area(); ++tile) {
    const auto corner = g.CornerOf(tile);
    Vector<kBlock> values[kSide][kSide], pixels[kSide][kSide];
    Gather(from + (image * g.area() + tile) * g.out_row() + slab_block * kBlock, g.out_apart(),
           values);
    Square<InputGradient>(values, pixels);
    const int64_t h = corner.h - g.pad_h, w = corner.w - g.pad_w;
    for (int64_t i = std::max<int64_t>(0, -h); i < std::min<int64_t>(kSide, g.out.h - h); ++i) {
      for (int64_t j = std::max<int64_t>(0, -w); j < std::min<int64_t>(kSide, g.out.w - w); ++j) {
        float* pixel = to + ((h + i) * g.out.w + w + j) * kBlock;
        Vector<kBlock> sum;
        Load(pixel, sum);
        Store(sum + pixels[i][j], pixel);
      }
    }
  }
}

// Where the kernel from one block of input channels to one of output channels lies, and the blocks
// of either in a row.
struct Weights {
  const float* data;
  int64_t in_blocks;  // of the convolution's own input
  // For the gradient of the input they are transposed, and turned by 180 degrees if that is
  // computed as a convolution.
  bool transposed = false, turned = false;
};

// One block of channels of the plane that is read, one of the slab that is written.
template <int64_t kTaps, int64_t kBlock>
TENCH_WINOGRAD_SHARE void TransformKernel(const Geometry<kTaps, kBlock>& g, const Weights& w,
                                          int64_t in_block, int64_t slab_block, int64_t out_block,
                                          float* to) {
  const float* block = w.data + (w.transposed ? in_block * w.in_blocks + out_block
                                              : out_block * w.in_blocks + in_block) *
                                    kTaps * kTaps * kBlock * kBlock;
  to += (slab_block * kBlock / kPanelWidth * g.in.channels + in_block * kBlock) * kPanelWidth +
        slab_block * kBlock % kPanelWidth;
  Vector<kBlock> taps[kBlock][kTaps][kTaps];
  for (int64_t tap = 0; tap < kTaps * kTaps; ++tap) {
    Vector<kBlock> rows[kBlock];
    for (int64_t i = 0; i < kBlock; ++i) Load(block + (tap * kBlock + i) * kBlock, rows[i]);
    if (w.transposed) Transpose(rows);
    const int64_t place = w.turned ? kTaps * kTaps - 1 - tap : tap;
    for (int64_t i = 0; i < kBlock; ++i) taps[i][place / kTaps][place % kTaps] = rows[i];
  }
  const int64_t used = std::min(kBlock, g.in.channels - in_block * kBlock);
  for (int64_t i = 0; i < used; ++i) {
    Vector<kBlock> values[kSide][kSide];
    Square<ScaledValues<kTaps>>(taps[i], values);
    Scatter(values, to + i * kPanelWidth, g.kernel_apart());
  }
}

// One block of the kernels' gradient, from the sum of `count` times 36 matrices (input channel,
// output channel of the slab).
template <int64_t kTaps, int64_t kBlock>
TENCH_WINOGRAD_SHARE void CollectKernel(const Geometry<kTaps, kBlock>& g, const float* from,
                                        int64_t count, int64_t apart, int64_t in_block,
                                        int64_t slab_block, float* to) {
  const int64_t used = std::min(kBlock, g.in.channels - in_block * kBlock);
  if (used < kBlock) std::fill_n(to, kTaps * kTaps * kBlock * kBlock, 0.0f);
  for (int64_t i = 0; i < used; ++i) {
    Vector<kBlock> values[kSide][kSide], taps[kTaps][kTaps];
    const float* row = from + (in_block * kBlock + i) * g.oc_block + slab_block * kBlock;
    Gather(row, g.kernel_apart(), values);
    for (int64_t other = 1; other < count; ++other) {
      Vector<kBlock> more[kSide][kSide];
      Gather(row + other * apart, g.kernel_apart(), more);
      for (int64_t point = 0; point < kPoints; ++point)
        values[point / kSide][point % kSide] += more[point / kSide][point % kSide];
    }
    Square<ScaledResults<kTaps>>(values, taps);
    for (int64_t tap = 0; tap < kTaps * kTaps; ++tap)
      Store(taps[tap / kTaps][tap % kTaps], to + (tap * kBlock + i) * kBlock);
  }
}

#undef TENCH_WINOGRAD
#undef TENCH_WINOGRAD_SHARE

}  // namespace tench::native::winograd
