// SPDX-License-Identifier: Apache-2.0
#include "net/caffe/solver_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"

namespace tench::solver_file_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string ErrorOf(const auto& result) {
  return result.ok() ? "no error" : result.error().message;
}

constexpr const char* kPlain =
    "net: \"n.prototxt\"\nbase_lr: 0.01\nlr_policy: \"fixed\"\nmax_iter: 100\n";

Result<CaffeSolver> Read(const std::string& more) {
  return ReadSolver(kPlain + more, "folder/solver.prototxt");
}

TEST(SolverFileTest, HasEverythingThatASolverSays) {
  const auto solver = ReadSolver(
      R"(net: "n.prototxt" type: "Adam" base_lr: 0.01 lr_policy: "inv" gamma: 0.0001 power: 0.75 momentum: 0.9 momentum2: 0.99
    weight_decay: 0.0005 clip_gradients: 35 max_iter: 450000 display: 20 average_loss: 40 snapshot: 10000 snapshot_prefix: "models/x"
    random_seed: 1701 solver_mode: GPU snapshot_after_train: false delta: 1e-06)",
      "s");
  ASSERT_TRUE(solver.ok()) << ErrorOf(solver);
  EXPECT_EQ(solver->solver, (Solver{0.01, 0.9, 0.0005, SolverType::kAdam, 0.99, 1e-6, 35}));
  EXPECT_EQ(solver->rate.policy, RatePolicy::kInv);
  EXPECT_EQ(solver->rate.gamma, 0.0001);
  EXPECT_EQ(solver->max_iterations, 450000);
  EXPECT_EQ(solver->display, 20);
  EXPECT_EQ(solver->average_loss, 40);
  EXPECT_EQ(solver->snapshot, 10000);
  EXPECT_EQ(solver->snapshot_prefix, "models/x");
  EXPECT_FALSE(solver->snapshot_after_train);
  EXPECT_EQ(solver->random_seed, 1701);
}

TEST(SolverFileTest, DefaultsAreCaffes) {
  const auto solver = Read("");
  ASSERT_TRUE(solver.ok()) << ErrorOf(solver);
  EXPECT_EQ(solver->solver, (Solver{0.01, 0, 0, SolverType::kSgd, 0.999, 1e-8, 0}));
  EXPECT_EQ(solver->snapshot_prefix, "folder/solver");
  EXPECT_EQ(solver->random_seed, std::nullopt);
  EXPECT_TRUE(solver->snapshot_after_train);
}

TEST(SolverFileTest, TheOlderWordForTheTypeIsTaken) {
  EXPECT_EQ(Read("solver_type: NESTEROV")->solver.type, SolverType::kNesterov);
  EXPECT_EQ(Read("solver_type: ADAGRAD")->solver.type, SolverType::kAdagrad);
  EXPECT_EQ(Read("solver_type: RMSPROP")->solver.type, SolverType::kRmsprop);
  EXPECT_EQ(Read("solver_type: ADADELTA")->solver.type, SolverType::kAdadelta);
  EXPECT_THAT(ErrorOf(Read("solver_type: SGD type: \"SGD\"")), HasSubstr("exclude each other"));
}

TEST(SolverFileTest, WhatWouldComputeSomethingElseIsRefusedByName) {
  EXPECT_THAT(ErrorOf(Read("type: \"RMSProp\" momentum: 0.9")),
              HasSubstr("solver.prototxt:5: momentum is 0.9; RMSProp has no momentum"));
  EXPECT_THAT(ErrorOf(Read("type: \"AdaGrad\" delta: 0")), HasSubstr("AdaGrad divides by it"));
  EXPECT_THAT(ErrorOf(Read("type: \"Adm\"")),
              HasSubstr("type 'Adm' is unknown; did you mean 'Adam'?"));
  EXPECT_THAT(ErrorOf(Read("regularization_type: \"L3\"")), HasSubstr("regularization_type 'L3'"));
  EXPECT_THAT(ErrorOf(Read("iter_size: 0")), HasSubstr("iter_size is 0"));
  EXPECT_THAT(ErrorOf(ReadSolver("net: \"n\" base_lr: 1 max_iter: 1", "s")),
              HasSubstr("lr_policy is missing"));
  EXPECT_THAT(ErrorOf(ReadSolver("net: \"n\" base_lr: 1 max_iter: 1 lr_policy: \"stp\"", "s")),
              HasSubstr("lr_policy 'stp' is unknown; did you mean 'step'?"));
  EXPECT_THAT(ErrorOf(ReadSolver("net: \"n\" base_lr: 1 max_iter: 1 lr_policy: \"step\"", "s")),
              HasSubstr("stepsize is 0"));
  EXPECT_THAT(ErrorOf(ReadSolver("net: \"n\" base_lr: nan max_iter: 1 lr_policy: \"fixed\"", "s")),
              HasSubstr("base_lr is nan"));
  EXPECT_THAT(ErrorOf(ReadSolver("net: \"n\" lr_policy: \"fixed\" max_iter: 1", "s")),
              HasSubstr("base_lr is missing"));
  EXPECT_THAT(ErrorOf(ReadSolver("net: \"n\" base_lr: 1 lr_policy: \"fixed\"", "s")),
              HasSubstr("max_iter is 0"));
  EXPECT_THAT(ErrorOf(ReadSolver("base_lr: 1 lr_policy: \"fixed\" max_iter: 1", "s")),
              HasSubstr("it must name one network"));
  EXPECT_THAT(ErrorOf(Read("max_itr: 5")), HasSubstr("solver.prototxt:5:8: Message type"));
  EXPECT_THAT(ErrorOf(Read("stepvalue: 5 stepvalue: 3")), HasSubstr("stepvalue must increase"));
}

