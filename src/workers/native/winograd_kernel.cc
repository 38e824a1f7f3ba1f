// SPDX-License-Identifier: Apache-2.0
// Tiles are taken in lots and output channels in slabs, so that what lies between the transforms is a few megabytes. In memory the transformed
// tiles are 36 matrices (tile, channel), the kernels 46 times panels of sixteen output channels (panel_kernel.h).
#include "workers/native/winograd_kernel.h"

#include <algorithm>

#include "workers/native/cpu_features.h"
#include "workers/native/panel_kernel.h"
#include "workers/native/parallel.h"
#include "workers/native/winograd_transform.h"

namespace tench::native {

#ifdef __x86_64__
namespace {

using winograd::kSide;

constexpr int64_t kBlock = kOwnBlock;
constexpr int64_t kPoints = kSide * kSide;
// Floats of transformed tiles, of a lot, and of transformed kernels, of a slab. Where all kernels are one slab they are transformed once, and lots are
// small; where all tiles are one lot, slabs are. Otherwise both are larger, since each lot transforms kernels anew, or each slab tiles.
constexpr int64_t kSmallLot = 1'000'000, kLargeLot = 4'000'000;
constexpr int64_t kSmallSlab = 1'000'000, kLargeSlab = 2'000'000, kOnlySlab = 2'500'000;
constexpr int64_t kLeastTiles = 96;
constexpr int64_t kRowsAtOnce = 96;
constexpr int64_t kRowPad = 16;   // rows a power of two apart would meet in few sets of a cache

// Some matrices, an odd number of cache lines apart: 36 streams that would meet in one set of a cache otherwise.
int64_t Apart(int64_t floats) {
  const int64_t lines = (floats + 15) / 16;
  return (lines + 1 - lines % 2) * 16;
}

// What one group reads or writes.
struct Plane {
  int64_t channels;   // those that are there
  int64_t blocks;
  int64_t h, w;
  int64_t image;      // floats from one image to the next

  int64_t block() const { return h * w * kBlock; }
};

// One group's convolution; the gradient of the input is one too, from the output's side.
template <int kTaps>
struct Geometry {
  static constexpr int kOut = kSide + 1 - kTaps;   // results of a tile in one dimension

  Plane in, out;
  int64_t batch, pad_h, pad_w;
  int64_t tile_rows, tile_columns;
  int64_t tiles, lot_tiles, slab_channels;   // of the output

  // Tiles are `tiled`'s, which is one of the two planes.
  Geometry(const Plane& from, const Plane& to, const Plane& tiled, int64_t images, int64_t pad_down, int64_t pad_right)
      : in(from), out(to), batch(images), pad_h(pad_down), pad_w(pad_right), tile_rows((tiled.h + kOut - 1) / kOut),
        tile_columns((tiled.w + kOut - 1) / kOut), tiles(images * tile_rows * tile_columns) {
    const int64_t kernels = kPoints * in.channels * PanelCount(out.blocks * kBlock) * kPanelWidth;
    PlanSlabs(kernels, kSmallSlab);
    PlanLots(slabs() == 1 ? kSmallLot : kLargeLot);
    if (slabs() == 1 || lots() == 1) return;
    PlanSlabs(kernels, kernels <= kOnlySlab ? kernels : kLargeSlab);
    PlanLots(slabs() == 1 ? kSmallLot : kLargeLot);
  }

  int64_t lots() const { return (tiles + lot_tiles - 1) / lot_tiles; }
  int64_t slabs() const { return (out.blocks * kBlock + slab_channels - 1) / slab_channels; }
  int64_t row() const { return in.blocks * kBlock + kRowPad; }
  int64_t in_apart() const { return Apart(lot_tiles * row()); }
  int64_t out_apart() const { return Apart(lot_tiles * (slab_channels + kRowPad)); }
  int64_t kernel_apart() const { return Apart((in.channels + 1) * slab_channels); }
  int64_t scratch() const { return kPoints * (in_apart() + out_apart() + kernel_apart()); }

