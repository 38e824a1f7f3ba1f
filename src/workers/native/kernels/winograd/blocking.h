// SPDX-License-Identifier: Apache-2.0
#pragma once
// How a convolution in Winograd's form is cut: images into tiles, tiles into lots, output channels
// into slabs; and where what lies between the transforms is kept. Pure arithmetic.

#include <algorithm>
#include <cstdint>

#include "workers/native/kernels/blocked_conv_shape.h"
#include "workers/native/kernels/packed_gemm.h"

namespace tench::native::winograd {

constexpr int64_t kSide = 6;  // points in one dimension, and pixels of a tile's input
constexpr int64_t kPoints = kSide * kSide;

// What one group reads or writes.
struct Plane {
  int64_t channels;  // those that are there
  int64_t blocks;
  int64_t h, w;
  int64_t image;  // floats from one image to the next
};

// One group's convolution from one plane to another; the gradient of the input is one too, from the
// output's side.
//
// In memory the transformed tiles of a lot are 36 matrices (tile, channel), those of the other side
// too, or panels of sixteen channels; the kernels of a slab are 36 times panels of sixteen output
// channels (panel_kernel.h), their gradient 36 matrices (input channel, output channel). kTaps ×
// kTaps kernels, channels in blocks of kBlock.
template <int64_t kTaps, int64_t kBlock>
struct Geometry {
  static constexpr int64_t kOut = kSide + 1 - kTaps;  // results of a tile in one dimension

  Plane in, out;
  int64_t pad_h, pad_w;
  int64_t tile_rows, tile_columns, tiles;
  int64_t tile_block = 0, oc_block = 0;  // the latter of the output
  int64_t workers =
      1;  // more than one: so many threads have lots of their own, instead of all working on one

  // Tiles are `tiled`'s, which is one of the two planes.
  Geometry(const Plane& from, const Plane& to, const Plane& tiled, int64_t images, int64_t pad_down,
           int64_t pad_right, int64_t threads)
      : in(from),
        out(to),
        pad_h(pad_down),
        pad_w(pad_right),
        tile_rows((tiled.h + kOut - 1) / kOut),
        tile_columns((tiled.w + kOut - 1) / kOut),
        tiles(images * tile_rows * tile_columns) {
    const int64_t kernels = kPoints * in.channels * PanelCount(out_channels()) * kPanelWidth;
    PlanSlabs(kernels, kSmallSlab);
    if (threads > 1 && kernels <= kTinySlab) {
      PlanLots(kTinyLot, 1);
      if (lots() >= 4 * threads) workers = threads;
      if (workers > 1) return;
    }
    PlanLots(slabs() == 1 ? kSmallLot : kLargeLot, kLeastTiles);
    if (slabs() == 1 || lots() == 1) return;
    PlanSlabs(kernels, kernels <= kOnlySlab ? kernels : kLargeSlab);
    PlanLots(slabs() == 1 ? kSmallLot : kLargeLot, kLeastTiles);
  }

  int64_t in_channels() const { return in.blocks * kBlock; }  // with those that fill up a block
  int64_t out_channels() const { return out.blocks * kBlock; }
  int64_t in_block() const { return in.h * in.w * kBlock; }  // floats of a block of an image
  int64_t out_block() const { return out.h * out.w * kBlock; }
  int64_t area() const { return tile_rows * tile_columns; }
  int64_t lots() const { return (tiles + tile_block - 1) / tile_block; }
  int64_t slabs() const { return (out_channels() + oc_block - 1) / oc_block; }
  void LotsOfWholeImages() { tile_block = std::max<int64_t>(1, tile_block / area()) * area(); }

  // Floats from one row of a matrix to the next, and from one of the 36 to the next.
  int64_t in_row() const { return in_channels() + kRowPad; }
  int64_t out_row() const { return oc_block + kRowPad; }
  int64_t in_apart() const { return Apart(tile_block * in_row()); }
  int64_t out_apart() const { return Apart(tile_block * out_row()); }
  int64_t kernel_apart() const { return Apart(in.channels * oc_block); }
  int64_t worker_floats() const { return kPoints * (in_apart() + out_apart() + kernel_apart()); }

  struct Corner {
    const int64_t image, h, w;  // of the results
  };
  Corner CornerOf(int64_t tile) const {
    return {tile / area(), tile % area() / tile_columns * kOut, tile % tile_columns * kOut};
  }

 private:
  // Floats of transformed tiles, of a lot, and of transformed kernels, of a slab. Where all kernels
  // are one slab they are transformed once, and lots are small; where all tiles are one lot, slabs
  // are. Otherwise both are larger, since each lot transforms kernels anew, or each slab tiles.
  // Tiny ones fit a core's second-level cache, or nearly.
  static constexpr int64_t kTinyLot = 128 * 1024, kSmallLot = 1'000'000, kLargeLot = 4'000'000;
  static constexpr int64_t kTinySlab = 160 * 1024, kSmallSlab = 1'000'000, kLargeSlab = 2'000'000,
                           kOnlySlab = 2'500'000;
  static constexpr int64_t kLeastTiles = 96;
  static constexpr int64_t kRowPad =
      16;  // rows a power of two apart would meet in few sets of a cache

  // An odd number of cache lines: 36 streams would meet in one set of a cache otherwise.
  static int64_t Apart(int64_t floats) {
    const int64_t lines = (floats + 15) / 16;
    return (lines + 1 - lines % 2) * 16;
  }
  void PlanSlabs(int64_t kernels, int64_t floats) {
    const int64_t panels = PanelCount(out_channels()), wanted = (kernels + floats - 1) / floats;
    oc_block = (panels + wanted - 1) / wanted * kPanelWidth;
  }
  void PlanLots(int64_t floats, int64_t least) {
    const int64_t most = std::max(least, floats / (kPoints * (in_row() + oc_block))),
                  wanted = (tiles + most - 1) / most;
    tile_block = (tiles + wanted - 1) / wanted;
  }
};

}  // namespace tench::native::winograd
