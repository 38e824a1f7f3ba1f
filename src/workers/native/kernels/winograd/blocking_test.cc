// SPDX-License-Identifier: Apache-2.0
#include "workers/native/kernels/winograd/blocking.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

namespace tench::native::winograd::blocking_test {
namespace {

Plane PlaneOf(int64_t channels, int64_t h, int64_t w) {
  const int64_t blocks = ChannelBlocks(channels);
  return {channels, blocks, h, w, blocks * 8 * h * w};
}
template <int64_t kTaps>
Blocking<kTaps, 8> Planned(int64_t images, int64_t in, int64_t out, int64_t size, int64_t threads) {
  const Plane from = PlaneOf(in, size, size), to = PlaneOf(out, size, size);
  return {from, to, to, images, kTaps / 2, kTaps / 2, threads};
}

TEST(WinogradBlockingTest, TilesCoverTheOutputOnce) {
  const auto blocking = Planned<3>(2, 20, 24, 13, 1);
  EXPECT_EQ(blocking.kOut, 4);
  EXPECT_EQ(blocking.area(), 16);
  EXPECT_EQ(blocking.tiles, 32);
  std::set<std::tuple<int64_t, int64_t, int64_t>> origins;
  for (int64_t tile = 0; tile < blocking.tiles; ++tile) {
    const auto origin = blocking.OriginOf(tile);
    EXPECT_EQ(origin.h % 4, 0);
    EXPECT_EQ(origin.w % 4, 0);
    EXPECT_TRUE(origin.h < 13 && origin.w < 13 && origin.image < 2);
    origins.insert({origin.image, origin.h, origin.w});
  }
  EXPECT_EQ(origins.size(), 32u);
  EXPECT_EQ(blocking.OriginOf(21).image, 1);
  EXPECT_EQ(blocking.OriginOf(21).h, 4);
  EXPECT_EQ(blocking.OriginOf(21).w, 4);
  EXPECT_EQ((Planned<5>(1, 8, 8, 9, 1).area()), 25);
}

TEST(WinogradBlockingTest, TilesOfAWideImageFollowItsRows) {
  const Plane plane = PlaneOf(8, 5, 13);  // two rows of four tiles
  const Blocking<3, 8> blocking = {plane, plane, plane, 1, 1, 1, 1};
  EXPECT_EQ(blocking.area(), 8);
  EXPECT_EQ(blocking.OriginOf(3).h, 0);
  EXPECT_EQ(blocking.OriginOf(3).w, 12);
  EXPECT_EQ(blocking.OriginOf(6).h, 4);
  EXPECT_EQ(blocking.OriginOf(6).w, 8);
}

TEST(WinogradBlockingTest, SizesCountPaddedChannels) {
  const auto blocking = Planned<3>(2, 20, 50, 12, 1);
  EXPECT_EQ(blocking.in_channels(), 24);
  EXPECT_EQ(blocking.out_channels(), 56);
  EXPECT_EQ(blocking.in_block(), 12 * 12 * 8);
  EXPECT_EQ(blocking.out_block(), 12 * 12 * 8);
  EXPECT_EQ(blocking.oc_block, 64);
  EXPECT_EQ(blocking.oc_blocks(), 1);
  EXPECT_EQ(blocking.tile_block, 18);
  EXPECT_EQ(blocking.tile_blocks(), 1);
}

TEST(WinogradBlockingTest, StridesAreOddNumbersOfCacheLines) {
  const auto blocking = Planned<3>(2, 20, 50, 12, 1);
  EXPECT_EQ(blocking.v_row(), 24 + 16);
  EXPECT_EQ(blocking.m_row(), 64 + 16);
  EXPECT_EQ(blocking.v_stride(), 45 * 16);  // 18 rows of 40 floats
  EXPECT_EQ(blocking.m_stride(), 91 * 16);  // 18 rows of 80 floats are 90 lines
  EXPECT_EQ(blocking.u_stride(), 81 * 16);  // 20 · 64 floats are 80 lines
  EXPECT_EQ(blocking.buffer_floats(), 36 * 16 * (45 + 91 + 81));
}

TEST(WinogradBlockingTest, BlocksCoverTilesAndChannels) {
  for (const int64_t threads : {1, 2, 8}) {
    for (const int64_t channels : {8, 100, 512}) {
      for (const int64_t size : {5, 28, 112}) {
        const auto blocking = Planned<3>(16, channels, channels, size, threads);
        EXPECT_EQ(blocking.oc_block % kPanelWidth, 0);
        EXPECT_GE(blocking.oc_block * blocking.oc_blocks(), blocking.out_channels());
        EXPECT_GE(blocking.tile_block * blocking.tile_blocks(), blocking.tiles);
        EXPECT_LT(blocking.tile_block * (blocking.tile_blocks() - 1), blocking.tiles);
        EXPECT_TRUE(blocking.blocks_in_flight == 1 || blocking.blocks_in_flight == threads);
      }
    }
  }
}

TEST(WinogradBlockingTest, SmallWeightsAndManyTilesRunATileBlockPerThread) {
  EXPECT_EQ(Planned<3>(64, 16, 16, 56, 2).blocks_in_flight, 2);
  EXPECT_EQ(Planned<3>(64, 16, 16, 56, 1).blocks_in_flight, 1);
  EXPECT_EQ(Planned<3>(1, 16, 16, 12, 2).blocks_in_flight, 1);
  EXPECT_EQ(Planned<3>(64, 256, 256, 56, 2).blocks_in_flight, 1);
}

TEST(WinogradBlockingTest, LargeWeightsAreSplitIntoOutputChannelBlocks) {
  EXPECT_EQ(Planned<3>(64, 512, 512, 28, 1).oc_blocks(), 5);
  EXPECT_GT(Planned<3>(64, 512, 512, 28, 1).tile_blocks(), 1);
}

TEST(WinogradBlockingTest, TileBlocksCanHoldWholeImages) {
  auto blocking = Planned<3>(64, 64, 64, 28, 1);
  blocking.AlignTileBlockToImages();
  EXPECT_EQ(blocking.tile_block % blocking.area(), 0);
  EXPECT_GE(blocking.tile_block, blocking.area());
}

}  // namespace
}  // namespace tench::native::winograd::blocking_test