  void PlanSlabs(int64_t kernels, int64_t floats) {
    const int64_t panels = PanelCount(out.blocks * kBlock), wanted = (kernels + floats - 1) / floats;
    slab_channels = (panels + wanted - 1) / wanted * kPanelWidth;
  }
  void PlanLots(int64_t floats) {
    const int64_t most = std::max(kLeastTiles, floats / (kPoints * (row() + slab_channels))), wanted = (tiles + most - 1) / most;
    lot_tiles = (tiles + wanted - 1) / wanted;
  }

  struct Corner {
    const int64_t image, h, w;   // of the results
  };
  Corner CornerOf(int64_t tile) const {
    const int64_t area = tile_rows * tile_columns;
    return {tile / area, tile % area / tile_columns * kOut, tile % tile_columns * kOut};
  }
};

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
      winograd::Square<winograd::Input>(pixels, values);
      Scatter(values, to + tile * g.row() + channel, g.in_apart());
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
      winograd::Square<winograd::Values<kOut>>(pixels, values);
      Scatter(values, to.data + tile * to.tile + at / kPanelWidth * to.panel + at % kPanelWidth, to.apart);
    }
  }
}

// A mask of the first `count` lanes.
[[gnu::target("avx2,fma")]] __m256i Lanes(int64_t count) {
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
      Gather(from + tile * (g.slab_channels + kRowPad) + at, g.out_apart(), values);
      winograd::Square<winograd::Results<kOut>>(values, pixels);
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
  const int64_t area = g.tile_rows * g.tile_columns;
  for (int64_t tile = 0; tile < area; ++tile) {
    const auto corner = g.CornerOf(tile);
    __m256 values[kSide][kSide], pixels[kSide][kSide];
    Gather(from + (image * area + tile) * (g.slab_channels + kRowPad) + slab_block * kBlock, g.out_apart(), values);
    winograd::Square<winograd::InputGradient>(values, pixels);
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
    if (w.transposed) winograd::Transpose(rows);
    const int place = w.turned ? kTaps * kTaps - 1 - tap : tap;
    for (int i = 0; i < kBlock; ++i) taps[i][place / kTaps][place % kTaps] = rows[i];
  }
  const int64_t used = std::min(kBlock, g.in.channels - in_block * kBlock);
  for (int64_t i = 0; i < used; ++i) {
    __m256 values[kSide][kSide];
    winograd::Square<winograd::ScaledValues<kTaps>>(taps[i], values);
    Scatter(values, to + i * kPanelWidth, g.kernel_apart());
  }
}

// One block of the kernels' gradient, from matrices (input channel, output channel of the slab).
template <int kTaps>
[[gnu::target("avx2,fma")]] void CollectKernel(const Geometry<kTaps>& g, const float* from, int64_t in_block, int64_t slab_block, float* to) {
  const int64_t used = std::min(kBlock, g.in.channels - in_block * kBlock);
  if (used < kBlock) std::fill_n(to, kTaps * kTaps * kBlock * kBlock, 0.0f);
  for (int64_t i = 0; i < used; ++i) {
    __m256 values[kSide][kSide], taps[kTaps][kTaps];
    Gather(from + (in_block * kBlock + i) * g.slab_channels + slab_block * kBlock, g.kernel_apart(), values);
    winograd::Square<winograd::ScaledResults<kTaps>>(values, taps);
    for (int tap = 0; tap < kTaps * kTaps; ++tap) _mm256_storeu_ps(to + (tap * kBlock + i) * kBlock, taps[tap / kTaps][tap % kTaps]);
  }
}

