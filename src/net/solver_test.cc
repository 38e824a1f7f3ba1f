// SPDX-License-Identifier: Apache-2.0
#include "net/solver.h"

#include <gtest/gtest.h>

#include "net/solver_name.h"

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

TEST(SolverTest, TheDefaultsOfItsNameAreItsOwn) {
  EXPECT_EQ(OptimizerOf(Solver()), OptimizerName());
  Solver solver;
  SetOptimizer(OptimizerName(), solver);
  EXPECT_EQ(solver, Solver());
}

TEST(SolverTest, ItsNameHoldsAllButTheRatesAndTheBatchesOfAStep) {
  Solver solver{0.1, 0.8, 0.0002, SolverType::kAdam, 0.99, 1e-4, 35};
  solver.regularization = Regularization::kL1;
  solver.rms_decay = 0.5;
  Solver copy;
  copy.lr = 0.1, copy.momentum = 0.8, copy.weight_decay = 0.0002;
  SetOptimizer(OptimizerOf(solver), copy);
  EXPECT_EQ(copy, solver);
  for (const std::string& type : SolverTypeNames()) {
    SetOptimizer(*ParseOptimizer(type), copy);
    EXPECT_EQ(Name(copy.type), type);
  }
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
