// SPDX-License-Identifier: Apache-2.0
#include "workers/native/kernels/max_pool.h"

#include <limits>

#include "workers/native/kernels/cpu_features.h"
#include "workers/native/kernels/test_arrays.h"

namespace tench::native::max_pool_test {
namespace {

TEST(MaxPoolTest, TakesTheFirstMaximumAndGivesItTheGradient) {
  for (const MaxPoolShape& shape :
       {MaxPoolShape{2, 2, 3, 2, 3, 8}, MaxPoolShape{3, 5, 7, 2, 2, 16},
        MaxPoolShape{1, 1, 1, 16, 16, 8}, MaxPoolShape{6, 31, 33, 3, 1, 8}}) {
    if (!HasAvx2()) GTEST_SKIP() << "this CPU has no AVX2";
    ASSERT_TRUE(HasMaxPool(shape));
    const int64_t in_w = shape.out_w * shape.kernel_w,
                  outputs = shape.planes * shape.out_h * shape.out_w * shape.block;
    std::vector<float> x(outputs * shape.kernel_h * shape.kernel_w);
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<float>(i * 7919 % 5) - 3;  // many maxima are equal
    // First in its window, and second.
    x[3] = x[shape.block + 5] = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> dy = RandomArray(outputs, 1);
    std::vector<double> expected_y(outputs), expected_dx(x.size());
    std::vector<uint8_t> expected_which(outputs);
    for (int64_t at = 0; at < outputs; ++at) {
      const int64_t c = at % shape.block, w = at / shape.block % shape.out_w,
                    row = at / shape.block / shape.out_w;
      int64_t best = -1;
      for (int64_t k = 0; k < shape.kernel_h * shape.kernel_w; ++k) {
        const int64_t from = ((row * shape.kernel_h + k / shape.kernel_w) * in_w +
                              w * shape.kernel_w + k % shape.kernel_w) *
                                 shape.block +
                             c;
        if (best < 0 || x[from] > x[best] || std::isnan(x[from])) {
          best = from;
          expected_which[at] = static_cast<uint8_t>(k);
        }
      }
      expected_y[at] = x[best];
      expected_dx[best] = dy[at];
    }
    for (const int threads : kThreadCounts) {
      const ThreadCount team(threads);
      GuardedArray y(outputs), dx(static_cast<int64_t>(x.size()));
      std::vector<uint8_t> which(outputs, 255);
      MaxPoolForward(shape, x.data(), y.data(), which.data());
      MaxPoolBackward(shape, dy.data(), which.data(), dx.data());
      ExpectNear(y.span(), expected_y, 0);
      EXPECT_EQ(which, expected_which);
      ExpectNear(dx.span(), expected_dx, 0);
      EXPECT_TRUE(y.IsIntact() && dx.IsIntact());
    }
  }
}

TEST(MaxPoolTest, RejectsUnsupportedShapes) {
  EXPECT_EQ(HasMaxPool({1, 1, 1, 16, 16, 8}), HasAvx2());
  EXPECT_FALSE(HasMaxPool({1, 1, 1, 16, 17, 8}));
  EXPECT_FALSE(HasMaxPool({1, 1, 1, 2, 2, 4}));
}

}  // namespace
}  // namespace tench::native::max_pool_test