// The 36 products, `rows` of each in pieces, split over threads. `at` has the operands of the first, the others lie `a`, `b` and `c` floats apart.
void MultiplyPoints(const PanelProduct& at, int64_t a, int64_t b, int64_t c, int64_t rows) {
  const int64_t pieces = (rows + kRowsAtOnce - 1) / kRowsAtOnce;
  ParallelFor(kPoints * pieces, 1, [&](int64_t first, int64_t last) {
    for (int64_t item = first; item < last; ++item) {
      const int64_t point = item / pieces, row = item % pieces * kRowsAtOnce;
      PanelProduct product = at;
      product.a.data += point * a + row * at.a.row_stride;
      product.panels += point * b;
      product.c += point * c + row * at.c_stride;
      Multiply(product, std::min(kRowsAtOnce, rows - row), 0, PanelCount(at.columns));
    }
  });
}

template <int kTaps>
void TransformKernels(const Geometry<kTaps>& g, const Weights& weights, int64_t channel, int64_t channels, float* to) {
  ParallelFor(channels / kBlock * g.in.blocks, 1, [&](int64_t first, int64_t last) {
    for (int64_t at = first; at < last; ++at) {
      TransformKernel(g, weights, at % g.in.blocks, at / g.in.blocks, channel / kBlock + at / g.in.blocks, to);
    }
  });
}

template <int kTaps>
void Convolve(const Geometry<kTaps>& g, const float* in, const Weights& weights, const Finish& finish, float* out, float* scratch) {
  float* const tiles = scratch;
  float* const products = tiles + kPoints * g.in_apart();
  float* const kernels = products + kPoints * g.out_apart();
  for (int64_t begin = 0; begin < g.tiles; begin += g.lot_tiles) {
    const int64_t count = std::min(g.lot_tiles, g.tiles - begin);
    ParallelFor(count, 1, [&](int64_t first, int64_t last) { TransformInput(g, in, begin, first, last, tiles); });
    for (int64_t channel = 0; channel < g.out.blocks * kBlock; channel += g.slab_channels) {
      const int64_t channels = std::min(g.slab_channels, g.out.blocks * kBlock - channel);
      // Those of a single slab are there since the first lot.
      if (begin == 0 || g.slabs() > 1) TransformKernels(g, weights, channel, channels, kernels);
      MultiplyPoints({{tiles, g.row(), 1}, kernels, g.in.channels, channels, products, g.slab_channels + kRowPad, false}, g.in_apart(),
                     g.kernel_apart(), g.out_apart(), count);
      ParallelFor(count, 1, [&](int64_t first, int64_t last) {
        TransformOutput(g, products, begin, first, last, channel, channels, finish, out);
      });
    }
  }
}

// The gradient of the input as the transposed map of the forward pass, which has as many tiles as that: fewer than as a convolution where
// the image was not padded. One slab, lots of whole images.
template <int kTaps>
void TransposedConvolve(const Geometry<kTaps>& g, const float* dy, const Weights& weights, float* dx, float* scratch) {
  float* const tiles = scratch;
  float* const products = tiles + kPoints * g.in_apart();
  float* const kernels = products + kPoints * g.out_apart();
  const int64_t channels = g.out.blocks * kBlock;
  TransformKernels(g, weights, 0, channels, kernels);
  for (int64_t begin = 0; begin < g.tiles; begin += g.lot_tiles) {
    const int64_t count = std::min(g.lot_tiles, g.tiles - begin), area = g.tile_rows * g.tile_columns;
    ParallelFor(count, 1, [&](int64_t first, int64_t last) {
      TransformGradient(g, g.in, dy, begin, first, last, 0, g.in.blocks * kBlock, {tiles, g.row(), kPanelWidth, g.in_apart()});
    });
    MultiplyPoints({{tiles, g.row(), 1}, kernels, g.in.channels, channels, products, g.slab_channels + kRowPad, false}, g.in_apart(),
                   g.kernel_apart(), g.out_apart(), count);
    ParallelFor(count / area * g.out.blocks, 1, [&](int64_t first, int64_t last) {
      for (int64_t at = first; at < last; ++at) {
        const int64_t image = at / g.out.blocks, block = at % g.out.blocks;
        AddInputGradient(g, products, image, block, dx + (begin / area + image) * g.out.image + block * g.out.block());
      }
    });
  }
}

