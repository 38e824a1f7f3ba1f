// SPDX-License-Identifier: Apache-2.0
// The memory accesses of the tile transforms. The transforms of whole images are compiled for
// several instruction sets inside the kernels' library; conv_test.cc covers them.
#include "workers/native/kernels/winograd/tile_transform.h"

#include "workers/native/kernels/test_arrays.h"

namespace tench::native::winograd::tile_transform_test {
namespace {

using Vec = VectorOf<4>::Type;

TEST(WinogradTileTest, LoadTileReadsZerosBeyondTheImage) {
  const Plane plane{4, 1, 7, 8, 7 * 8 * 4};
  const std::vector<float> image = RandomArray(7 * 8 * 4, 1);
  for (int64_t h = -2; h < 6; ++h) {
    for (int64_t w = -2; w < 7; ++w) {
      Vec tile[3][3];
      LoadTile(image.data(), plane, h, w, tile);
      for (int64_t i = 0; i < 9; ++i) {
        const int64_t row = h + i / 3, column = w + i % 3;
        const bool inside = row >= 0 && row < 7 && column >= 0 && column < 8;
        for (int64_t lane = 0; lane < 4; ++lane) {
          EXPECT_EQ(tile[i / 3][i % 3][lane], inside ? image[(row * 8 + column) * 4 + lane] : 0.0f);
        }
      }
    }
  }
}

TEST(WinogradTileTest, ScatterAndGatherVisitOneMatrixPerPoint) {
  constexpr int64_t kStride = 7;
  const std::vector<float> values = RandomArray(kPoints * 4, 1);
  Vec tile[kAlpha][kAlpha], gathered[kAlpha][kAlpha];
  for (int64_t point = 0; point < kPoints; ++point)
    Load(values.data() + point * 4, tile[point / kAlpha][point % kAlpha]);
  std::vector<float> buffer(kPoints * kStride, 99);
  Scatter(tile, buffer.data(), kStride);
  Gather(buffer.data(), kStride, gathered);
  for (int64_t point = 0; point < kPoints; ++point) {
    for (int64_t lane = 0; lane < kStride; ++lane)
      EXPECT_EQ(buffer[point * kStride + lane], lane < 4 ? values[point * 4 + lane] : 99);
    for (int64_t lane = 0; lane < 4; ++lane)
      EXPECT_EQ(gathered[point / kAlpha][point % kAlpha][lane], values[point * 4 + lane]);
  }
}

}  // namespace
}  // namespace tench::native::winograd::tile_transform_test
