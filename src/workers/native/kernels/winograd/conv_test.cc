// SPDX-License-Identifier: Apache-2.0
#include "workers/native/kernels/winograd/conv.h"

#include "workers/native/kernels/conv_definition.h"
#include "workers/native/kernels/cpu_features.h"

namespace tench::native::conv_test {
namespace {

constexpr double kRounding = 5e-6;  // relative, of the root mean square

class WinogradTest : public testing::TestWithParam<NamedShape> {
 protected:
  void SetUp() override {
    if (!HasAvx2()) GTEST_SKIP() << "this CPU has no AVX2";
    ASSERT_TRUE(HasWinograd(shape));
  }
  // Compares run(result, scratch) with the definition, for 1 to 3 threads.
  template <class Run>
  void Check(const std::vector<double>& expected, const Run& run) {
    for (const int threads : kThreadCounts) {
      SCOPED_TRACE(threads);
      const ThreadCount team(threads);
      GuardedArray found(static_cast<int64_t>(expected.size())), scratch(WinogradScratch(shape));
      run(found.data(), scratch.data());
      EXPECT_LT(RelativeError(found.span(), expected), kRounding);
      EXPECT_TRUE(found.IsIntact() && scratch.IsIntact());
    }
  }
  const BlockedConvShape shape = GetParam().shape;
  const ConvDefinition conv{shape};
};

TEST_P(WinogradTest, Forward) {
  std::vector<double> expected = conv.Forward();
  Check(expected, [&](float* y, float* scratch) {
    WinogradForward(shape, conv.x.data(), conv.w.data(), nullptr, false, y, scratch);
  });
  const std::vector<float> bias = RandomArray(shape.out_channels, 7, -3, 3);
  for (int64_t n = 0; n < shape.batch; ++n) {
    for (int64_t o = 0; o < shape.out_channels; ++o) {
      for (int64_t p = 0; p < shape.out_h * shape.out_w; ++p) {
        double& y = expected[conv.OutputAt(n, o, p)];
        y = std::max(0.0, y + bias[o]);
      }
    }
  }
  Check(expected, [&](float* y, float* scratch) {
    WinogradForward(shape, conv.x.data(), conv.w.data(), bias.data(), true, y, scratch);
  });
}

TEST_P(WinogradTest, BackwardData) {
  Check(conv.BackwardData(), [&](float* dx, float* scratch) {
    WinogradBackwardData(shape, conv.dy.data(), conv.w.data(), dx, scratch);
  });
}

TEST_P(WinogradTest, BackwardWeights) {
  Check(conv.BackwardWeights(), [&](float* dw, float* scratch) {
    WinogradBackwardWeights(shape, conv.x.data(), conv.dy.data(), dw, scratch);
  });
}

// Every CPU with AVX2 runs both block sizes, with the vectors that it has.
NamedShape InWideBlocks(NamedShape named) {
  named.shape.block = 16;
  return {named.name + "_in_wide_blocks", named.shape};
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, WinogradTest,
    testing::Values(
        NamedShape{"three", Shaped(2, 1, 16, 24, 12, 8, 3, 1, 1, 1)},
        NamedShape{"tiles_beyond_the_edge", Shaped(2, 1, 16, 32, 13, 7, 3, 1, 1, 1)},
        NamedShape{"unpadded", Shaped(1, 1, 8, 16, 9, 11, 3, 1, 0, 1)},
        NamedShape{"padded_by_all_but_one", Shaped(1, 1, 8, 8, 5, 6, 3, 1, 2, 1)},
        NamedShape{"five", Shaped(2, 1, 16, 40, 9, 10, 5, 1, 2, 1)},
        NamedShape{"five_unpadded", Shaped(1, 1, 24, 16, 8, 8, 5, 1, 0, 1)},
        NamedShape{"groups", Shaped(2, 2, 48, 32, 6, 6, 5, 1, 2, 1)},
        NamedShape{"channels_that_fill_no_block", Shaped(3, 1, 20, 50, 12, 12, 5, 1, 0, 1)},
        NamedShape{"one_channel_more", Shaped(2, 1, 17, 9, 6, 6, 3, 1, 1, 1)},
        NamedShape{"unpadded_in_tile_blocks", Shaped(40, 1, 24, 64, 12, 12, 5, 1, 0, 1)},
        NamedShape{"unpadded_groups", Shaped(2, 2, 16, 16, 7, 8, 5, 1, 0, 1)},
        InWideBlocks({"three", Shaped(2, 1, 32, 48, 12, 9, 3, 1, 1, 1)}),
        InWideBlocks({"five", Shaped(2, 1, 16, 40, 9, 10, 5, 1, 2, 1)}),
        InWideBlocks({"channels_that_fill_no_block", Shaped(9, 1, 20, 50, 12, 12, 5, 1, 0, 1)}),
        InWideBlocks({"groups", Shaped(2, 2, 96, 32, 6, 6, 3, 1, 1, 1)}),
        NamedShape{"several_tile_blocks", Shaped(2, 1, 64, 48, 56, 44, 3, 1, 1, 1)},
        NamedShape{"several_oc_blocks", Shaped(1, 1, 400, 392, 5, 5, 3, 1, 1, 1)},
        NamedShape{"smaller_than_a_tile", Shaped(3, 1, 8, 8, 2, 2, 5, 1, 2, 1)}),
    [](const auto& param) { return param.param.name; });

TEST(WinogradShapeTest, IsFavouredForManyTiles) {
  if (!HasAvx2()) GTEST_SKIP() << "this CPU has no AVX2";
  EXPECT_FALSE(FavoursWinograd(Shaped(1, 1, 64, 64, 14, 14, 3, 1, 1, 1)));  // 16 tiles
  EXPECT_TRUE(FavoursWinograd(Shaped(1, 1, 64, 64, 16, 24, 3, 1, 1, 1)));   // 24 tiles
  EXPECT_TRUE(FavoursWinograd(Shaped(2, 1, 64, 64, 14, 14, 3, 1, 1, 1)));
  EXPECT_FALSE(FavoursWinograd(Shaped(64, 1, 64, 64, 14, 14, 3, 2, 1, 1)));
}

TEST(WinogradShapeTest, RejectsUnsupportedShapes) {
  EXPECT_EQ(HasWinograd(Shaped(1, 1, 8, 8, 9, 9, 3, 1, 1, 1)), HasAvx2());
  EXPECT_FALSE(HasWinograd(Shaped(1, 1, 8, 8, 9, 9, 3, 2, 1, 1)));
  EXPECT_FALSE(HasWinograd(Shaped(1, 1, 8, 8, 9, 9, 3, 1, 2, 2)));
  EXPECT_FALSE(HasWinograd(Shaped(1, 1, 8, 8, 9, 9, 7, 1, 3, 1)));
  EXPECT_FALSE(HasWinograd(Shaped(1, 1, 8, 4, 9, 9, 3, 1, 1, 1)));
  EXPECT_FALSE(HasWinograd(Shaped(1, 2, 24, 16, 9, 9, 3, 1, 1, 1)));
  EXPECT_FALSE(HasWinograd(Shaped(1, 1, 8, 8, 9, 9, 3, 1, 3, 1)));
}

TEST(WinogradShapeTest, ScratchHoldsUVAndMOfOneTileBlock) {
  const ThreadCount team(1);
  // Forward needs the most: V has 6 tiles of 16 + 16 floats, M of 32 + 16, and U 16 · 32 floats,
  // each rounded up to an odd number of cache lines, for 36 points.
  EXPECT_EQ(WinogradScratch(Shaped(1, 1, 16, 24, 12, 8, 3, 1, 1, 1)), 36 * 16 * (13 + 19 + 33));
}

}  // namespace
}  // namespace tench::native::conv_test
