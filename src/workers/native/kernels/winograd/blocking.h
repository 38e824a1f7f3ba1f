// SPDX-License-Identifier: Apache-2.0
#pragma once
// Blocking of a Winograd convolution: images are split into tiles, tiles into tile blocks, output
// channels into output-channel blocks; and the layout of the buffers U, V and M (Lavin and Gray
// 2015). Arithmetic on sizes only: not aware of memory or threads.

#include <algorithm>
#include <cstdint>

#include "workers/native/kernels/blocked_conv_shape.h"
#include "workers/native/kernels/packed_gemm.h"

namespace tench::native::winograd {

constexpr int64_t kAlpha = 6;  // α = m + r − 1: input pixels and points per dimension
constexpr int64_t kPoints = kAlpha * kAlpha;

// The images of one group.
struct Plane {
  int64_t channels;  // without padding
  int64_t blocks;
  int64_t h, w;
  int64_t image;  // floats from one image to the next
};

// One group's convolution from plane `in` to plane `out`, kTaps × kTaps, with channel blocks of
// kBlock. Backward-data is a convolution too, from dy to dx. Each buffer has 36 matrices, one per
// point:
//   V  the transformed input of a tile block, (tile, input channel)
//   U  the transformed weights of an output-channel block, in panels of packed_gemm.h (input
//      channel, 16 output channels); in backward-weights their gradient, (input channel, output
//      channel)
//   M  the products, (tile, output channel); in backward-weights the transformed dy, in panels
//      (tile, 16 output channels)
template <int64_t kTaps, int64_t kBlock>
struct Blocking {
  static constexpr int64_t kOut = kAlpha + 1 - kTaps;  // m: output pixels of a tile per dimension

  Plane in, out;
  int64_t pad_h, pad_w;
  int64_t tile_rows, tile_columns, tiles;
  int64_t tile_block = 0, oc_block = 0;  // tiles and output channels per block
  // 1: all threads work on one tile block. Otherwise each thread works on a tile block of its own.
  int64_t blocks_in_flight = 1;

  // `tiled` is the plane, one of the two, whose pixels the tiles cover without overlap.
  Blocking(const Plane& from, const Plane& to, const Plane& tiled, int64_t images, int64_t pad_rows,
           int64_t pad_columns, int64_t threads)
      : in(from),
        out(to),
        pad_h(pad_rows),
        pad_w(pad_columns),
        tile_rows((tiled.h + kOut - 1) / kOut),
        tile_columns((tiled.w + kOut - 1) / kOut),
        tiles(images * tile_rows * tile_columns) {
    const int64_t u_floats = kPoints * in.channels * PanelCount(out_channels()) * kPanelWidth;
    PlanOcBlock(u_floats, kSmallOcBlock);
    if (threads > 1 && u_floats <= kTinyOcBlock) {
      PlanTileBlock(kTinyTileBlock, 1);
      if (tile_blocks() >= 4 * threads) blocks_in_flight = threads;
      if (blocks_in_flight > 1) return;
    }
    PlanTileBlock(oc_blocks() == 1 ? kSmallTileBlock : kLargeTileBlock, kMinTiles);
    if (oc_blocks() == 1 || tile_blocks() == 1) return;
    PlanOcBlock(u_floats, u_floats <= kWholeOcBlock ? u_floats : kLargeOcBlock);
    PlanTileBlock(oc_blocks() == 1 ? kSmallTileBlock : kLargeTileBlock, kMinTiles);
  }

  int64_t in_channels() const { return in.blocks * kBlock; }  // padding included
  int64_t out_channels() const { return out.blocks * kBlock; }
  int64_t in_block() const { return in.h * in.w * kBlock; }  // floats of an image's channel block
  int64_t out_block() const { return out.h * out.w * kBlock; }
  int64_t area() const { return tile_rows * tile_columns; }
  int64_t tile_blocks() const { return (tiles + tile_block - 1) / tile_block; }
  int64_t oc_blocks() const { return (out_channels() + oc_block - 1) / oc_block; }
  void AlignTileBlockToImages() { tile_block = std::max<int64_t>(1, tile_block / area()) * area(); }

  // Strides in floats: from one row of a matrix to the next, and from one point to the next.
  int64_t v_row() const { return in_channels() + kRowPad; }
  int64_t m_row() const { return oc_block + kRowPad; }
  int64_t v_stride() const { return OddLines(tile_block * v_row()); }
  int64_t m_stride() const { return OddLines(tile_block * m_row()); }
  int64_t u_stride() const { return OddLines(in.channels * oc_block); }
  int64_t buffer_floats() const { return kPoints * (v_stride() + m_stride() + u_stride()); }

  // The tile's first output pixel.
  struct Origin {
    const int64_t image, h, w;
  };
  Origin OriginOf(int64_t tile) const {
    return {tile / area(), tile % area() / tile_columns * kOut, tile % tile_columns * kOut};
  }

 private:
  // Block sizes in floats, of V and M for tile blocks, of U for output-channel blocks. If U is one
  // block, weights are transformed once and tile blocks are small. If V is one block,
  // output-channel blocks are small. Otherwise both are large, since weights are transformed again
  // for each tile block. Tiny blocks fit a core's L2 cache.
  static constexpr int64_t kTinyTileBlock = 128 * 1024, kSmallTileBlock = 1'000'000,
                           kLargeTileBlock = 4'000'000;
  static constexpr int64_t kTinyOcBlock = 160 * 1024, kSmallOcBlock = 1'000'000,
                           kLargeOcBlock = 2'000'000, kWholeOcBlock = 2'500'000;
  static constexpr int64_t kMinTiles = 96;
  static constexpr int64_t kRowPad = 16;  // against cache-set conflicts of power-of-two strides

  // An odd number of cache lines, so that the 36 streams map to different cache sets.
  static int64_t OddLines(int64_t floats) {
    const int64_t lines = (floats + 15) / 16;
    return (lines + 1 - lines % 2) * 16;
  }
  void PlanOcBlock(int64_t u_floats, int64_t floats) {
    const int64_t panels = PanelCount(out_channels()), blocks = (u_floats + floats - 1) / floats;
    oc_block = (panels + blocks - 1) / blocks * kPanelWidth;
  }
  void PlanTileBlock(int64_t floats, int64_t min_tiles) {
    const int64_t max_tiles = std::max(min_tiles, floats / (kPoints * (v_row() + oc_block))),
                  blocks = (tiles + max_tiles - 1) / max_tiles;
    tile_block = (tiles + blocks - 1) / blocks;
  }
};

}  // namespace tench::native::winograd
