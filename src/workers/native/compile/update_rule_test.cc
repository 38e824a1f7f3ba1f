// SPDX-License-Identifier: Apache-2.0
#include "workers/native/compile/update_rule.h"

#include <gtest/gtest.h>

namespace tench::native::update_rule_test {
namespace {

TEST(UpdateRuleTest, MultipliesTheSolversDecayByTheParameters) {
  Solver solver;
  solver.momentum = 0.75;
  solver.weight_decay = 0.5;
  Parameter parameter;
  parameter.lr_mult = 2;
  parameter.decay_mult = 0.25;
  const UpdateRule rule = RuleOf(solver, parameter);
  EXPECT_EQ(rule.momentum, 0.75);
  EXPECT_EQ(rule.lr_mult, 2);
  EXPECT_EQ(rule.decay, 0.125);
}

TEST(UpdateRuleTest, NamesTheOptimizerAndItsConstants) {
  Solver solver;
  solver.momentum2 = 0.99;
  solver.delta = 1e-3;
  for (const auto& [from, to] : {std::pair{SolverType::kSgd, OptimizerType::kSgd},
                                 std::pair{SolverType::kNesterov, OptimizerType::kNesterov},
                                 std::pair{SolverType::kAdam, OptimizerType::kAdam}}) {
    solver.type = from;
    const OptimizerRule rule = OptimizerRuleOf(solver, {});
    EXPECT_EQ(rule.type, to);
    EXPECT_EQ(rule.momentum2, 0.99);
    EXPECT_EQ(rule.delta, 1e-3);
  }
}

}  // namespace
}  // namespace tench::native::update_rule_test
