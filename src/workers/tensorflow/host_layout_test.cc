// SPDX-License-Identifier: Apache-2.0
#include "workers/tensorflow/host_layout.h"

#include <gtest/gtest.h>

#include <numeric>

#include "workers/tensorflow/window.h"

namespace tench::tensorflow::host_layout_test {
namespace {

TEST(HostLayoutTest, PutsChannelsLastAndBack) {
  const HostLayout nhwc = MakeLayout({1, 2, 2, 3}, {0, 2, 3, 1});
  EXPECT_EQ(nhwc.PhysicalSizes(), (Shape{1, 2, 3, 2}));
  std::vector<float> logical(12), physical(12), back(12);
  std::iota(logical.begin(), logical.end(), 0.0f);
  ToPhysical(nhwc, logical, physical);
  EXPECT_EQ(physical, (std::vector<float>{0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11}));
  ToLogical(nhwc, physical, back);
  EXPECT_EQ(back, logical);
}

TEST(HostLayoutTest, ComesBackFromEveryOrderOfFourSizes) {
  std::vector<float> logical(2 * 3 * 4 * 5), physical(logical.size()), back(logical.size());
  std::iota(logical.begin(), logical.end(), 0.0f);
  std::vector<int> order{0, 1, 2, 3};
  do {
    const HostLayout layout = MakeLayout({2, 3, 4, 5}, order);
    ToPhysical(layout, logical, physical);
    ToLogical(layout, physical, back);
    EXPECT_EQ(back, logical);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(HostLayoutTest, MovesNothingWhereOnlySizesOfOneChangePlaces) {
  EXPECT_TRUE(MakeLayout({4, 1, 5, 6}, {0, 2, 3, 1}).plain());
  EXPECT_TRUE(MakeLayout({4, 7, 1, 1}, {0, 2, 3, 1}).plain());
  EXPECT_EQ(MakeLayout({4, 7, 1, 1}, {0, 2, 3, 1}).PhysicalSizes(), (Shape{4, 1, 1, 7}));
  EXPECT_FALSE(MakeLayout({4, 7, 1, 2}, {0, 2, 3, 1}).plain());
}

TEST(WindowTest, KnowsWhichPaddingTensorFlowHasANameFor) {
  EXPECT_TRUE((Reach{8, 4, 2, 2, 0}.valid()));
  EXPECT_TRUE((Reach{112, 56, 3, 2, 0}.same()));  // Caffe's ceil mode: one behind
  EXPECT_FALSE((Reach{112, 56, 3, 2, 0}.valid()));
  EXPECT_FALSE((Reach{112, 56, 3, 2, 1}.same()));  // one before: ResNet's first pool
  EXPECT_EQ((Reach{112, 56, 3, 2, 1}.behind()), 0);
  EXPECT_TRUE((Reach{7, 7, 3, 1, 1}.same()));
}

TEST(WindowTest, CountsForAnAverageThePaddingButNotWhatRunsBeyondIt) {
  const Reach ceiled{8, 5, 3, 2, 1};  // the last window is 7, 8 (padding) and 9 (beyond)
  EXPECT_EQ(ceiled.Counted(0), 3);
  EXPECT_EQ(ceiled.Counted(4), 2);
}

}  // namespace
}  // namespace tench::tensorflow::host_layout_test