template <int kTaps>
void Gradient(const Geometry<kTaps>& g, const float* x, const float* dy, float* dw, float* scratch) {
  float* const tiles = scratch;
  float* const gradients = tiles + kPoints * g.in_apart();
  float* const sums = gradients + kPoints * g.out_apart();
  const int64_t in_blocks = g.in.blocks;
  for (int64_t channel = 0; channel < g.out.blocks * kBlock; channel += g.slab_channels) {
    const int64_t channels = std::min(g.slab_channels, g.out.blocks * kBlock - channel);
    for (int64_t begin = 0; begin < g.tiles; begin += g.lot_tiles) {
      const int64_t count = std::min(g.lot_tiles, g.tiles - begin);
      if (channel == 0 || g.lots() > 1) ParallelFor(count, 1, [&](int64_t first, int64_t last) { TransformInput(g, x, begin, first, last, tiles); });
      ParallelFor(count, 1, [&](int64_t first, int64_t last) {
        TransformGradient(g, g.out, dy, begin, first, last, channel, channels, {gradients, kPanelWidth, count * kPanelWidth, g.out_apart()});
      });
      MultiplyPoints({{tiles, 1, g.row()}, gradients, count, channels, sums, g.slab_channels, begin > 0}, g.in_apart(), g.out_apart(),
                     g.kernel_apart(), g.in.channels);
    }
    ParallelFor(channels / kBlock * in_blocks, 1, [&](int64_t first, int64_t last) {
      for (int64_t at = first; at < last; ++at) {
        CollectKernel(g, sums, at % in_blocks, at / in_blocks, dw + (channel / kBlock * in_blocks + at) * kTaps * kTaps * kBlock * kBlock);
      }
    });
  }
}

Plane PlaneOf(const OwnConvShape& s, int64_t channels, int64_t h, int64_t w) {
  const int64_t blocks = OwnBlocks(channels / s.groups);
  return {channels / s.groups, blocks, h, w, s.groups * blocks * h * w * kBlock};
}
Plane InPlane(const OwnConvShape& s) { return PlaneOf(s, s.in_channels, s.in_h, s.in_w); }
Plane OutPlane(const OwnConvShape& s) { return PlaneOf(s, s.out_channels, s.out_h, s.out_w); }

template <int kTaps>
Geometry<kTaps> Onward(const OwnConvShape& s) {
  return {InPlane(s), OutPlane(s), OutPlane(s), s.batch, s.pad_h, s.pad_w};
}
template <int kTaps>
Geometry<kTaps> Backward(const OwnConvShape& s) {
  return {OutPlane(s), InPlane(s), InPlane(s), s.batch, kTaps - 1 - s.pad_h, kTaps - 1 - s.pad_w};
}
template <int kTaps>
Geometry<kTaps> Transposed(const OwnConvShape& s) {
  Geometry<kTaps> geometry(OutPlane(s), InPlane(s), OutPlane(s), s.batch, s.pad_h, s.pad_w);
  const int64_t area = geometry.tile_rows * geometry.tile_columns;
  geometry.lot_tiles = std::max<int64_t>(1, geometry.lot_tiles / area) * area;
  return geometry;
}
// Whether that is worth it: what overlaps costs more per tile.
template <int kTaps>
bool HasFewerTransposed(const OwnConvShape& s) {
  const Geometry<kTaps> geometry = Transposed<kTaps>(s);
  return 3 * geometry.tiles < 2 * Backward<kTaps>(s).tiles && geometry.slabs() == 1;
}

