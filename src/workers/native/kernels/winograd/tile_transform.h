// SPDX-License-Identifier: Apache-2.0
#pragma once
// The transforms of transform.h applied between channel-blocked images or weights and the buffers
// U, V and M of blocking.h. A call computes a range of tiles, or one channel block, on the calling
// thread.
//
// Thread safety: calls for disjoint tiles or blocks write disjoint memory.

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
TENCH_WINOGRAD void Scatter(const Vec (&from)[kAlpha][kAlpha], float* to, int64_t point_stride) {
#pragma GCC unroll 6
  for (int64_t i = 0; i < kAlpha; ++i) {
#pragma GCC unroll 6
    for (int64_t j = 0; j < kAlpha; ++j) Store(from[i][j], to + (i * kAlpha + j) * point_stride);
  }
}

template <class Vec>
TENCH_WINOGRAD void Gather(const float* from, int64_t point_stride, Vec (&to)[kAlpha][kAlpha]) {
#pragma GCC unroll 6
  for (int64_t i = 0; i < kAlpha; ++i) {
#pragma GCC unroll 6
    for (int64_t j = 0; j < kAlpha; ++j) Load(from + (i * kAlpha + j) * point_stride, to[i][j]);
  }
}

// V = Bᵀ x B for tiles [first, last) of the tile block that begins with tile `begin`.
template <int64_t kTaps, int64_t kBlock>
TENCH_WINOGRAD_SHARE void TransformInput(const Blocking<kTaps, kBlock>& g, const float* in,
                                         int64_t begin, int64_t first, int64_t last, float* to) {
  for (int64_t tile = first; tile < last; ++tile) {
    const auto origin = g.OriginOf(begin + tile);
    const float* block = in + origin.image * g.in.image;
    for (int64_t channel = 0; channel < g.in_channels(); channel += kBlock, block += g.in_block()) {
      Vector<kBlock> pixels[kAlpha][kAlpha], values[kAlpha][kAlpha];
      LoadTile(block, g.in, origin.h - g.pad_h, origin.w - g.pad_w, pixels);
      Transform2d<InputTransform>(pixels, values);
      Scatter(values, to + tile * g.v_row() + channel, g.v_stride());
    }
  }
}

// The destination of transformed tiles, matrices (tile, channel) or panels (tile, 16 channels), and
// its strides in floats.
struct Target {
  float* data;
  int64_t tile, panel, point;
};

// A dy Aᵀ for `channels` channels from `channel` on.
template <int64_t kTaps, int64_t kBlock>
TENCH_WINOGRAD_SHARE void TransformOutputGradient(const Blocking<kTaps, kBlock>& g,
                                                  const Plane& plane, const float* dy,
                                                  int64_t begin, int64_t first, int64_t last,
                                                  int64_t channel, int64_t channels,
                                                  const Target& to) {
  constexpr int64_t kOut = Blocking<kTaps, kBlock>::kOut;
  for (int64_t tile = first; tile < last; ++tile) {
    const auto origin = g.OriginOf(begin + tile);
    const float* block = dy + origin.image * plane.image + channel * plane.h * plane.w;
    for (int64_t at = 0; at < channels; at += kBlock, block += plane.h * plane.w * kBlock) {
      Vector<kBlock> pixels[kOut][kOut], values[kAlpha][kAlpha];
      LoadTile(block, plane, origin.h, origin.w, pixels);
      Transform2d<OutputTransformTransposed<kOut>>(pixels, values);
      Scatter(values, to.data + tile * to.tile + at / kPanelWidth * to.panel + at % kPanelWidth,
              to.point);
    }
  }
}

struct PostOps {
  const float* bias = nullptr;  // of the group; null: none
  bool relu = false;
};

// y = Aᵀ M A + bias for `channels` channels from `channel` on.
template <int64_t kTaps, int64_t kBlock>
TENCH_WINOGRAD_SHARE void TransformOutput(const Blocking<kTaps, kBlock>& g, const float* from,
                                          int64_t begin, int64_t first, int64_t last,
                                          int64_t channel, int64_t channels, const PostOps& post,
                                          float* out) {
  constexpr int64_t kOut = Blocking<kTaps, kBlock>::kOut;
  for (int64_t tile = first; tile < last; ++tile) {
    const auto origin = g.OriginOf(begin + tile);
    const int64_t rows = std::min<int64_t>(kOut, g.out.h - origin.h),
                  columns = std::min<int64_t>(kOut, g.out.w - origin.w);
    float* to = out + origin.image * g.out.image + (origin.h * g.out.w + origin.w) * kBlock +
                channel / kBlock * g.out_block();
    for (int64_t at = 0; at < channels; at += kBlock, to += g.out_block()) {
      Vector<kBlock> values[kAlpha][kAlpha], pixels[kOut][kOut];
      Gather(from + tile * g.m_row() + at, g.m_stride(), values);
      Transform2d<OutputTransform<kOut>>(values, pixels);
      float lanes[kBlock] = {};
      if (post.bias != nullptr)
        std::copy_n(post.bias + channel + at, std::min(kBlock, g.out.channels - channel - at),
                    lanes);
      Vector<kBlock> bias;
      Load(lanes, bias);
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < columns; ++j) {
          const Vector<kBlock> sum = pixels[i][j] + bias;
          Store(post.relu ? (sum > 0 ? sum : Vector<kBlock>{}) : sum,
                to + (i * g.out.w + j) * kBlock);
        }
      }
    }
  }
}

