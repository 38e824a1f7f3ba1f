// SPDX-License-Identifier: Apache-2.0
#include "workers/native/kernels/loss.h"

#include <limits>

#include "workers/native/kernels/test_arrays.h"

namespace tench::native::loss_test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct Expected {
  double loss = 0;
  std::vector<double> gradient;
};

Expected Softmax(const std::vector<float>& scores, const std::vector<int32_t>& labels,
                 int64_t classes, double weight, std::optional<int64_t> ignored) {
  const auto batch = static_cast<int64_t>(labels.size());
  int64_t counted = 0;
  for (const int32_t label : labels) counted += label != ignored;
  Expected e{0, std::vector<double>(scores.size())};
  const double share = weight / static_cast<double>(std::max<int64_t>(counted, 1));
  for (int64_t n = 0; n < batch; ++n) {
    if (labels[n] == ignored) continue;
    double sum = 0;
    for (int64_t c = 0; c < classes; ++c) sum += std::exp(double{scores[n * classes + c]});
    e.loss += share * (std::log(sum) - scores[n * classes + labels[n]]);
    for (int64_t c = 0; c < classes; ++c) {
      e.gradient[n * classes + c] =
          share * (std::exp(double{scores[n * classes + c]}) / sum - (c == labels[n]));
    }
  }
  return e;
}

TEST(SoftmaxLossTest, IsTheMeanCrossEntropyWithItsGradient) {
  for (const int64_t classes : {2, 10, 1000, 1003}) {
    for (const int64_t batch : {1, 5, 64}) {
      const std::vector<float> scores = RandomArray(batch * classes, 1, -6, 6);
      std::vector<int32_t> labels(batch);
      for (int64_t n = 0; n < batch; ++n) labels[n] = static_cast<int32_t>(n * 7 % classes);
      for (const std::optional<int64_t> ignored :
           {std::optional<int64_t>(), std::optional<int64_t>(7 % classes)}) {
        const Expected expected = Softmax(scores, labels, classes, 0.3, ignored);
        for (const int threads : kThreadCounts) {
          const ThreadCount team(threads);
          GuardedArray gradient(batch * classes);
          const double loss = SoftmaxLoss(scores.data(), labels.data(), gradient.data(), batch,
                                          classes, 0.3, ignored);
          EXPECT_NEAR(loss, expected.loss, 1e-6);
          ExpectNear(gradient.span(), expected.gradient, 1e-7);
          EXPECT_TRUE(gradient.IsIntact());
          EXPECT_NEAR(
              SoftmaxLoss(scores.data(), labels.data(), nullptr, batch, classes, 0.3, ignored),
              expected.loss, 1e-6);
        }
      }
    }
  }
}

TEST(SoftmaxLossTest, IsNeverNegative) {
  const std::vector<float> scores = {100, 0, 0};
  const int32_t label = 0;
  EXPECT_EQ(SoftmaxLoss(scores.data(), &label, nullptr, 1, 3, 1), 0);
}

TEST(SoftmaxLossTest, LargeScoresDoNotOverflow) {
  const std::vector<float> scores = {500, 499};
  const int32_t label = 1;
  EXPECT_NEAR(SoftmaxLoss(scores.data(), &label, nullptr, 1, 2, 1), 1 + std::log1p(std::exp(-1.0)),
              1e-6);
}

TEST(SoftmaxLossTest, NanPropagates) {
  const std::vector<float> scores = {1, kNan, 2};
  const int32_t label = 1;
  EXPECT_TRUE(std::isnan(SoftmaxLoss(scores.data(), &label, nullptr, 1, 3, 1)));
}

TEST(SigmoidLossTest, IsTheCrossEntropyOverTheBatchWithItsGradient) {
  for (const int64_t count : {3, 64, 100, 9001}) {
    const std::vector<float> x = RandomArray(count, 1, -8, 8), t = RandomArray(count, 2, 0, 1);
    double expected = 0;
    std::vector<double> expected_gradient(count);
    for (int64_t i = 0; i < count; ++i) {
      const double p = 1 / (1 + std::exp(-double{x[i]}));
      expected -= 0.3 / 3 * (t[i] * std::log(p) + (1 - t[i]) * std::log1p(-p));
      expected_gradient[i] = 0.3 / 3 * (p - t[i]);
    }
    for (const int threads : kThreadCounts) {
      const ThreadCount team(threads);
      GuardedArray gradient(count);
      EXPECT_NEAR(SigmoidLoss(x.data(), t.data(), gradient.data(), 3, count, 0.3), expected,
                  1e-6 * expected);
      ExpectNear(gradient.span(), expected_gradient, 1e-7);
      EXPECT_TRUE(gradient.IsIntact());
      EXPECT_NEAR(SigmoidLoss(x.data(), t.data(), nullptr, 3, count, 0.3), expected,
                  1e-6 * expected);
    }
  }
}

TEST(SigmoidLossTest, NanPropagates) {
  std::vector<float> x = RandomArray(70, 1), t = RandomArray(70, 2, 0, 1);
  x[69] = kNan;
  EXPECT_TRUE(std::isnan(SigmoidLoss(x.data(), t.data(), nullptr, 1, 70, 1)));
}

TEST(SquaredLossTest, IsTheMeanSquaredErrorWithItsGradient) {
  for (const int64_t count : {1, 13, 9001}) {
    const std::vector<float> x = RandomArray(count, 1), t = RandomArray(count, 2);
    double expected = 0;
    std::vector<double> expected_gradient(count);
    for (int64_t i = 0; i < count; ++i) {
      const double difference = double{x[i]} - t[i];
      expected += 0.3 * difference * difference / static_cast<double>(count);
      expected_gradient[i] = 0.6 * difference / static_cast<double>(count);
    }
    for (const int threads : kThreadCounts) {
      const ThreadCount team(threads);
      GuardedArray gradient(count);
      EXPECT_NEAR(SquaredLoss(x.data(), t.data(), gradient.data(), count, 0.3), expected, 1e-7);
      ExpectNear(gradient.span(), expected_gradient, 1e-6 / static_cast<double>(count));
      EXPECT_TRUE(gradient.IsIntact());
      EXPECT_NEAR(SquaredLoss(x.data(), t.data(), nullptr, count, 0.3), expected, 1e-7);
    }
  }
}

}  // namespace
}  // namespace tench::native::loss_test
