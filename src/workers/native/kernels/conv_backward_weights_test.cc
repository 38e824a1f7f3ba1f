// SPDX-License-Identifier: Apache-2.0
#include "workers/native/kernels/conv_backward_weights.h"

#include "workers/native/kernels/conv_definition.h"
#include "workers/native/kernels/cpu_features.h"

namespace tench::native::conv_backward_weights_test {
namespace {

NamedShape Plain(NamedShape named) {
  named.shape.plain_in = true;
  return {"plain_" + named.name, named.shape};
}

class ConvBackwardWeightsTest : public testing::TestWithParam<NamedShape> {};

TEST_P(ConvBackwardWeightsTest, IsTheDefinition) {
  const BlockedConvShape shape = GetParam().shape;
  if (!HasAvx2()) GTEST_SKIP() << "this CPU has no AVX2";
  ASSERT_TRUE(HasConvBackwardWeights(shape));
  const ConvDefinition conv(shape);
  const std::vector<double> expected = conv.BackwardWeights();
  for (const int threads : kThreadCounts) {
    SCOPED_TRACE(threads);
    const ThreadCount count(threads);
    GuardedArray dw(static_cast<int64_t>(expected.size())),
        scratch(ConvBackwardWeightsScratch(shape, threads));
    ConvBackwardWeights(shape, conv.x.data(), conv.dy.data(), dw.data(), scratch.data());
    ExpectNear(dw.span(), expected, 2e-4);
    EXPECT_TRUE(dw.IsIntact());
    EXPECT_TRUE(scratch.IsIntact());
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, ConvBackwardWeightsTest, testing::ValuesIn(BlockedShapes()),
                         [](const auto& param) { return param.param.name; });

INSTANTIATE_TEST_SUITE_P(
    PlainShapes, ConvBackwardWeightsTest,
    testing::Values(Plain({"one_channel", Shaped(3, 1, 1, 20, 28, 28, 5, 1, 0, 1)}),
                    Plain({"strided_by_four", Shaped(3, 1, 3, 96, 47, 47, 11, 4, 0, 1)}),
                    Plain({"padded", Shaped(3, 1, 3, 16, 21, 21, 7, 2, 3, 1)}),
                    Plain({"dilated", Shaped(3, 1, 2, 8, 12, 12, 3, 1, 2, 2)}),
                    Plain({"one_by_one", Shaped(3, 1, 4, 9, 9, 9, 1, 1, 0, 1)})),
    [](const auto& param) { return param.param.name; });

TEST(ConvBackwardWeightsShapeTest, RejectsUnsupportedShapes) {
  EXPECT_FALSE(HasConvBackwardWeights(Shaped(1, 1, 7, 16, 9, 9, 3, 1, 1, 1)));
  EXPECT_FALSE(HasConvBackwardWeights(Shaped(1, 1, 8, 7, 9, 9, 3, 1, 1, 1)));
  EXPECT_FALSE(HasConvBackwardWeights(Shaped(1, 2, 24, 16, 9, 9, 3, 1, 1, 1)));
  EXPECT_FALSE(HasConvBackwardWeights(Shaped(1, 2, 16, 24, 9, 9, 3, 1, 1, 1)));
  EXPECT_FALSE(
      HasConvBackwardWeights(Plain({"groups", Shaped(1, 2, 16, 16, 9, 9, 3, 1, 1, 1)}).shape));
  EXPECT_EQ(HasConvBackwardWeights(Shaped(1, 2, 16, 16, 9, 9, 3, 1, 1, 1)), HasAvx2());
}

TEST(ConvBackwardWeightsShapeTest, ScratchHoldsTheCopiedPixelsOfEachThread) {
  // 24 KiB of L1 hold all 9 rows: 3 taps · 9 rows · 9 columns · 8 channels.
  const BlockedConvShape copied = Shaped(1, 1, 8, 24, 9, 9, 3, 1, 1, 1);
  EXPECT_EQ(ConvBackwardWeightsScratch(copied, 1), 3 * 9 * 9 * 8);
  EXPECT_EQ(ConvBackwardWeightsScratch(copied, 3), 3 * 3 * 9 * 9 * 8);
  EXPECT_EQ(ConvBackwardWeightsScratch(Shaped(1, 1, 8, 24, 9, 9, 1, 1, 0, 1), 3), 0);
}

TEST(ConvBackwardBiasTest, IsTheSumOverImagesAndPixels) {
  for (const int64_t block : {8, 16}) {
    for (const int64_t out : {8, 20, 50}) {
      BlockedConvShape shape = Shaped(3, 1, 8, out, 40, 41, 3, 1, 1, 1);
      shape.block = block;
      const ConvDefinition conv(shape);
      const std::vector<double> expected = conv.BackwardBias();
      for (const int threads : kThreadCounts) {
        const ThreadCount count(threads);
        GuardedArray db(out);
        ConvBackwardBias(shape, conv.dy.data(), db.data());
        ExpectNear(db.span(), expected, 1e-3);
        EXPECT_TRUE(db.IsIntact());
      }
    }
  }
}

}  // namespace
}  // namespace tench::native::conv_backward_weights_test
