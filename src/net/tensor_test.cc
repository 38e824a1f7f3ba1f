// SPDX-License-Identifier: Apache-2.0
#include "net/tensor.h"

#include <gtest/gtest.h>

#include <limits>

namespace tench::tensor_test {
namespace {

TEST(TensorTest, CountsElements) {
  EXPECT_EQ(ElementCount({}), 1);
  EXPECT_EQ(ElementCount({64, 3, 224, 224}), 9'633'792);
  EXPECT_EQ(ElementCount({5, 0, 7}), 0);
}

TEST(TensorTest, CountStopsAtTheLargestIntegerInsteadOfOverflowing) {
  EXPECT_EQ(ElementCount({int64_t{1} << 40, int64_t{1} << 40}),
            std::numeric_limits<int64_t>::max());
}

TEST(TensorTest, PrintsShapes) {
  EXPECT_EQ(ToString(Shape{64, 1, 28, 28}), "64x1x28x28");
  EXPECT_EQ(ToString(Shape{7}), "7");
  EXPECT_EQ(ToString(Shape{}), "scalar");
}

}  // namespace
}  // namespace tench::tensor_test
