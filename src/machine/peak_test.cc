// SPDX-License-Identifier: Apache-2.0
#include "machine/peak.h"

#include <gtest/gtest.h>

#include <vector>

namespace tench::peak_test {
namespace {

TEST(PeakTest, TheTimedKernelReallyMultiplies) {
  const PeakTile tile = TileOfThisCpu();
  const int64_t depth = 5;
  std::vector<float> a, b, c(static_cast<size_t>(tile.rows * tile.columns), 1);
  for (int64_t i = 0; i < depth * tile.rows; ++i) a.push_back(static_cast<float>(i % 7) - 3);
  for (int64_t i = 0; i < depth * tile.columns; ++i) b.push_back(static_cast<float>(i % 5) - 2);
  MultiplyTile(a.data(), b.data(), c.data(), depth);
  for (int64_t row = 0; row < tile.rows; ++row) {
    for (int64_t column = 0; column < tile.columns; ++column) {
      float sum = 1;
      for (int64_t k = 0; k < depth; ++k)
        sum += a[k * tile.rows + row] * b[k * tile.columns + column];
      EXPECT_EQ(c[row * tile.columns + column], sum) << row << " " << column;
    }
  }
}

TEST(PeakTest, TellsOperationsAndBytesOfTheThreadsAskedFor) {
  const Peak peak = MeasurePeak(1);
  EXPECT_EQ(peak.threads, 1);
  EXPECT_GT(peak.flops_per_s, 0);
  EXPECT_GT(peak.bytes_per_s, 0);
  EXPECT_GT(MeasurePeakFlops(1), 0);
}

}  // namespace
}  // namespace tench::peak_test
