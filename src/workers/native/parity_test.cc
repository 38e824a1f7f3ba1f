// SPDX-License-Identifier: Apache-2.0
// The native engine compared with the reference: every op in several shapes, with every candidate
// that the tuner could select; then networks of the zoo, fused as in a timed run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/zoo/zoo.h"
#include "worker/op_parity.h"
#include "workers/native/adapter.h"
#include "workers/reference/adapter.h"

namespace tench::native::parity_test {
namespace {

constexpr double kTolerance = 1e-5;
constexpr double kRoundingFloor = 1e-6;

std::unique_ptr<Adapter> Native(int64_t candidate = -1) {
  NativeSettings settings;
  settings.forced_candidate = candidate;
  return MakeNativeAdapter(settings);
}

void CompareGraph(const std::string& name, const Graph& graph, int64_t batch, const RunPlan& plan,
                  int64_t candidate, double tolerance) {
  RunPlan reference_plan = plan;
  reference_plan.options.clear();
  Result<AdapterRun> expected = RunNetwork(*MakeReferenceAdapter(), graph, batch, reference_plan);
  ASSERT_TRUE(expected.ok()) << name << ": " << expected.error().message;
  Result<AdapterRun> got = RunNetwork(*Native(candidate), graph, batch, plan);
  ASSERT_TRUE(got.ok()) << name << ": " << got.error().message;
  // After an update, outputs and gradients carry the rounding of the parameters as well.
  if (plan.steps > 1) {
    for (AdapterRun* run : {&*expected, &*got}) {
      run->outputs.clear();
      run->gradients.clear();
    }
  }
  EXPECT_THAT(Differences(*expected, *got, {tolerance, kRoundingFloor}), testing::IsEmpty())
      << name;
}

TEST(ParityTest, EveryOpAgreesForwardAndBackward) {
  for (const auto& [name, graph] : OpCases())
    CompareGraph(name, graph, 4, {Phase::kTrain, true, 2, 1, {{"convolutions", "blocked"}}}, -1,
                 kTolerance);
}

TEST(ParityTest, EveryFusedOpAgreesOverUpdatesWithADropOfTheLearningRate) {
  for (const auto& [name, graph] : OpCases())
    CompareGraph(name, graph, 4, {Phase::kTrain, false, 2, 5, {{"convolutions", "blocked"}}}, -1,
                 kTolerance);
}

// Wide enough for every path of an update: convolutions, dense layers, batch norm, an embedding,
// parameters that do not learn.
std::map<std::string, Graph> SolverGraphs() {
  std::map<std::string, Graph> graphs;
  graphs["image"] = OpChain({16, 6, 6})
                        .Then("conv", UnbiasedConvolution(20))
                        .Then("bn", BatchNorm{})
                        .Then("relu", Relu{})
                        .Then("conv2", Convolution{16, {1, 1}})
                        .Classify();
  graphs["image"].layers[1].weight.lr_mult = 0;
  Graph words = OpChain({1})
                    .ThenInput("tokens", {InputRole::kTokens, {7}, {FillKind::kInteger, 0, 30}})
                    .ThenInput("lengths", {InputRole::kLengths, {}, {FillKind::kInteger, 1, 8}})
                    .Then("words", Embedding{30, 6}, {"tokens"})
                    .Then("lstm", Lstm{8})
                    .Then("mean", MeanOverTime{}, {"lstm", "lengths"})
                    .Classify();
  words.layers.erase(words.layers.begin());
  graphs["words"] = words;
  return graphs;
}

TEST(ParityTest, EverySolverAgreesOverUpdatesWithADropOfTheLearningRate) {
  Solver nesterov, adam, tight, loose, clipped_adam;
  nesterov.type = SolverType::kNesterov;
  adam.type = clipped_adam.type = SolverType::kAdam;
  adam.delta = clipped_adam.delta =
      1e-3;  // a smaller one would turn the rounding of a near-zero gradient into a whole step
  tight.clip_gradients = clipped_adam.clip_gradients = 0.05;
  loose.clip_gradients = 1000;
  for (const auto& [name, graph] : SolverGraphs()) {
    for (const Solver& solver : {nesterov, adam, tight, loose, clipped_adam}) {
      SCOPED_TRACE(fmt::format("{} clip {}", Name(solver.type), solver.clip_gradients));
      for (const bool observe : {true, false})
        CompareGraph(name, graph, 4,
                     {Phase::kTrain, observe, 2, 5, {{"convolutions", "blocked"}}, solver}, -1,
                     kTolerance);
    }
  }
}

TEST(ParityTest, EveryConvolutionAgreesWithEveryKernelThatTheTunerMayChoose) {
  for (const auto& [name, graph] : OpCases()) {
    if (!name.starts_with("conv")) continue;
    for (int64_t candidate = 0; candidate < 9; ++candidate) {
      CompareGraph(fmt::format("{}, candidate {}", name, candidate), graph, 4,
                   {Phase::kTrain, true, 2, 1, {}}, candidate, kTolerance);
      CompareGraph(fmt::format("{}, fused, candidate {}", name, candidate), graph, 4,
                   {Phase::kTrain, false, 2, 2, {}}, candidate, kTolerance);
    }
  }
}

TEST(ParityTest, EveryLstmAgreesInEveryWayOfComputingIt) {
  for (const auto& [name, graph] : OpCases()) {
    if (!name.starts_with("lstm")) continue;
    for (int64_t way = 0; way < 3; ++way) {
      for (const int64_t batch : {1, 3, 13}) {
        const std::string what = fmt::format("{}, way {}, batch {}", name, way, batch);
        CompareGraph(what, graph, batch, {Phase::kTrain, true, 2, 1, {}}, way, kTolerance);
        CompareGraph(what + ", fused", graph, batch, {Phase::kTrain, false, 2, 3, {}}, way,
                     kTolerance);
        CompareGraph(what + ", inference", graph, batch, {Phase::kForward, false, 2, 1, {}}, way,
                     kTolerance);
      }
    }
  }
}

TEST(ParityTest, EveryOpAgreesInInference) {
  for (const auto& [name, graph] : OpCases()) {
    CompareGraph(name, graph, 3, {Phase::kForward, true, 2, 1, {{"convolutions", "blocked"}}}, -1,
                 kTolerance);
    CompareGraph(name, graph, 3, {Phase::kForward, false, 2, 1, {{"convolutions", "blocked"}}}, -1,
                 kTolerance);
  }
}

TEST(ParityTest, OneThreadAndABatchOfOneAgree) {
  for (const auto& [name, graph] : OpCases()) {
    if (name.find("batch norm of vectors") != std::string::npos)
      continue;  // one sample has zero variance
    CompareGraph(name, graph, 1, {Phase::kTrain, false, 1, 2, {{"convolutions", "blocked"}}}, -1,
                 2 * kTolerance);
  }
}

Graph ZooGraph(const std::string& name, const std::string& data) {
  return *LoadNetwork(name, data, name == "lstm" ? 12 : 0);
}

TEST(ParityTest, SmallNetworksOfTheZooAgreeOverFiveUpdates) {
  for (const auto& [name, data] :
       std::vector<std::pair<std::string, std::string>>{{"lenet", "mnist"},
                                                        {"mlp", "mnist"},
                                                        {"autoencoder", "mnist"},
                                                        {"autoencoder-stage2", "mnist"},
                                                        {"lstm", "imdb"}}) {
    for (const bool observe : {true, false}) {
      CompareGraph(name, ZooGraph(name, data), 4,
                   {Phase::kTrain, observe, 2, 5, {{"convolutions", "blocked"}}}, -1,
                   2 * kTolerance);
    }
    CompareGraph(name, ZooGraph(name, data), 4,
                 {Phase::kForward, false, 2, 1, {{"convolutions", "blocked"}}}, -1, kTolerance);
  }
}

// The arena would overwrite the gradients of the last layers by those of the first.
TEST(ParityTest, ATimedGradientStepKeepsEveryGradient) {
  std::vector<OpCase> cases = OpCases();
  cases.push_back({"lenet", ZooGraph("lenet", "mnist")});
  cases.push_back({"lstm", ZooGraph("lstm", "imdb")});
  for (const auto& [name, graph] : cases) {
    EXPECT_THAT(
        CompareTimedGradients(*MakeReferenceAdapter(), *Native(), graph, 4,
                              {{"convolutions", "blocked"}}, {2 * kTolerance, kRoundingFloor}),
        testing::IsEmpty())
        << name;
  }
  BuildOptions train;
  train.options["convolutions"] = "blocked";
  EXPECT_FALSE(
      Native()->Build(*Infer(ZooGraph("lenet", "mnist"), 4), train)->gradients_materialized)
      << "SGD is fused into some gradients";
}

// In a deep network rounding changes the sign of some ReLU inputs and the argmax of some pools.
// Each changes about one element of a gradient; 1e-2 allows a few. The tests above hold single ops
// to 1e-5, and this one the loss, to which a single element hardly contributes.
TEST(ParityTest, ConvolutionalNetworksOfTheZooAgreeUpToAFewOpenedRelus) {
  constexpr double kFewElements = 1e-2;
  for (const std::string name : {"alexnet", "googlenet", "resnet18"}) {
    SCOPED_TRACE(name);
    const Graph graph = ZooGraph(name, "cifar10");
    const RunPlan plan{Phase::kTrain, false, 2, 1, {{"convolutions", "blocked"}}};
    const std::unique_ptr<Adapter> reference = MakeReferenceAdapter(), native = Native();
    const AdapterRun expected = *RunNetwork(*reference, graph, 2, plan);
    const AdapterRun got = *RunNetwork(*native, graph, 2, plan);
    EXPECT_NEAR(got.losses[0], expected.losses[0], kTolerance * expected.losses[0]);
    AdapterRun expected_state, got_state;
    expected_state.state = expected.state;
    got_state.state = got.state;
    EXPECT_THAT(Differences(expected_state, got_state, {kFewElements, kRoundingFloor}),
                testing::IsEmpty());
    CompareGraph(name, graph, 2, {Phase::kForward, false, 2, 1, {{"convolutions", "blocked"}}}, -1,
                 kTolerance);
  }
}

}  // namespace
}  // namespace tench::native::parity_test
