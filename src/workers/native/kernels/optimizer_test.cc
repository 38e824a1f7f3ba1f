// SPDX-License-Identifier: Apache-2.0
#include "workers/native/kernels/optimizer.h"

#include "workers/native/kernels/test_arrays.h"

namespace tench::native::optimizer_test {
namespace {

constexpr int64_t kCounts[] = {1, 11, 50021};
constexpr OptimizerStep kStep{0.125, 0.5, 3};

OptimizerRule RuleOfType(OptimizerType type) { return {type, {0.9, 2.0, 0.05}, 0.99, 1e-3}; }

struct State {
  double w, m, s;
};

// One step of one element by the equations of optimizer.h.
State Updated(OptimizerType type, State before, double g) {
  const double d = 0.5 * g + 0.05 * before.w, r = 0.25;
  State after = before;
  switch (type) {
    case OptimizerType::kSgd:
      after.m = 0.9 * before.m + r * d;
      after.w -= after.m;
      break;
    case OptimizerType::kNesterov:
      after.m = 0.9 * before.m + r * d;
      after.w -= 1.9 * after.m - 0.9 * before.m;
      break;
    case OptimizerType::kAdam:
      after.m = 0.9 * before.m + 0.1 * d;
      after.s = 0.99 * before.s + 0.01 * d * d;
      after.w -= r * std::sqrt(1 - 0.99 * 0.99 * 0.99) / (1 - 0.9 * 0.9 * 0.9) * after.m /
                 (std::sqrt(after.s) + 1e-3);
      break;
  }
  return after;
}

class OptimizerTest : public testing::TestWithParam<OptimizerType> {};

TEST_P(OptimizerTest, UpdatesByItsEquations) {
  const OptimizerType type = GetParam();
  const bool adam = type == OptimizerType::kAdam;
  for (const int64_t count : kCounts) {
    const std::vector<float> w = RandomArray(count, 1), m = RandomArray(count, 2),
                             g = RandomArray(count, 3), s = RandomArray(count, 4, 0.1f, 1);
    std::vector<double> new_w(count), new_m(count), new_s(count);
    for (int64_t i = 0; i < count; ++i) {
      const State after = Updated(type, {w[i], m[i], s[i]}, g[i]);
      new_w[i] = after.w, new_m[i] = after.m, new_s[i] = after.s;
    }
    for (const int threads : kThreadCounts) {
      const ThreadCount team(threads);
      GuardedArray weights(w), momenta(m), momenta2(s);
      OptimizerUpdate(
          {weights.data(), g.data(), momenta.data(), adam ? momenta2.data() : nullptr, count},
          RuleOfType(type), kStep);
      ExpectNear(weights.span(), new_w, 2e-6);
      ExpectNear(momenta.span(), new_m, 1e-6);
      ExpectNear(momenta2.span(), new_s, 1e-6);
      EXPECT_TRUE(weights.IsIntact() && momenta.IsIntact() && momenta2.IsIntact());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, OptimizerTest,
                         testing::Values(OptimizerType::kSgd, OptimizerType::kNesterov,
                                         OptimizerType::kAdam));

TEST(SquaredNormTest, IsTheSumOfSquares) {
  for (const int64_t count : {0, 1, 7, 8, 50021}) {
    const std::vector<float> values = RandomArray(count, 1);
    double expected = 0;
    for (const float value : values) expected += double{value} * value;
    for (const int threads : kThreadCounts) {
      const ThreadCount team(threads);
      EXPECT_NEAR(SquaredNorm(values.data(), count), expected, 1e-12 * expected);
    }
  }
}

}  // namespace
}  // namespace tench::native::optimizer_test