TEST(SolverFileTest, TestingIsLeftOutWithANote) {
  EXPECT_THAT(Read("test_iter: 10")->notes, ElementsAre(HasSubstr("test_iter has no effect")));
}

TEST(SolverFileTest, ANetworkInsideIsReadWithItsOwnLines) {
  const std::string good = R"(base_lr: 0.1 lr_policy: "fixed" max_iter: 3
net_param { name: "inner"
  layer { name: "d" type: "Input" top: "data" top: "target" input_param { shape { dim: 2 dim: 6 } } }
  layer { name: "fc" type: "InnerProduct" bottom: "data" top: "fc" inner_product_param { num_output: 6 } }
  layer { name: "loss" type: "EuclideanLoss" bottom: "fc" bottom: "target" } })";
  const auto solver = ReadSolver(good, "s");
  ASSERT_TRUE(solver.ok()) << ErrorOf(solver);
  EXPECT_EQ(NetworkOf(*solver, "s")->graph.name, "inner");
  std::string bad = good;
  bad.replace(bad.find("num_output: 6"), 13, "num_output: 7");
  EXPECT_THAT(ErrorOf(ReadSolver(bad, "s")), HasSubstr("s:5: layer 'loss'"));
}

TEST(SolverFileTest, TheNetworkIsLookedForBesideTheSolver) {
  const TemporaryFolder folder = *TemporaryFolder::Make("tench-solver-");
  const std::string file = (folder.path() / "n.prototxt").string();
  ASSERT_TRUE(WriteFileAtomically(file, "").ok());
  EXPECT_EQ(NetworkPath(*ReadSolver(kPlain, "s"), (folder.path() / "s").string()), file);
  CaffeSolver deep = *ReadSolver(kPlain, "s");
  deep.net = "models/somewhere/n.prototxt";
  EXPECT_EQ(NetworkPath(deep, (folder.path() / "s").string()), file);
}

TEST(SolverFileTest, WhatIsWrittenReadsTheSame) {
  const auto solver = Read(
      "type: \"Nesterov\" momentum: 0.9 clip_gradients: 3 random_seed: 4 display: 5 snapshot: 6 "
      "average_loss: 2");
  ASSERT_TRUE(solver.ok()) << ErrorOf(solver);
  const auto again = ReadSolver(WriteSolver(*solver), "again");
  ASSERT_TRUE(again.ok()) << ErrorOf(again);
  EXPECT_EQ(again->solver, solver->solver);
  EXPECT_EQ(again->display, 5);
  EXPECT_EQ(again->snapshot_prefix, "folder/solver");
}

TEST(SolverFileTest, FieldsThatTheTypeOrThePolicyDoesNotUseSurviveWriting) {
  const auto solver = ReadSolver(
      "net: \"n\" base_lr: 0.01 lr_policy: \"multistep\" stepvalue: 20 power: 0.10 gamma: 0.5 "
      "stepsize: 7 momentum2: 0.99 delta: 1e-06 max_iter: 100",
      "s");
  ASSERT_TRUE(solver.ok()) << ErrorOf(solver);
  EXPECT_EQ(solver->solver.momentum2, 0.99);
  const auto again = ReadSolver(WriteSolver(*solver), "s");
  ASSERT_TRUE(again.ok()) << ErrorOf(again);
  EXPECT_EQ(again->solver, solver->solver);
  EXPECT_EQ(again->rate, solver->rate);
}

