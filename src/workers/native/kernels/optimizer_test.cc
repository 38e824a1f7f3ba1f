// SPDX-License-Identifier: Apache-2.0
#include "workers/native/kernels/optimizer.h"

#include "workers/native/kernels/test_arrays.h"

namespace tench::native::optimizer_test {
namespace {

constexpr int64_t kCounts[] = {1, 11, 50021};
constexpr OptimizerStep kStep{0.125, 0.5, 3};

OptimizerRule RuleOfType(OptimizerType type, bool l1) {
  return {type, {0.9, 2.0, 0.05}, 0.99, 1e-3, 0.95, l1};
}

struct State {
  double w, m, s;
};

// One step of one element by the equations of optimizer.h.
State Updated(OptimizerType type, bool l1, State before, double g) {
  const double pull = l1 ? (before.w > 0) - (before.w < 0) : before.w;
  const double d = 0.5 * g + 0.05 * pull, r = 0.25;
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
    case OptimizerType::kRmsprop:
      after.m = 0.95 * before.m + 0.05 * d * d;
      after.w -= r * d / (std::sqrt(after.m) + 1e-3);
      break;
    case OptimizerType::kAdagrad:
      after.m = before.m + d * d;
      after.w -= r * d / (std::sqrt(after.m) + 1e-3);
      break;
    case OptimizerType::kAdadelta: {
      after.m = 0.9 * before.m + 0.1 * d * d;
      const double u = d * std::sqrt((before.s + 1e-3) / (after.m + 1e-3));
      after.s = 0.9 * before.s + 0.1 * u * u;
      after.w -= r * u;
      break;
    }
  }
  return after;
}

class OptimizerTest : public testing::TestWithParam<std::tuple<OptimizerType, bool>> {};

TEST_P(OptimizerTest, UpdatesByItsEquations) {
  const auto [type, l1] = GetParam();
  const bool second = type == OptimizerType::kAdam || type == OptimizerType::kAdadelta;
  // The first history of these is a mean or sum of squares.
  const bool square = type >= OptimizerType::kRmsprop;
  for (const int64_t count : kCounts) {
    const std::vector<float> w = RandomArray(count, 1),
                             m = square ? RandomArray(count, 2, 0.1f, 1) : RandomArray(count, 2),
                             g = RandomArray(count, 3), s = RandomArray(count, 4, 0.1f, 1);
    std::vector<double> new_w(count), new_m(count), new_s(count);
    for (int64_t i = 0; i < count; ++i) {
      const State after = Updated(type, l1, {w[i], m[i], s[i]}, g[i]);
      new_w[i] = after.w, new_m[i] = after.m, new_s[i] = after.s;
    }
    for (const int threads : kThreadCounts) {
      const ThreadCount team(threads);
      GuardedArray weights(w), momenta(m), momenta2(s);
      OptimizerUpdate(
          {weights.data(), g.data(), momenta.data(), second ? momenta2.data() : nullptr, count},
          RuleOfType(type, l1), kStep);
      ExpectNear(weights.span(), new_w, 2e-6);
      ExpectNear(momenta.span(), new_m, 1e-6);
      ExpectNear(momenta2.span(), new_s, 1e-6);
      EXPECT_TRUE(weights.IsIntact() && momenta.IsIntact() && momenta2.IsIntact());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Types, OptimizerTest,
    testing::Combine(testing::Values(OptimizerType::kSgd, OptimizerType::kNesterov,
                                     OptimizerType::kAdam, OptimizerType::kRmsprop,
                                     OptimizerType::kAdagrad, OptimizerType::kAdadelta),
                     testing::Bool()));

TEST(AccumulateTest, CopiesTheFirstAndAddsTheOthers) {
  const std::vector<float> values = RandomArray(50021, 1);
  GuardedArray sum(RandomArray(50021, 2));
  Accumulate(sum.data(), values.data(), 50021, false);
  Accumulate(sum.data(), values.data(), 50021, true);
  for (size_t i = 0; i < values.size(); ++i) ASSERT_EQ(sum.span()[i], values[i] + values[i]);
}

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
