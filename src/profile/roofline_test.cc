// SPDX-License-Identifier: Apache-2.0
#include "profile/roofline.h"

#include <gtest/gtest.h>

#include "profile/test_profile.h"

namespace tench::roofline_test {
namespace {

TEST(RooflineTest, IntensityAndRateAreThoseOfOneKernel) {
  const std::vector<RooflinePoint> points = RooflineOf(FusingSide().census);
  ASSERT_EQ(points.size(), 5u) << "kernels without FLOPs have no point";
  EXPECT_EQ(points[0].layer, "conv2");
  EXPECT_DOUBLE_EQ(points[0].step_ns, 2'000'000);
  const auto winograd = std::find_if(points.begin(), points.end(),
                                     [](const RooflinePoint& point) { return point.effective; });
  ASSERT_NE(winograd, points.end());
  EXPECT_EQ(winograd->implementation, "winograd:avx2");
  EXPECT_DOUBLE_EQ(winograd->intensity, 800'000'000.0 / 64);
  EXPECT_DOUBLE_EQ(winograd->flops_per_s, 1e11);
  EXPECT_FALSE(winograd->bytes_from_shapes);
}

TEST(RooflineTest, BytesFromShapesAreMarked) {
  for (const RooflinePoint& point : RooflineOf(PlainSide().census))
    EXPECT_TRUE(point.bytes_from_shapes) << point.layer;
}

TEST(RooflineTest, ABandwidthRisesToTheArithmeticCeiling) {
  const std::vector<Ceiling> ceilings = {{"avx2", 1, 1e12, 0, false}, {"L1", 1, 0, 1e11, false}};
  EXPECT_EQ(ArithmeticCeiling(ceilings), 1e12);
  EXPECT_DOUBLE_EQ(AllowedBy(ceilings[1], 2, 1e12), 2e11);
  EXPECT_DOUBLE_EQ(AllowedBy(ceilings[1], 1000, 1e12), 1e12);
  EXPECT_DOUBLE_EQ(AllowedBy(ceilings[0], 2, 1e12), 1e12);
  EXPECT_EQ(ArithmeticCeiling({}), std::nullopt);
}

}  // namespace
}  // namespace tench::roofline_test
