// SPDX-License-Identifier: Apache-2.0
#include "net/solver.h"

#include <gtest/gtest.h>

namespace tench::solver_test {
namespace {

TEST(SolverTest, ItsTextTellsApartWhatNoAxisDoes) {
  Solver solver;
  EXPECT_EQ(SolverText(solver), "sgd");
  solver.lr = 1, solver.momentum = 0.5, solver.weight_decay = 0;
  EXPECT_EQ(SolverText(solver), "sgd") << "these are axes";
  solver.clip_gradients = 35;
  EXPECT_EQ(SolverText(solver), "sgd clip_gradients=35");
  solver = {};
  solver.type = SolverType::kNesterov;
  EXPECT_EQ(SolverText(solver), "nesterov");
  solver.type = SolverType::kAdam;
  EXPECT_EQ(SolverText(solver), "adam momentum2=0.999 delta=1e-08");
  solver.type = SolverType::kRmsprop;
  EXPECT_EQ(SolverText(solver), "rmsprop rms_decay=0.99 delta=1e-08");
  solver = {};
  solver.type = SolverType::kAdadelta;
  solver.regularization = Regularization::kL1;
  solver.iter_size = 4;
  EXPECT_EQ(SolverText(solver), "adadelta delta=1e-08 l1 iter_size=4");
}

TEST(SolverTest, ItsNeedsAreTheAbilitiesThatItUses) {
  Solver solver;
  EXPECT_EQ(SolverNeeds(solver), std::vector<std::string>{"sgd"});
  solver.type = SolverType::kAdagrad;
  solver.clip_gradients = 1;
  solver.regularization = Regularization::kL1;
  solver.iter_size = 2;
  EXPECT_EQ(SolverNeeds(solver),
            (std::vector<std::string>{"adagrad", "clip_gradients", "l1", "iter_size"}));
}

}  // namespace
}  // namespace tench::solver_test
