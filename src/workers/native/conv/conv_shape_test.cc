// SPDX-License-Identifier: Apache-2.0
#include "workers/native/conv/conv_shape.h"

#include <gtest/gtest.h>

namespace tench::native::conv_shape_test {
namespace {

ConvShape Grouped() {
  return {3, {3, 16, 9, 7}, {3, 24, 5, 4}, {24, {3, 5}, {2, 2}, {1, 2}, {1, 1}, 2, true}};
}

TEST(ConvShapeTest, TheKeyNamesEverythingThatAffectsSpeed) {
  ConvShape shape = Grouped();
  EXPECT_EQ(shape.Key(), "n3_i16x9x7_o24x5x4_k3x5_s2x2_p1x2_d1x1_g2_b1_a0");
  shape.activation = Activation::kRelu;
  shape.op.bias = false;
  EXPECT_EQ(shape.Key(), "n3_i16x9x7_o24x5x4_k3x5_s2x2_p1x2_d1x1_g2_b0_a1");
}

TEST(ConvShapeTest, FlopsAreTwoPerMultiplyAddOfTheDefinition) {
  EXPECT_EQ(Grouped().Flops(), 2LL * 3 * 24 * 5 * 4 * (16 / 2) * 3 * 5);
}

TEST(ConvShapeTest, GroupsAreADimensionOfTheWeights) {
  ConvShape shape = Grouped();
  EXPECT_EQ(shape.PlainWeights().get_dims(), (Shape{2, 12, 8, 3, 5}));
  shape.op.groups = 1;
  EXPECT_EQ(shape.PlainWeights().get_dims(), (Shape{24, 16, 3, 5}));
}

TEST(ConvShapeTest, TheBiasIsEmptyWithoutOne) {
  ConvShape shape = Grouped();
  EXPECT_EQ(shape.BiasMd().get_dims(), Shape{24});
  shape.op.bias = false;
  EXPECT_TRUE(shape.BiasMd().is_zero());
}

}  // namespace
}  // namespace tench::native::conv_shape_test
