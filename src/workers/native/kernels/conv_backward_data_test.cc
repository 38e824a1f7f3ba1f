// SPDX-License-Identifier: Apache-2.0
#include "workers/native/kernels/conv_backward_data.h"

#include "workers/native/kernels/conv_definition.h"
#include "workers/native/kernels/cpu_features.h"

namespace tench::native::conv_backward_data_test {
namespace {

class ConvBackwardDataTest : public testing::TestWithParam<NamedShape> {};

TEST_P(ConvBackwardDataTest, IsTheDefinition) {
  const BlockedConvShape shape = GetParam().shape;
  if (!HasAvx2()) GTEST_SKIP() << "this CPU has no AVX2";
  ASSERT_TRUE(HasConvBackwardData(shape));
  const ConvDefinition conv(shape);
  const std::vector<double> expected = conv.BackwardData();
  for (const int threads : kThreadCounts) {
    SCOPED_TRACE(threads);
    const ThreadCount count(threads);
    GuardedArray dx(static_cast<int64_t>(expected.size())),
        scratch(ConvBackwardDataScratch(shape, threads));
    ConvBackwardData(shape, conv.dy.data(), conv.w.data(), dx.data(), scratch.data());
    ExpectNear(dx.span(), expected, 1e-4);
    EXPECT_TRUE(dx.IsIntact());
    EXPECT_TRUE(scratch.IsIntact());
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, ConvBackwardDataTest, testing::ValuesIn(BlockedShapes()),
                         [](const auto& param) { return param.param.name; });

TEST(ConvBackwardDataShapeTest, RejectsUnsupportedShapes) {
  BlockedConvShape plain = Shaped(1, 1, 3, 16, 9, 9, 3, 1, 1, 1);
  plain.plain_in = true;
  EXPECT_FALSE(HasConvBackwardData(plain));
  EXPECT_FALSE(HasConvBackwardData(Shaped(1, 1, 7, 16, 9, 9, 3, 1, 1, 1)));
  EXPECT_FALSE(HasConvBackwardData(Shaped(1, 1, 8, 7, 9, 9, 3, 1, 1, 1)));
  EXPECT_FALSE(HasConvBackwardData(Shaped(1, 2, 24, 16, 9, 9, 3, 1, 1, 1)));
  EXPECT_EQ(HasConvBackwardData(Shaped(1, 1, 8, 8, 9, 9, 3, 1, 1, 1)), HasAvx2());
}

TEST(ConvBackwardDataShapeTest, ScratchHoldsThePanelsAndTheColumnsOfEachThread) {
  // 3·3 taps · 8 channels = 72 columns, in 5 panels of 16; 24 output channels; 12 pixels.
  const BlockedConvShape shape = Shaped(1, 1, 8, 24, 9, 9, 3, 1, 1, 1);
  EXPECT_EQ(ConvBackwardDataScratch(shape, 1), 5 * 16 * 24 + 12 * 5 * 16);
  EXPECT_EQ(ConvBackwardDataScratch(shape, 3), 5 * 16 * 24 + 3 * 12 * 5 * 16);
}

}  // namespace
}  // namespace tench::native::conv_backward_data_test
