// SPDX-License-Identifier: Apache-2.0
#include "workers/native/kernels/exponential.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tench::native::exponential_test {
namespace {

// The difference in units of float's spacing at `expected`.
double Ulps(float found, double expected) {
  const auto rounded = static_cast<float>(expected);
  const float next = std::nextafter(rounded, std::numeric_limits<float>::infinity());
  return std::abs(found - expected) / (double{next} - rounded);
}

TEST(ExponentialTest, IsWithinTwoUlps) {
  for (double x = -87; x <= 88; x += 0.00713) {
    const auto at = static_cast<float>(x);
    ASSERT_LE(Ulps(Exponential(at), std::exp(double{at})), 2) << at;
  }
}

TEST(ExponentialTest, ClampsToPositiveFiniteValues) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(Exponential(infinity), Exponential(88.0f));
  EXPECT_EQ(Exponential(-infinity), Exponential(-87.0f));
  EXPECT_EQ(Exponential(0.0f), 1.0f);
}

TEST(ExponentialTest, LogisticIsTheLogisticFunction) {
  for (double x = -30; x <= 30; x += 0.0113) {
    const auto at = static_cast<float>(x);
    const double expected = 1 / (1 + std::exp(-double{at}));
    ASSERT_NEAR(Logistic(at), expected, 6e-7 * expected) << at;
  }
}

TEST(ExponentialTest, HyperbolicTangentKeepsItsPrecisionNearZero) {
  for (double x = -12; x <= 12; x += 0.00371) {
    const auto at = static_cast<float>(x);
    const double expected = std::tanh(double{at});
    ASSERT_NEAR(HyperbolicTangent(at), expected, 1e-6 * std::abs(expected)) << at;
  }
  for (const float tiny : {1e-3f, -1e-6f, 1e-20f}) {
    ASSERT_NEAR(HyperbolicTangent(tiny), std::tanh(double{tiny}), 2e-7 * std::abs(tiny));
  }
  EXPECT_EQ(HyperbolicTangent(0.0f), 0.0f);
}

TEST(ExponentialTest, NanPropagates) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(Exponential(nan)));
  EXPECT_TRUE(std::isnan(Logistic(nan)));
  EXPECT_TRUE(std::isnan(HyperbolicTangent(nan)));
}

}  // namespace
}  // namespace tench::native::exponential_test
