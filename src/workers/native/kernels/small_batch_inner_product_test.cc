// SPDX-License-Identifier: Apache-2.0
#include "workers/native/kernels/small_batch_inner_product.h"

#include "workers/native/kernels/packed_gemm.h"
#include "workers/native/kernels/test_arrays.h"

namespace tench::native::small_batch_inner_product_test {
namespace {

constexpr DenseShape kShapes[] = {{1, 3, 5}, {8, 300, 129}, {19, 131, 521}, {32, 97, 100}};

TEST(SmallBatchInnerProductTest, ForwardIsTheProductWithBiasAndRelu) {
  for (const DenseShape& shape : kShapes) {
    const std::vector<float> x = RandomArray(shape.batch * shape.in, 1),
                             w = RandomArray(shape.out * shape.in, 2),
                             bias = RandomArray(shape.out, 3, -2, 2);
    for (const bool biased : {false, true}) {
      for (const bool relu : {false, true}) {
        std::vector<double> expected(shape.batch * shape.out);
        for (int64_t at = 0; at < shape.batch * shape.out; ++at) {
          const int64_t n = at / shape.out, o = at % shape.out;
          double sum = biased ? double{bias[o]} : 0.0;
          for (int64_t i = 0; i < shape.in; ++i)
            sum += double{x[n * shape.in + i]} * w[o * shape.in + i];
          expected[at] = relu ? std::max(sum, 0.0) : sum;
        }
        for (const int threads : kThreadCounts) {
          const ThreadCount team(threads);
          GuardedArray y(shape.batch * shape.out), scratch(SmallBatchInnerProductScratch(shape));
          SmallBatchInnerProductForward(shape, x.data(), w.data(), biased ? bias.data() : nullptr,
                                        relu, y.data(), scratch.data());
          ExpectNear(y.span(), expected, 5e-5);
          EXPECT_TRUE(y.IsIntact() && scratch.IsIntact());
        }
      }
    }
  }
}

TEST(SmallBatchInnerProductTest, BackwardDataIsTheProductWithTheWeights) {
  for (const DenseShape& shape : kShapes) {
    const std::vector<float> dy = RandomArray(shape.batch * shape.out, 1),
                             w = RandomArray(shape.out * shape.in, 2);
    std::vector<double> expected(shape.batch * shape.in);
    for (int64_t at = 0; at < shape.batch * shape.in; ++at) {
      for (int64_t o = 0; o < shape.out; ++o) {
        expected[at] += double{dy[at / shape.in * shape.out + o]} * w[o * shape.in + at % shape.in];
      }
    }
    for (const int threads : kThreadCounts) {
      const ThreadCount team(threads);
      GuardedArray dx(shape.batch * shape.in), scratch(SmallBatchInnerProductScratch(shape));
      SmallBatchInnerProductBackwardData(shape, dy.data(), w.data(), dx.data(), scratch.data());
      ExpectNear(dx.span(), expected, 5e-5);
      EXPECT_TRUE(dx.IsIntact() && scratch.IsIntact());
    }
  }
}

TEST(SmallBatchInnerProductTest, IsFavouredForManyWeightsAndFewSamples) {
  const bool expected = WidestVectorsAreAvx2();
  for (const int64_t batch : {8, 16, 19, 32})
    EXPECT_EQ(FavoursSmallBatchInnerProduct({batch, 1024, 1024}), expected);
  EXPECT_FALSE(FavoursSmallBatchInnerProduct({7, 1024, 1024}));
  EXPECT_FALSE(FavoursSmallBatchInnerProduct({33, 1024, 1024}));
  EXPECT_FALSE(FavoursSmallBatchInnerProduct({16, 1023, 1024}));
}

TEST(SmallBatchInnerProductTest, ScratchHoldsThePanelsAndTheTransposedResult) {
  EXPECT_EQ(SmallBatchInnerProductScratch({19, 10, 7}), 32 * (10 + 7));
}

}  // namespace
}  // namespace tench::native::small_batch_inner_product_test
