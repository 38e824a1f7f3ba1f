// SPDX-License-Identifier: Apache-2.0
#include "workers/native/kernels/blocked_conv_shape.h"

#include <gtest/gtest.h>

namespace tench::native::blocked_conv_shape_test {
namespace {

TEST(BlockedConvShapeTest, CountsPartlyUsedBlocks) {
  EXPECT_EQ(ChannelBlocks(1), 1);
  EXPECT_EQ(ChannelBlocks(8), 1);
  EXPECT_EQ(ChannelBlocks(9), 2);
  EXPECT_EQ(ChannelBlocks(16, 16), 1);
  EXPECT_EQ(ChannelBlocks(17, 16), 2);
}

}  // namespace
}  // namespace tench::native::blocked_conv_shape_test
