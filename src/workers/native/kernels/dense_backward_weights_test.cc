// SPDX-License-Identifier: Apache-2.0
#include "workers/native/kernels/dense_backward_weights.h"

#include "workers/native/kernels/test_arrays.h"

namespace tench::native::dense_backward_weights_test {
namespace {

// Whole tiles, edges of tiles (6 × 16), and batches of more than one block of 256 samples.
constexpr DenseShape kShapes[] = {{1, 1, 1},     {3, 5, 7},     {2, 16, 6},    {10, 33, 13},
                                  {256, 48, 12}, {600, 37, 20}, {16, 700, 300}};

std::vector<Isa> AvailableIsas() {
  std::vector<Isa> isas = {Isa::kPortable};
  if (HasAvx2()) isas.push_back(Isa::kAvx2);
  return isas;
}

struct Layer {
  explicit Layer(const DenseShape& shape)
      : x(RandomArray(shape.batch * shape.in, 1)),
        dy(RandomArray(shape.batch * shape.out, 2)),
        gradient(shape.out * shape.in) {
    for (int64_t n = 0; n < shape.batch; ++n) {
      for (int64_t o = 0; o < shape.out; ++o) {
        for (int64_t i = 0; i < shape.in; ++i)
          gradient[o * shape.in + i] += double{dy[n * shape.out + o]} * x[n * shape.in + i];
      }
    }
  }
  const std::vector<float> x, dy;
  std::vector<double> gradient;
};

TEST(DenseBackwardWeightsTest, IsTheTransposedProduct) {
  for (const DenseShape& shape : kShapes) {
    const Layer layer(shape);
    for (const Isa isa : AvailableIsas()) {
      for (const int threads : kThreadCounts) {
        SCOPED_TRACE(testing::Message() << shape.batch << " " << shape.in << " " << shape.out
                                        << ", " << threads << " threads");
        const ThreadCount team(threads);
        GuardedArray scratch(DenseBackwardWeightsScratch(shape)), gradients(shape.out * shape.in);
        DenseBackwardWeights(shape, layer.x.data(), layer.dy.data(), scratch.data(),
                             gradients.data(), isa);
        ExpectNear(gradients.span(), layer.gradient, 1e-4);
        EXPECT_TRUE(gradients.IsIntact() && scratch.IsIntact());
      }
    }
  }
}

TEST(DenseBackwardWeightsTest, SgdAppliesTheGradientWithoutStoringIt) {
  const UpdateRule rule{0.9, 2.0, 0.05};
  for (const DenseShape& shape : kShapes) {
    const Layer layer(shape);
    const int64_t count = shape.out * shape.in;
    const std::vector<float> w = RandomArray(count, 3), m = RandomArray(count, 4);
    std::vector<double> new_w(count), new_m(count);
    for (int64_t i = 0; i < count; ++i) {
      new_m[i] = 0.9 * m[i] + 0.25 * (layer.gradient[i] + 0.05 * w[i]);
      new_w[i] = w[i] - new_m[i];
    }
    for (const Isa isa : AvailableIsas()) {
      for (const int threads : kThreadCounts) {
        const ThreadCount team(threads);
        GuardedArray scratch(DenseBackwardWeightsSgdScratch(shape)), weights(w), momenta(m);
        DenseBackwardWeightsSgd(shape, layer.x.data(), layer.dy.data(), scratch.data(),
                                weights.data(), momenta.data(), rule, 0.125, isa);
        ExpectNear(weights.span(), new_w, 1e-4);
        ExpectNear(momenta.span(), new_m, 1e-4);
        EXPECT_TRUE(weights.IsIntact() && momenta.IsIntact() && scratch.IsIntact());
      }
    }
  }
}

TEST(DenseBackwardWeightsTest, ScratchHoldsThePackedPanels) {
  const DenseShape shape{10, 33, 13};  // 3 panels of 16 columns, 3 panels of 6 rows
  EXPECT_EQ(DenseBackwardWeightsSgdScratch(shape), 10 * (3 * 16 + 3 * 6));
  const ThreadCount team(2);
  EXPECT_EQ(DenseBackwardWeightsScratch(shape), 2 * 256 * (3 * 16 + 2 * 6));
}

TEST(DenseBackwardBiasTest, IsTheSumOverTheBatch) {
  for (const DenseShape& shape :
       {DenseShape{1, 4, 3}, DenseShape{300, 1, 1000}, DenseShape{7, 2, 129}}) {
    const std::vector<float> dy = RandomArray(shape.batch * shape.out, 5);
    std::vector<double> expected(shape.out);
    for (int64_t i = 0; i < shape.batch * shape.out; ++i) expected[i % shape.out] += dy[i];
    for (const int threads : kThreadCounts) {
      const ThreadCount team(threads);
      GuardedArray gradients(shape.out);
      DenseBackwardBias(shape, dy.data(), gradients.data());
      ExpectNear(gradients.span(), expected, 1e-4);
      EXPECT_TRUE(gradients.IsIntact());
    }
  }
}

}  // namespace
}  // namespace tench::native::dense_backward_weights_test
