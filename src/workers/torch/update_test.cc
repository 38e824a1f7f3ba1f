// SPDX-License-Identifier: Apache-2.0
#include "workers/torch/update.h"

#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include <cmath>

namespace tench::pytorch::update_test {
namespace {

// Parameters of one element each; no layer is needed.
TypedGraph Rules(const std::vector<std::pair<double, double>>& mults) {
  TypedGraph graph;
  for (const auto& [lr_mult, decay_mult] : mults)
    graph.parameters.push_back({"w", {1}, {}, lr_mult, decay_mult, true, 0});
  return graph;
}

struct Scalar {
  double weight = 0, momentum = 0;
};

// The formulas of net/solver.h.
void Expect(Scalar& scalar, const Solver& solver, double lr_mult, double decay_mult,
            double gradient) {
  scalar.momentum =
      solver.momentum * scalar.momentum +
      solver.lr * lr_mult * (gradient + solver.weight_decay * decay_mult * scalar.weight);
  scalar.weight -= scalar.momentum;
}

at::Tensor Weight(double value) { return at::full({1}, value).requires_grad_(); }
void SetGradient(at::Tensor& weight, double value) { weight.mutable_grad() = at::full({1}, value); }
double ValueOf(const at::Tensor& tensor) { return tensor.item<float>(); }

TEST(TorchUpdateTest, IsCaffesAtEveryRateAndThroughItsChanges) {
  const std::vector<std::pair<double, double>> mults = {{1, 1}, {2, 0}, {1, 1}, {0, 1}};
  for (const double momentum : {0.9, 0.0}) {
    Solver solver{0.01, momentum, 0.05};
    std::vector<at::Tensor> weights;
    std::vector<Scalar> expected(mults.size(), {0.7, 0});
    for (size_t i = 0; i < mults.size(); ++i) weights.push_back(Weight(0.7));
    Update update(Rules(mults), weights, solver, /*observe=*/true);
    for (const double rate : {0.01, 0.01, 0.001, 0.0, 0.0, 0.1, 1.0}) {
      solver.lr = rate;
      update.SetRate(rate);
      for (size_t i = 0; i < mults.size(); ++i) {
        const double gradient = 0.3 * static_cast<double>(i + 1) - rate;
        SetGradient(weights[i], gradient);
        Expect(expected[i], solver, mults[i].first, mults[i].second, gradient);
      }
      update.Apply();
      for (size_t i = 0; i < mults.size(); ++i) {
        EXPECT_NEAR(ValueOf(weights[i]), expected[i].weight, 1e-6) << i << " at " << rate;
        EXPECT_NEAR(ValueOf(update.momenta()[i]), expected[i].momentum, 1e-6)
            << i << " at " << rate;
      }
    }
  }
}

TEST(TorchUpdateTest, NesterovAndAdamAreCaffesThroughChangesOfTheRate) {
  for (const SolverType type : {SolverType::kNesterov, SolverType::kAdam}) {
    const Solver solver{0.01, 0.9, 0.05, type, 0.99, 0.1};
    std::vector<at::Tensor> weights = {Weight(0.7)};
    Update update(Rules({{2, 3}}), weights, solver, /*observe=*/true);
    double w = 0.7, v = 0, s = 0;
    int t = 0;
    for (const double rate : {0.01, 0.01, 0.001, 0.1}) {
      update.SetRate(rate);
      SetGradient(weights[0], 0.3 - rate);
      update.Apply();
      const double d = 0.3 - rate + 0.15 * w, before = v;
      ++t;
      if (type == SolverType::kNesterov) {
        v = 0.9 * v + 2 * rate * d;
        w -= 1.9 * v - 0.9 * before;
      } else {
        v = 0.9 * v + 0.1 * d;
        s = 0.99 * s + 0.01 * d * d;
        w -= 2 * rate * std::sqrt(1 - std::pow(0.99, t)) / (1 - std::pow(0.9, t)) * v /
             (std::sqrt(s) + 0.1);
        EXPECT_NEAR(ValueOf(update.momenta2()[0]), s, 1e-6) << t;
      }
      EXPECT_NEAR(ValueOf(weights[0]), w, 1e-6) << t;
      EXPECT_NEAR(ValueOf(update.momenta()[0]), v, 1e-6) << t;
    }
  }
}

TEST(TorchUpdateTest, ClipsByTheNormOfAllThatLearnAndLeavesTheGradientsAsTheyAre) {
  std::vector<at::Tensor> weights = {Weight(0), Weight(0), Weight(0)};
  Solver solver{1, 0, 0};
  solver.clip_gradients = 1;
  Update update(Rules({{1, 1}, {2, 1}, {0, 1}}), weights, solver, false);
  SetGradient(weights[0], 3);
  SetGradient(weights[1], 4);
  SetGradient(weights[2], 100);
  update.Apply();
  EXPECT_NEAR(ValueOf(weights[0]), -0.6, 1e-6);
  EXPECT_NEAR(ValueOf(weights[1]), -1.6, 1e-6);
  EXPECT_EQ(ValueOf(weights[2]), 0);
  EXPECT_EQ(ValueOf(weights[1].grad()), 4);
}

// The rate is passed as 1 - (1 - rate), which must not round it.
TEST(TorchUpdateTest, KeepsTinyRatesExact) {
  for (const double rate : {1e-6, 1e-9}) {
    std::vector<at::Tensor> weights = {Weight(0)};
    Update update(Rules({{1, 1}}), weights, {rate, 0.9, 0}, false);
    SetGradient(weights[0], 2);
    update.Apply();
    EXPECT_NEAR(ValueOf(weights[0]) / (-2 * rate), 1, 1e-6);
  }
}

TEST(TorchUpdateTest, DecaysAParameterThatNoLossDependsOn) {
  std::vector<at::Tensor> weights = {Weight(1)};
  Update update(Rules({{1, 1}}), weights, {0.1, 0.9, 0.5}, false);
  update.Apply();
  EXPECT_NEAR(ValueOf(weights[0]), 0.95, 1e-6);
}

TEST(TorchUpdateTest, KeepsNoBuffersWithoutMomentum) {
  std::vector<at::Tensor> weights = {Weight(1)};
  EXPECT_FALSE(Update(Rules({{1, 1}}), weights, {0.1, 0, 0}, false).momenta()[0].defined());
  EXPECT_TRUE(Update(Rules({{1, 1}}), weights, {0.1, 0.9, 0}, false).momenta()[0].defined());
}

}  // namespace
}  // namespace tench::pytorch::update_test