// dx = Σ B M Bᵀ over the overlapping tiles of one image and one channel block. The tile block holds
// whole images.
template <int64_t kTaps, int64_t kBlock>
TENCH_WINOGRAD_SHARE void AddInputGradient(const Blocking<kTaps, kBlock>& g, const float* from,
                                           int64_t image, int64_t block_in_oc_block, float* to) {
  std::fill_n(to, g.out_block(), 0.0f);
  for (int64_t tile = 0; tile < g.area(); ++tile) {
    const auto origin = g.OriginOf(tile);
    Vector<kBlock> values[kAlpha][kAlpha], pixels[kAlpha][kAlpha];
    Gather(from + (image * g.area() + tile) * g.m_row() + block_in_oc_block * kBlock, g.m_stride(),
           values);
    Transform2d<InputTransformTransposed>(values, pixels);
    const int64_t h = origin.h - g.pad_h, w = origin.w - g.pad_w;
    for (int64_t i = std::max<int64_t>(0, -h); i < std::min<int64_t>(kAlpha, g.out.h - h); ++i) {
      for (int64_t j = std::max<int64_t>(0, -w); j < std::min<int64_t>(kAlpha, g.out.w - w); ++j) {
        float* pixel = to + ((h + i) * g.out.w + w + j) * kBlock;
        Vector<kBlock> sum;
        Load(pixel, sum);
        Store(sum + pixels[i][j], pixel);
      }
    }
  }
}

// The weights of one group. Backward-data reads them transposed (input and output channels
// swapped), and rotated by 180° if it is computed as a convolution.
struct Weights {
  const float* data;
  int64_t in_blocks;  // input-channel blocks of the forward convolution
  bool transposed = false, rotated = false;
};

// U = G w Gᵀ for one input-channel block and one output-channel block, which is number
// `block_in_oc_block` of the buffer.
template <int64_t kTaps, int64_t kBlock>
TENCH_WINOGRAD_SHARE void TransformWeightBlock(const Blocking<kTaps, kBlock>& g, const Weights& w,
                                               int64_t in_block, int64_t block_in_oc_block,
                                               int64_t out_block, float* to) {
  const float* block = w.data + (w.transposed ? in_block * w.in_blocks + out_block
                                              : out_block * w.in_blocks + in_block) *
                                    kTaps * kTaps * kBlock * kBlock;
  to +=
      (block_in_oc_block * kBlock / kPanelWidth * g.in.channels + in_block * kBlock) * kPanelWidth +
      block_in_oc_block * kBlock % kPanelWidth;
  Vector<kBlock> taps[kBlock][kTaps][kTaps];
  for (int64_t tap = 0; tap < kTaps * kTaps; ++tap) {
    Vector<kBlock> rows[kBlock];
    for (int64_t i = 0; i < kBlock; ++i) Load(block + (tap * kBlock + i) * kBlock, rows[i]);
    if (w.transposed) Transpose(rows);
    const int64_t position = w.rotated ? kTaps * kTaps - 1 - tap : tap;
    for (int64_t i = 0; i < kBlock; ++i) taps[i][position / kTaps][position % kTaps] = rows[i];
  }
  const int64_t used = std::min(kBlock, g.in.channels - in_block * kBlock);
  for (int64_t i = 0; i < used; ++i) {
    Vector<kBlock> values[kAlpha][kAlpha];
    Transform2d<WeightTransform<kTaps>>(taps[i], values);
    Scatter(values, to + i * kPanelWidth, g.u_stride());
  }
}

// dw = Gᵀ (Σ U) G for one input-channel block and one output-channel block, where the sum is over
// `count` buffers that are `buffer_stride` floats apart.
template <int64_t kTaps, int64_t kBlock>
TENCH_WINOGRAD_SHARE void CollectWeightGradient(const Blocking<kTaps, kBlock>& g, const float* from,
                                                int64_t count, int64_t buffer_stride,
                                                int64_t in_block, int64_t block_in_oc_block,
                                                float* to) {
  const int64_t used = std::min(kBlock, g.in.channels - in_block * kBlock);
  if (used < kBlock) std::fill_n(to, kTaps * kTaps * kBlock * kBlock, 0.0f);
  for (int64_t i = 0; i < used; ++i) {
    Vector<kBlock> values[kAlpha][kAlpha], taps[kTaps][kTaps];
    const float* row = from + (in_block * kBlock + i) * g.oc_block + block_in_oc_block * kBlock;
    Gather(row, g.u_stride(), values);
    for (int64_t other = 1; other < count; ++other) {
      Vector<kBlock> more[kAlpha][kAlpha];
      Gather(row + other * buffer_stride, g.u_stride(), more);
      for (int64_t point = 0; point < kPoints; ++point)
        values[point / kAlpha][point % kAlpha] += more[point / kAlpha][point % kAlpha];
    }
    Transform2d<WeightTransformTransposed<kTaps>>(values, taps);
    for (int64_t tap = 0; tap < kTaps * kTaps; ++tap)
      Store(taps[tap / kTaps][tap % kTaps], to + (tap * kBlock + i) * kBlock);
  }
}

#undef TENCH_WINOGRAD
#undef TENCH_WINOGRAD_SHARE

}  // namespace tench::native::winograd