TEST(SolverFileTest, TestsHaveTheirNetworksStatesAndLengths) {
  const auto solver = Read(
      "test_interval: 5 test_initialization: false test_net: \"t\" test_iter: 3 test_iter: 4 "
      "test_state { } test_state { stage: \"all\" } regularization_type: \"L1\" iter_size: 2 "
      "type: \"RMSProp\" rms_decay: 0.9");
  ASSERT_TRUE(solver.ok()) << ErrorOf(solver);
  const auto again = ReadSolver(WriteSolver(*solver), "s");
  ASSERT_TRUE(again.ok()) << ErrorOf(again);
  for (const CaffeSolver& read : {*solver, *again}) {
    EXPECT_EQ(read.test_interval, 5);
    EXPECT_FALSE(read.test_initialization);
    ASSERT_EQ(read.tests.size(), 2u);
    EXPECT_EQ(read.tests[0].net, "t");
    EXPECT_EQ(read.tests[0].iterations, 3);
    EXPECT_EQ(read.tests[1].net, "");
    EXPECT_EQ(read.tests[1].state, (CaffeState{0, {"all"}, true}));
    EXPECT_EQ(read.solver.regularization, Regularization::kL1);
    EXPECT_EQ(read.solver.iter_size, 2);
    EXPECT_EQ(read.solver.rms_decay, 0.9);
  }
  EXPECT_THAT(ErrorOf(Read("test_interval: 5")), HasSubstr("test_interval needs test_iter"));
  EXPECT_THAT(ErrorOf(Read("test_interval: 5 test_iter: 0")), HasSubstr("test_iter is 0"));
}

TEST(SolverFileTest, WeightsAndTheStateOfTheNetworkSurviveWriting) {
  const auto solver =
      Read("weights: \"a.caffemodel, b.caffemodel\" train_state { level: 2 stage: \"all\" }");
  ASSERT_TRUE(solver.ok()) << ErrorOf(solver);
  EXPECT_THAT(solver->weights, ElementsAre("a.caffemodel", "b.caffemodel"));
  const auto again = ReadSolver(WriteSolver(*solver), "s");
  ASSERT_TRUE(again.ok()) << ErrorOf(again);
  EXPECT_EQ(again->weights, solver->weights);
  EXPECT_EQ(again->state, (CaffeState{2, {"all"}}));
}

TEST(SolverFileTest, AFileIsReadWithItsOwnNameInErrors) {
  const TemporaryFolder folder = *TemporaryFolder::Make("tench-solver-");
  const std::string file = (folder.path() / "s.prototxt").string();
  ASSERT_TRUE(WriteFileAtomically(file, std::string(kPlain) + "momentum: 0.9").ok());
  EXPECT_EQ(ReadSolverFile(file)->solver.momentum, 0.9);
  ASSERT_TRUE(WriteFileAtomically(file, std::string(kPlain) + "momentum: 2").ok());
  EXPECT_THAT(ErrorOf(ReadSolverFile(file)), HasSubstr(file + ":5: momentum is 2"));
  EXPECT_FALSE(ReadSolverFile(file + "x").ok());
}

std::vector<double> Rates(const std::string& more, std::vector<int64_t> at) {
  const auto solver = ReadSolver("net: \"n\" base_lr: 0.5 max_iter: 100 " + more, "s");
  EXPECT_TRUE(solver.ok()) << ErrorOf(solver);
  std::vector<double> rates;
  for (const int64_t i : at) rates.push_back(solver->rate.At(i));
  return rates;
}

TEST(LearningRateTest, EveryPolicyIsCaffes) {
  using testing::DoubleNear;
  constexpr double kNear = 1e-12;
  EXPECT_THAT(Rates("lr_policy: \"fixed\"", {0, 99}), ElementsAre(0.5, 0.5));
  EXPECT_THAT(Rates("lr_policy: \"step\" gamma: 0.1 stepsize: 10", {9, 10, 25}),
              ElementsAre(0.5, DoubleNear(0.05, kNear), DoubleNear(0.005, kNear)));
  EXPECT_THAT(Rates("lr_policy: \"exp\" gamma: 0.5", {0, 2}), ElementsAre(0.5, 0.125));
  EXPECT_THAT(Rates("lr_policy: \"inv\" gamma: 1 power: 2", {0, 1}), ElementsAre(0.5, 0.125));
  EXPECT_THAT(Rates("lr_policy: \"multistep\" gamma: 0.5 stepvalue: 3 stepvalue: 5", {2, 3, 5}),
              ElementsAre(0.5, 0.25, 0.125));
  EXPECT_THAT(Rates("lr_policy: \"poly\" power: 2", {0, 50, 100}), ElementsAre(0.5, 0.125, 0));
  EXPECT_THAT(Rates("lr_policy: \"sigmoid\" gamma: -1 stepsize: 10", {10}), ElementsAre(0.25));
}

TEST(LearningRateTest, AScheduleEndsWhereTheRateStaysTheSame) {
  LearningRate rate;
  EXPECT_TRUE(rate.Schedule(100).empty());
  rate = {RatePolicy::kMultistep, 1, 0.5, 0, 0, {2}, 0};
  EXPECT_THAT(rate.Schedule(100), ElementsAre(1, 1, 0.5));
}

}  // namespace
}  // namespace tench::solver_file_test