// Calls visit(x offset, y offset, weight offset, first output channel) for each group.
template <class Visit>
void ForEachGroup(const OwnConvShape& s, const Visit& visit) {
  const Plane in = InPlane(s), out = OutPlane(s);
  const int64_t weights = in.blocks * out.blocks * s.kernel_h * s.kernel_w * kBlock * kBlock;
  for (int64_t g = 0; g < s.groups; ++g) visit(g * in.blocks * in.block(), g * out.blocks * out.block(), g * weights, g * out.channels);
}

// Calls run(an integral constant) with the kernel's taps in one dimension.
template <class Run>
auto WithTaps(const OwnConvShape& shape, const Run& run) {
  return shape.kernel_h == 3 ? run(std::integral_constant<int, 3>()) : run(std::integral_constant<int, 5>());
}

}  // namespace

bool HasWinograd(const OwnConvShape& s) {
  const bool taps = s.kernel_h == s.kernel_w && (s.kernel_h == 3 || s.kernel_h == 5);
  const bool steps = s.stride_h == 1 && s.stride_w == 1 && s.dilation_h == 1 && s.dilation_w == 1;
  const bool borders = s.pad_h < s.kernel_h && s.pad_w < s.kernel_w;
  const bool blocks = s.groups == 1 || (s.in_channels / s.groups % kBlock == 0 && s.out_channels / s.groups % kBlock == 0);
  return HasAvx2() && taps && steps && borders && !s.plain_in && blocks && std::min(s.in_channels, s.out_channels) >= kBlock;
}

int64_t WinogradScratch(const OwnConvShape& shape) {
  return WithTaps(shape, [&](auto taps) {
    return std::max(Onward<taps>(shape).scratch(), HasFewerTransposed<taps>(shape) ? Transposed<taps>(shape).scratch() : Backward<taps>(shape).scratch());
  });
}

void WinogradForward(const OwnConvShape& shape, const float* x, const float* w, const float* bias, bool relu, float* y, float* scratch) {
  WithTaps(shape, [&](auto taps) {
    const Geometry<taps> geometry = Onward<taps>(shape);
    ForEachGroup(shape, [&](int64_t in, int64_t out, int64_t weight, int64_t channel) {
      Convolve(geometry, x + in, {w + weight, geometry.in.blocks}, {bias == nullptr ? nullptr : bias + channel, relu}, y + out, scratch);
    });
  });
}

void WinogradData(const OwnConvShape& shape, const float* dy, const float* w, float* dx, float* scratch) {
  WithTaps(shape, [&](auto taps) {
    const bool transposed = HasFewerTransposed<taps>(shape);
    const Geometry<taps> geometry = transposed ? Transposed<taps>(shape) : Backward<taps>(shape);
    ForEachGroup(shape, [&](int64_t in, int64_t out, int64_t weight, int64_t) {
      if (transposed)
        TransposedConvolve(geometry, dy + out, {w + weight, geometry.out.blocks, true, false}, dx + in, scratch);
      else
        Convolve(geometry, dy + out, {w + weight, geometry.out.blocks, true, true}, {}, dx + in, scratch);
    });
  });
}

void WinogradGradient(const OwnConvShape& shape, const float* x, const float* dy, float* dw, float* scratch) {
  WithTaps(shape, [&](auto taps) {
    const Geometry<taps> geometry = Onward<taps>(shape);
    ForEachGroup(shape, [&](int64_t in, int64_t out, int64_t weight, int64_t) { Gradient(geometry, x + in, dy + out, dw + weight, scratch); });
  });
}
#else
bool HasWinograd(const OwnConvShape&) { return false; }
int64_t WinogradScratch(const OwnConvShape&) { return 0; }
void WinogradForward(const OwnConvShape&, const float*, const float*, const float*, bool, float*, float*) {}
void WinogradData(const OwnConvShape&, const float*, const float*, float*, float*) {}
void WinogradGradient(const OwnConvShape&, const float*, const float*, float*, float*) {}
#endif

}  // namespace tench::native
