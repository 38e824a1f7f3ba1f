// SPDX-License-Identifier: Apache-2.0
// Every op's gradients against central differences.
#include <gtest/gtest.h>

#include "workers/reference/kernel_probe.h"

namespace tench::gradient_test {
namespace {

// Above ten times the f32 rounding noise over 2 · epsilon, and a third of a one-percent error.
constexpr double kTolerance = 3e-3;

Convolution Conv(int64_t out, Hw kernel, Hw stride = {1, 1}, Hw pad = {0, 0}, Hw dilation = {1, 1},
                 int64_t groups = 1, bool bias = true) {
  return {out, kernel, stride, pad, dilation, groups, bias};
}

TEST(GradientTest, NoticesAnErrorOfOnePercent) {
  KernelProbe conv(2, Conv(3, {3, 3}), {DataInput({2, 5, 5})});
  EXPECT_LT(conv.Mismatch(1e-2, 1.0), kTolerance);
  EXPECT_GT(conv.Mismatch(1e-2, 1.01), kTolerance);
  EXPECT_GT(conv.Mismatch(1e-2, 0.99), kTolerance);
}

TEST(GradientTest, OfPlainConvolutionAgrees) {
  EXPECT_LT(KernelProbe(3, Conv(5, {3, 2}), {DataInput({3, 6, 5})}).Mismatch(), kTolerance);
  EXPECT_LT(KernelProbe(2, Conv(4, {1, 1}), {DataInput({5, 3, 4})}).Mismatch(), kTolerance);
}

TEST(GradientTest, OfStridedAndPaddedConvolutionAgrees) {
  EXPECT_LT(KernelProbe(2, Conv(3, {3, 3}, {2, 3}, {1, 2}), {DataInput({2, 7, 8})}).Mismatch(),
            kTolerance);
  EXPECT_LT(KernelProbe(2, Conv(3, {2, 5}, {3, 2}, {1, 4}), {DataInput({2, 6, 7})}).Mismatch(),
            kTolerance);
  EXPECT_LT(KernelProbe(2, Conv(3, {1, 1}, {2, 2}), {DataInput({2, 5, 6})}).Mismatch(), kTolerance);
}

TEST(GradientTest, OfDilatedConvolutionAgrees) {
  EXPECT_LT(
      KernelProbe(2, Conv(3, {3, 2}, {1, 2}, {2, 1}, {2, 3}), {DataInput({2, 7, 9})}).Mismatch(),
      kTolerance);
}

TEST(GradientTest, OfGroupedConvolutionAgrees) {
  EXPECT_LT(
      KernelProbe(2, Conv(6, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 2), {DataInput({4, 5, 4})}).Mismatch(),
      kTolerance);
  EXPECT_LT(
      KernelProbe(2, Conv(4, {3, 3}, {2, 2}, {1, 1}, {1, 1}, 4, false), {DataInput({4, 5, 5})})
          .Mismatch(),
      kTolerance);
}

// Values 0.1 apart in scrambled order: a step of epsilon never changes the maximum.
void Scramble(std::vector<float>& values) {
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>((i * 37 % values.size()) * 0.1) - 3;
}

TEST(GradientTest, OfMaxPoolingAgrees) {
  for (const bool ceil_mode : {false, true}) {
    KernelProbe pool(1, Pooling{PoolMode::kMax, {3, 2}, {2, 2}, {1, 0}, ceil_mode, false},
                     {DataInput({2, 6, 7})});
    Scramble(pool.input(0));
    EXPECT_LT(pool.Mismatch(), kTolerance);
  }
  KernelProbe global(1, Pooling{PoolMode::kMax, {1, 1}, {1, 1}, {0, 0}, false, true},
                     {DataInput({2, 5, 3})});
  Scramble(global.input(0));
  EXPECT_LT(global.Mismatch(), kTolerance);
}

TEST(GradientTest, OfAveragePoolingAgrees) {
  for (const bool ceil_mode : {false, true}) {
    EXPECT_LT(KernelProbe(2, Pooling{PoolMode::kAvg, {3, 3}, {2, 2}, {1, 1}, ceil_mode, false},
                          {DataInput({2, 6, 7})})
                  .Mismatch(),
              kTolerance);
  }
  EXPECT_LT(KernelProbe(2, Pooling{PoolMode::kAvg, {1, 1}, {1, 1}, {0, 0}, false, true},
                        {DataInput({3, 4, 5})})
                .Mismatch(),
            kTolerance);
}

TEST(GradientTest, OfLrnAgrees) {
  EXPECT_LT(KernelProbe(2, Lrn{5, 0.5, 0.75, 1}, {DataInput({7, 3, 2})}).Mismatch(), kTolerance);
  EXPECT_LT(KernelProbe(2, Lrn{3, 2.0, 0.5, 2}, {DataInput({2, 3, 3})}).Mismatch(), kTolerance);
  EXPECT_LT(KernelProbe(2, Lrn{3, 2.0, 0.75, 1, LrnRegion::kWithinChannel}, {DataInput({2, 4, 5})})
                .Mismatch(),
            kTolerance);
  EXPECT_LT(KernelProbe(1, Lrn{5, 0.5, 0.5, 2, LrnRegion::kWithinChannel}, {DataInput({3, 2, 6})})
                .Mismatch(),
            kTolerance);
}

TEST(GradientTest, OfActivationsAgrees) {
  EXPECT_LT(KernelProbe(3, Sigmoid{}, {DataInput({11})}).Mismatch(), kTolerance);
  EXPECT_LT(KernelProbe(3, Tanh{}, {DataInput({2, 3, 2})}).Mismatch(), kTolerance);
  KernelProbe relu(3, Relu{}, {DataInput({13})});
  for (float& x : relu.input(0)) x += x < 0 ? -0.1f : 0.1f;  // away from the kink
  EXPECT_LT(relu.Mismatch(), kTolerance);
  for (const double slope : {0.25, -0.5}) {
    KernelProbe leaky(3, Relu{slope}, {DataInput({13})});
    for (float& x : leaky.input(0)) x += x < 0 ? -0.1f : 0.1f;
    EXPECT_LT(leaky.Mismatch(), kTolerance);
  }
}

TEST(GradientTest, OfPowerAgrees) {
  EXPECT_LT(KernelProbe(3, Power{2, 0.5, -1}, {DataInput({2, 3, 2})}).Mismatch(), kTolerance);
  EXPECT_LT(KernelProbe(3, Power{1, -3, 2}, {DataInput({5})}).Mismatch(), kTolerance);
  EXPECT_LT(KernelProbe(3, Power{0, 2, 1}, {DataInput({5})}).Mismatch(), kTolerance);
  KernelProbe root(3, Power{-0.5, 2, 0.5}, {DataInput({7})});
  for (float& x : root.input(0)) x = std::abs(x) + 0.5f;
  EXPECT_LT(root.Mismatch(), kTolerance);
}

TEST(GradientTest, OfElementwiseOpsAgrees) {
  const std::vector<Input> three = {DataInput({2, 3}), DataInput({2, 3}), DataInput({2, 3})};
  EXPECT_LT(KernelProbe(2, Add{{0.5, -2, 0}}, three).Mismatch(), kTolerance);
  EXPECT_LT(KernelProbe(2, Multiply{}, three).Mismatch(), kTolerance);
  KernelProbe largest(2, Maximum{}, three);
  for (size_t i = 0; i < 36; ++i)
    largest.input(i % 3)[i / 3] = static_cast<float>((i * 7 % 36) * 0.1) - 2;
  EXPECT_LT(largest.Mismatch(), kTolerance);
}

TEST(GradientTest, OfSliceAndReshapeAgrees) {
  EXPECT_LT(KernelProbe(2, Slice{1, 3}, {DataInput({4, 2, 3})}).Mismatch(), kTolerance);
  EXPECT_LT(KernelProbe(3, Slice{2, 5}, {DataInput({5})}).Mismatch(), kTolerance);
  EXPECT_LT(KernelProbe(2, Reshape{{3, 4}}, {DataInput({2, 3, 2})}).Mismatch(), kTolerance);
}

TEST(GradientTest, OfSoftmaxAgrees) {
  EXPECT_LT(KernelProbe(3, Softmax{}, {DataInput({5})}).Mismatch(), kTolerance);
  EXPECT_LT(KernelProbe(2, Softmax{}, {DataInput({4, 3, 2})}).Mismatch(), kTolerance);
}

TEST(GradientTest, OfScaleAgrees) {
  EXPECT_LT(KernelProbe(3, Scale{true}, {DataInput({4, 3, 2})}).Mismatch(), kTolerance);
  EXPECT_LT(KernelProbe(3, Scale{false}, {DataInput({5})}).Mismatch(), kTolerance);
}

TEST(GradientTest, OfFullyConnectedAgrees) {
  EXPECT_LT(KernelProbe(3, FullyConnected{5, true}, {DataInput({7})}).Mismatch(), kTolerance);
  EXPECT_LT(KernelProbe(1, FullyConnected{9, false}, {DataInput({3})}).Mismatch(), kTolerance);
}

TEST(GradientTest, OfDropoutAgrees) {
  KernelProbe probe(4, Dropout{0.4}, {DataInput({25})});
  EXPECT_LT(probe.Mismatch(), kTolerance);
  probe.step.dropout = false;
  EXPECT_LT(probe.Mismatch(), kTolerance);
}

TEST(GradientTest, OfConcatAddAndFlattenAgrees) {
  EXPECT_LT(
      KernelProbe(2, Concat{}, {DataInput({2, 3, 2}), DataInput({1, 3, 2}), DataInput({3, 3, 2})})
          .Mismatch(),
      kTolerance);
  EXPECT_LT(
      KernelProbe(2, Add{}, {DataInput({2, 3}), DataInput({2, 3}), DataInput({2, 3})}).Mismatch(),
      kTolerance);
  EXPECT_LT(KernelProbe(2, Flatten{}, {DataInput({2, 3, 2})}).Mismatch(), kTolerance);
}

TEST(GradientTest, OfBatchNormAgrees) {
  EXPECT_LT(KernelProbe(3, BatchNorm{1e-3, 0.1}, {DataInput({2, 3, 2})}).Mismatch(), kTolerance);
  EXPECT_LT(KernelProbe(7, BatchNorm{1e-5, 0.1}, {DataInput({3})}).Mismatch(), kTolerance);
  EXPECT_LT(KernelProbe(3, BatchNorm{1e-3, 0.1, false}, {DataInput({2, 3, 2})}).Mismatch(),
            kTolerance);
}

TEST(GradientTest, OfEmbeddingAgrees) {
  EXPECT_LT(KernelProbe(3, Embedding{6, 4}, {TokenInput(5, 6)}).Mismatch(), kTolerance);
}

TEST(GradientTest, OfLstmAgrees) {
  EXPECT_LT(KernelProbe(2, Lstm{3}, {DataInput({4, 5})}).Mismatch(), kTolerance);
  EXPECT_LT(KernelProbe(3, Lstm{2}, {DataInput({1, 3})}).Mismatch(), kTolerance);
}

TEST(GradientTest, OfMeanOverTimeAgrees) {
  KernelProbe probe(3, MeanOverTime{}, {DataInput({4, 2}), LengthInput(4)});
  probe.integers(1) = {1, 4, 3};
  EXPECT_LT(probe.Mismatch(), kTolerance);
}

TEST(GradientTest, OfLossesAgrees) {
  EXPECT_LT(
      KernelProbe(4, SoftmaxCrossEntropy{0.3, false}, {DataInput({5}), LabelInput(5)}).Mismatch(),
      kTolerance);
  KernelProbe partly(4, SoftmaxCrossEntropy{0.3, false, 255}, {DataInput({5}), LabelInput(5)});
  partly.integers(1)[2] = 255;
  EXPECT_LT(partly.Mismatch(), kTolerance);
  EXPECT_LT(KernelProbe(3, SigmoidCrossEntropy{2}, {DataInput({4}), DataInput({4})}).Mismatch(),
            kTolerance);
  EXPECT_LT(KernelProbe(3, MeanSquaredError{0.5}, {DataInput({2, 3, 2}), DataInput({2, 3, 2})})
                .Mismatch(),
            kTolerance);
}

}  // namespace
}  // namespace tench::gradient_test
