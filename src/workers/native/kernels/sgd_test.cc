// SPDX-License-Identifier: Apache-2.0
#include "workers/native/kernels/sgd.h"

#include "workers/native/kernels/test_arrays.h"

namespace tench::native::sgd_test {
namespace {

constexpr UpdateRule kRule{0.9, 2.0, 0.05};
constexpr double kLr = 0.125;

TEST(SgdTest, RatesCombineTheLearningRateAndItsMultiplier) {
  const SgdRates rates = RatesOf(kRule, kLr);
  EXPECT_EQ(rates.momentum, 0.9f);
  EXPECT_EQ(rates.rate, 0.25f);
  EXPECT_EQ(rates.decay, 0.05f);
}

TEST(SgdTest, UpdatesWeightsAndMomenta) {
  for (const int64_t count : {1, 7, 50021}) {
    const std::vector<float> w = RandomArray(count, 1), m = RandomArray(count, 2),
                             g = RandomArray(count, 3);
    std::vector<double> new_w(count), new_m(count);
    for (int64_t i = 0; i < count; ++i) {
      new_m[i] = 0.9 * m[i] + 0.25 * (g[i] + 0.05 * w[i]);
      new_w[i] = w[i] - new_m[i];
    }
    for (const int threads : kThreadCounts) {
      const ThreadCount team(threads);
      GuardedArray weights(w), momenta(m);
      SgdUpdate(weights.data(), momenta.data(), g.data(), count, kRule, kLr);
      ExpectNear(weights.span(), new_w, 1e-6);
      ExpectNear(momenta.span(), new_m, 1e-6);
      EXPECT_TRUE(weights.IsIntact() && momenta.IsIntact());
    }
  }
}

}  // namespace
}  // namespace tench::native::sgd_test
