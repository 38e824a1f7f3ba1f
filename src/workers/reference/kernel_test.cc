// SPDX-License-Identifier: Apache-2.0
// Cases computed by hand, and behaviour that a gradient check cannot cover.
#include "workers/reference/kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "workers/reference/kernel_probe.h"

namespace tench::kernel_test {
namespace {

using testing::ElementsAre;
using testing::FloatEq;
using testing::FloatNear;
using testing::Pointwise;

TEST(KernelTest, ConvolutionDoesNotFlipItsFilters) {
  KernelProbe conv(1, Convolution{1, {2, 2}, {1, 1}, {0, 0}, {1, 1}, 1, true},
                   {DataInput({1, 3, 3})});
  conv.input(0) = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  conv.parameter(0) = {1, 10, 100, 1000};
  conv.parameter(1) = {0.5};
  conv.Forward();
  EXPECT_THAT(conv.output(), ElementsAre(5421.5, 6532.5, 8754.5, 9865.5));
}

TEST(KernelTest, ConvolutionPadsStridesAndDilates) {
  KernelProbe conv(1, Convolution{1, {1, 2}, {1, 2}, {0, 1}, {1, 2}, 1, false},
                   {DataInput({1, 1, 5})});
  conv.input(0) = {1, 2, 3, 4, 5};
  conv.parameter(0) = {1, 10};
  conv.Forward();
  // Windows over 0 1 2 3 4 5 0 at 0, 2 and 4, each reading its first and third element.
  EXPECT_THAT(conv.output(), ElementsAre(20, 42, 4));
}

TEST(KernelTest, ConvolutionGroupsSeeOnlyTheirOwnChannels) {
  KernelProbe conv(1, Convolution{2, {1, 1}, {1, 1}, {0, 0}, {1, 1}, 2, false},
                   {DataInput({4, 1, 1})});
  conv.input(0) = {1, 2, 3, 4};
  conv.parameter(0) = {1, 10, 100, 1000};
  conv.Forward();
  EXPECT_THAT(conv.output(), ElementsAre(21, 4300));
}

TEST(KernelTest, MaxPoolingIgnoresPaddingAndGivesTiesToTheFirst) {
  KernelProbe pool(1, Pooling{PoolMode::kMax, {2, 2}, {2, 2}, {1, 1}, false, false},
                   {DataInput({1, 3, 3})});
  pool.input(0) = {-1, -2, -2, -4, -3, -3, -4, -3, -3};
  pool.Forward();
  EXPECT_THAT(pool.output(), ElementsAre(-1, -2, -4, -3));
  pool.output_gradient() = {1, 2, 3, 4};
  pool.Backward();
  EXPECT_THAT(pool.input_gradient(0), ElementsAre(1, 2, 0, 3, 4, 0, 0, 0, 0));
}

TEST(KernelTest, MaxPoolingPassesNaNOn) {
  KernelProbe pool(1, Pooling{PoolMode::kMax, {1, 3}, {1, 1}, {0, 0}, false, false},
                   {DataInput({1, 1, 3})});
  pool.input(0) = {1, std::numeric_limits<float>::quiet_NaN(), 5};
  pool.Forward();
  EXPECT_TRUE(std::isnan(pool.output()[0]));
}

TEST(KernelTest, AveragePoolingCountsPaddingButNotWhatLiesBeyondIt) {
  // Ceil mode: windows of 3 at -1, 1 and 3 over 4 pixels with padding 1. The last one extends two
  // pixels beyond the padded row.
  KernelProbe pool(1, Pooling{PoolMode::kAvg, {1, 3}, {1, 2}, {0, 1}, true, false},
                   {DataInput({1, 1, 4})});
  pool.input(0) = {1, 2, 3, 5};
  pool.Forward();
  EXPECT_THAT(pool.output(), ElementsAre(FloatEq(1), FloatEq(10.0f / 3), FloatEq(2.5f)));
}

TEST(KernelTest, GlobalPoolingCoversTheImage) {
  KernelProbe pool(1, Pooling{PoolMode::kAvg, {1, 1}, {1, 1}, {0, 0}, false, true},
                   {DataInput({2, 1, 2})});
  pool.input(0) = {1, 2, 30, 40};
  pool.Forward();
  EXPECT_THAT(pool.output(), ElementsAre(1.5, 35));
}

TEST(KernelTest, LrnDividesAlphaByTheSize) {
  KernelProbe lrn(1, Lrn{3, 3.0, 0.5, 2}, {DataInput({3, 1, 1})});
  lrn.input(0) = {1, 2, 3};
  lrn.Forward();
  EXPECT_THAT(lrn.output(),
              ElementsAre(FloatEq(static_cast<float>(1 / std::sqrt(7.0))), FloatEq(0.5f),
                          FloatEq(static_cast<float>(3 / std::sqrt(15.0)))));
}

TEST(KernelTest, ReluGradientIsZeroAtZero) {
  KernelProbe relu(1, Relu{}, {DataInput({3})});
  relu.input(0) = {-1, 0, 2};
  relu.output_gradient() = {1, 1, 1};
  relu.Forward();
  relu.Backward();
  EXPECT_THAT(relu.output(), ElementsAre(0, 0, 2));
  EXPECT_THAT(relu.input_gradient(0), ElementsAre(0, 0, 1));
}

TEST(KernelTest, LrnWithinAChannelDividesByTheWholeWindowAtTheBorderToo) {
  KernelProbe lrn(1, Lrn{3, 9, 1, 1, LrnRegion::kWithinChannel}, {DataInput({2, 1, 3})});
  lrn.input(0) = {1, 2, 3, 10, 0, 0};
  lrn.Forward();
  // 1 + 9 / 9 · Σ x² over the window in the row; the channel has no other rows.
  EXPECT_THAT(lrn.output(),
              Pointwise(FloatEq(), {1.0f / 6, 2.0f / 15, 3.0f / 14, 10.0f / 101, 0.0f, 0.0f}));
}

TEST(KernelTest, ALeakyReluScalesWhatIsBelowZeroAndItsSlopeAtZeroIsTheNegativeOne) {
  KernelProbe relu(1, Relu{0.5}, {DataInput({3})});
  relu.input(0) = {-2, 0, 3};
  relu.output_gradient() = {10, 10, 10};
  relu.Forward();
  relu.Backward();
  EXPECT_THAT(relu.output(), ElementsAre(-1, 0, 3));
  EXPECT_THAT(relu.input_gradient(0), ElementsAre(5, 5, 10));
}

TEST(KernelTest, PowerRaisesTheShiftedAndScaledInput) {
  KernelProbe power(1, Power{2, 3, 1}, {DataInput({2})});
  power.input(0) = {1, -1};
  power.Forward();
  EXPECT_THAT(power.output(), ElementsAre(16, 4));
}

TEST(KernelTest, AProductsGradientIsRightWhereAnInputIsZero) {
  KernelProbe product(1, Multiply{}, {DataInput({2}), DataInput({2})});
  product.input(0) = {0, 3};
  product.input(1) = {5, 7};
  product.output_gradient() = {1, 1};
  product.Forward();
  product.Backward();
  EXPECT_THAT(product.output(), ElementsAre(0, 21));
  EXPECT_THAT(product.input_gradient(0), ElementsAre(5, 7));
  EXPECT_THAT(product.input_gradient(1), ElementsAre(0, 3));
}

TEST(KernelTest, AMaximumPassesNaNOn) {
  KernelProbe largest(1, Maximum{}, {DataInput({2}), DataInput({2})});
  largest.input(0) = {std::numeric_limits<float>::quiet_NaN(), 3};
  largest.input(1) = {5, std::numeric_limits<float>::quiet_NaN()};
  largest.Forward();
  EXPECT_THAT(largest.output(), testing::Each(testing::IsNan()));
}

TEST(KernelTest, SliceGoesAlongTheSecondDimension) {
  KernelProbe slice(2, Slice{1, 2}, {DataInput({3, 1, 2})});
  slice.input(0) = {1, 2, 3, 4, 5, 6, 11, 12, 13, 14, 15, 16};
  slice.Forward();
  EXPECT_THAT(slice.output(), ElementsAre(3, 4, 13, 14));
}

TEST(KernelTest, SoftmaxGoesAlongTheSecondDimensionAndStandsLargeScores) {
  KernelProbe softmax(1, Softmax{}, {DataInput({2, 1, 2})});
  softmax.input(0) = {1000, 0, 1000, 200};
  softmax.Forward();
  EXPECT_THAT(softmax.output(), ElementsAre(0.5, 0, 0.5, 1));
}

TEST(KernelTest, AnIgnoredLabelCountsNeitherAboveNorBelowTheLine) {
  KernelProbe loss(2, SoftmaxCrossEntropy{1, false, -1}, {DataInput({4}), LabelInput(4)});
  loss.input(0) = {1, 1, 1, 1, 9, 8, 7, 6};
  loss.integers(1) = {2, -1};
  loss.Forward();
  EXPECT_NEAR(loss.loss(), std::log(4.0), 1e-6);
  loss.Backward();
  EXPECT_THAT(loss.input_gradient(0), ElementsAre(0.25, 0.25, -0.75, 0.25, 0, 0, 0, 0));
  loss.integers(1) = {-1, -1};
  loss.Forward();
  loss.Backward();
  EXPECT_EQ(loss.loss(), 0);
  EXPECT_THAT(loss.input_gradient(0), testing::Each(0));
}

TEST(KernelTest, FullyConnectedIsXTimesWTransposedPlusB) {
  KernelProbe fc(2, FullyConnected{2, true}, {DataInput({3})});
  fc.input(0) = {1, 2, 3, 4, 5, 6};
  fc.parameter(0) = {1, 10, 100, 2, 20, 200};
  fc.parameter(1) = {0.5, -0.5};
  fc.Forward();
  EXPECT_THAT(fc.output(), ElementsAre(321.5, 641.5, 654.5, 1307.5));
}

TEST(KernelTest, ConcatGoesAlongTheSecondDimension) {
  KernelProbe concat(2, Concat{}, {DataInput({1}), DataInput({2})});
  concat.input(0) = {1, 4};
  concat.input(1) = {2, 3, 5, 6};
  concat.Forward();
  EXPECT_THAT(concat.output(), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(KernelTest, BatchNormUsesTheBiasedVarianceAndKeepsTheUnbiasedOne) {
  KernelProbe norm(4, BatchNorm{1e-9, 0.1}, {DataInput({1})});
  norm.input(0) = {1, 2, 3, 6};  // mean 3, squares 14: biased variance 3.5, unbiased 14 / 3
  norm.parameter(0) = {2};
  norm.parameter(1) = {10};
  norm.parameter(2) = {5};
  norm.parameter(3) = {1};
  norm.Forward();
  const double deviation = std::sqrt(3.5);
  EXPECT_THAT(norm.output(), Pointwise(FloatNear(1e-5f), {10 - 4 / deviation, 10 - 2 / deviation,
                                                          10.0, 10 + 6 / deviation}));
  EXPECT_FLOAT_EQ(norm.parameter(2)[0], static_cast<float>(0.9 * 5 + 0.1 * 3));
  EXPECT_FLOAT_EQ(norm.parameter(3)[0], static_cast<float>(0.9 * 1 + 0.1 * 14 / 3));
}

TEST(KernelTest, BatchNormInfersWithRunningStatisticsAndLeavesThem) {
  KernelProbe norm(2, BatchNorm{0.25, 0.1}, {DataInput({1})});
  norm.input(0) = {1, 7};
  norm.parameter(0) = {3};
  norm.parameter(1) = {-1};
  norm.parameter(2) = {4};
  norm.parameter(3) = {2};
  norm.step.training = false;
  norm.Forward();
  EXPECT_THAT(norm.output(), ElementsAre(FloatEq(-7), FloatEq(5)));
  EXPECT_EQ(norm.parameter(2)[0], 4);
  EXPECT_EQ(norm.parameter(3)[0], 2);
}

TEST(KernelTest, DropoutZeroesItsShareAndScalesSurvivors) {
  constexpr int64_t kCount = 20000;
  constexpr double kRatio = 0.3;
  KernelProbe dropout(1, Dropout{kRatio}, {DataInput({kCount})});
  std::fill(dropout.input(0).begin(), dropout.input(0).end(), 1.0f);
  dropout.Forward();
  const std::vector<float> first = dropout.output();
  const auto zeros = std::count(first.begin(), first.end(), 0.0f);
  EXPECT_NEAR(static_cast<double>(zeros), kRatio * kCount,
              3 * std::sqrt(kCount * kRatio * (1 - kRatio)));
  EXPECT_EQ(std::count(first.begin(), first.end(), static_cast<float>(1 / (1 - kRatio))),
            kCount - zeros);
  dropout.step.step = 1;
  dropout.Forward();
  EXPECT_NE(dropout.output(), first);
  dropout.step.step = 0;
  dropout.Forward();
  EXPECT_EQ(dropout.output(), first);
  dropout.step.training = false;
  dropout.Forward();
  EXPECT_EQ(dropout.output(), dropout.input(0));
}

TEST(KernelTest, EmbeddingSumsTheGradientOfARepeatedToken) {
  KernelProbe embedding(1, Embedding{3, 2}, {TokenInput(3, 3)});
  embedding.integers(0) = {2, 0, 2};
  embedding.parameter(0) = {1, 2, 3, 4, 5, 6};
  embedding.output_gradient() = {1, 2, 10, 20, 100, 200};
  embedding.Forward();
  embedding.Backward();
  EXPECT_THAT(embedding.output(), ElementsAre(5, 6, 1, 2, 5, 6));
  EXPECT_THAT(embedding.parameter_gradient(0), ElementsAre(10, 20, 0, 0, 101, 202));
}

TEST(KernelTest, LstmTakesItsGatesInTheOrderInputForgetCellOutput) {
  KernelProbe lstm(1, Lstm{1}, {DataInput({2, 1})});
  lstm.input(0) = {1, -2};
  lstm.parameter(0) = {0.1f, 0.2f, 0.3f, 0.4f};
  lstm.parameter(1) = {0.5f, 0.6f, 0.7f, 0.8f};
  lstm.parameter(2) = {0.01f, 0.02f, 0.03f, 0.04f};
  lstm.Forward();
  const auto logistic = [](double x) { return 1 / (1 + std::exp(-x)); };
  const double c1 = logistic(0.11) * std::tanh(0.33), h1 = logistic(0.44) * std::tanh(c1);
  const double in = logistic(-0.2 + 0.5 * h1 + 0.01), forget = logistic(-0.4 + 0.6 * h1 + 0.02);
  const double c2 = forget * c1 + in * std::tanh(-0.6 + 0.7 * h1 + 0.03);
  EXPECT_NEAR(lstm.output()[0], h1, 1e-6);
  EXPECT_NEAR(lstm.output()[1], logistic(-0.8 + 0.8 * h1 + 0.04) * std::tanh(c2), 1e-6);
}

TEST(KernelTest, MeanOverTimeStopsAtEachSequencesOwnLength) {
  KernelProbe mean(2, MeanOverTime{}, {DataInput({3, 1}), LengthInput(3)});
  mean.input(0) = {1, 3, 100, 2, 4, 9};
  mean.integers(1) = {2, 3};
  mean.Forward();
  EXPECT_THAT(mean.output(), ElementsAre(2, 5));
}

TEST(KernelTest, SoftmaxCrossEntropyOfEqualScoresIsTheLogarithmOfTheirNumber) {
  KernelProbe loss(2, SoftmaxCrossEntropy{0.5, false}, {DataInput({4}), LabelInput(4)});
  // An unshifted exponential would overflow.
  std::fill(loss.input(0).begin(), loss.input(0).end(), 1000.0f);
  loss.Forward();
  EXPECT_DOUBLE_EQ(loss.loss(), 0.5 * std::log(4.0));
  EXPECT_FLOAT_EQ(loss.output()[0], static_cast<float>(loss.loss()));
}

TEST(KernelTest, SigmoidCrossEntropyIsASumOverElementsAndAMeanOverTheBatch) {
  KernelProbe loss(2, SigmoidCrossEntropy{1}, {DataInput({3}), DataInput({3})});
  loss.input(0) = {0, 0, 0, 0, 800, -800};
  loss.input(1) = {0, 1, 0.5f, 1, 1, 0};
  loss.Forward();
  EXPECT_NEAR(loss.loss(), 4 * std::log(2.0) / 2, 1e-12);
}

TEST(KernelTest, MeanSquaredErrorIsAMeanOverAllElements) {
  KernelProbe loss(2, MeanSquaredError{1}, {DataInput({2}), DataInput({2})});
  loss.input(0) = {1, 2, 3, 4};
  loss.input(1) = {1, 0, 0, 4};
  loss.Forward();
  EXPECT_DOUBLE_EQ(loss.loss(), 13.0 / 4);
}

}  // namespace
}  // namespace tench::kernel_test
