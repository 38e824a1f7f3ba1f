// SPDX-License-Identifier: Apache-2.0
#include "workers/reference/adapter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "data/data_set.h"
#include "net/builder.h"
#include "net/fill.h"

namespace tench::adapter_test {
namespace {

using Tensors = std::map<std::string, std::vector<float>>;

TensorSink Into(Tensors& tensors) {
  return [&tensors](const std::string& name, std::span<const float> values) -> Status {
    tensors[name].assign(values.begin(), values.end());
    return Ok();
  };
}

// Convolutions in two branches, batch norm, LRN, dropout, add and concat, and a branch with two
// readers.
Graph Branches() {
  GraphBuilder b("branches");
  const ParameterRule msra{{FillKind::kMsra, 0, 0}}, one{{FillKind::kConstant, 1, 0}};
  b.Append("data", Input{InputRole::kData, {3, 9, 9}, {FillKind::kGaussian, 0, 1}}, {});
  b.Append("label", Input{InputRole::kLabel, {}, {FillKind::kInteger, 0, 5}}, {});
  b.Append("conv1", Convolution{8, {3, 3}, {2, 2}, {1, 1}}, {"data"}, msra);
  b.Append("relu1", Relu{}, {"conv1"});
  b.Append("norm1", Lrn{}, {"relu1"});
  b.Append("left", Convolution{8, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 2, false}, {"norm1"}, msra);
  b.Append("left_bn", BatchNorm{}, {"left"}, one);
  b.Append("sum", Add{}, {"left_bn", "norm1"});
  b.Append("both", Concat{}, {"sum", "norm1"});
  b.Append("pool", Pooling{PoolMode::kMax, {3, 3}, {2, 2}, {0, 0}, true}, {"both"});
  b.Append("flat", Flatten{}, {"pool"});
  b.Append("drop", Dropout{0.5}, {"flat"});
  b.Append("fc", FullyConnected{5}, {"drop"}, msra);
  b.Append("loss", SoftmaxCrossEntropy{}, {"fc", "label"});
  return b.Take();
}

struct Trial {
  std::unique_ptr<Adapter> adapter = MakeReferenceAdapter();
  TypedGraph graph;

  Trial(const Graph& network, int64_t batch, BuildOptions options) : graph(*Infer(network, batch)) {
    EXPECT_TRUE(adapter->Build(graph, options).ok());
    const TensorSource source = [&](const std::string& name, std::span<float> out) -> Status {
      for (const Parameter& parameter : graph.parameters) {
        if (parameter.name == name) FillTensor(1, name, parameter.fill, 0, out);
      }
      return Ok();
    };
    EXPECT_TRUE(adapter->SetParameters(source).ok());
    EXPECT_TRUE(adapter->SetState(source).ok());
    std::vector<HostTensor> inputs;
    MakeBatch(graph, {1, batch, 0}, 0, inputs);
    EXPECT_TRUE(adapter->SetBatch(inputs).ok());
  }
};

BuildOptions Observing(Phase phase, int64_t threads = 1) {
  BuildOptions options;
  options.phase = phase;
  options.threads = threads;
  options.observe = true;
  return options;
}

TEST(ReferenceAdapterTest, GivesTheSameBitsWithOneAndWithSeveralThreads) {
  std::vector<Tensors> results;
  std::vector<double> losses;
  for (const int64_t threads : {1, 2, 3}) {
    Trial trial(Branches(), 6, Observing(Phase::kTrain, threads));
    for (int i = 0; i < 3; ++i) losses.push_back(*trial.adapter->Step(Phase::kTrain));
    Tensors tensors;
    EXPECT_TRUE(trial.adapter->Gradients(Into(tensors)).ok());
    EXPECT_TRUE(trial.adapter->State(Into(tensors)).ok());
    const std::vector<std::string> layers = {"conv1", "pool", "fc"};
    EXPECT_TRUE(trial.adapter->Outputs(layers, Into(tensors)).ok());
    results.push_back(std::move(tensors));
  }
  // Gradients, then momenta and running statistics, then outputs.
  EXPECT_EQ(results[0].size(), 7u + 9u + 3u);
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
  EXPECT_EQ(std::vector(losses.begin(), losses.begin() + 3),
            std::vector(losses.begin() + 3, losses.begin() + 6));
}

TEST(ReferenceAdapterTest, ComputesTheSameWithAndWithoutSharedMemory) {
  for (const Phase phase : {Phase::kForward, Phase::kGradient, Phase::kTrain}) {
    BuildOptions options = Observing(phase);
    Trial observed(Branches(), 4, options);
    options.observe = false;
    Trial shared(Branches(), 4, options);
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(*observed.adapter->Step(phase), *shared.adapter->Step(phase));
    Tensors a, b;
    EXPECT_TRUE(observed.adapter->Gradients(Into(a)).ok());
    EXPECT_TRUE(shared.adapter->Gradients(Into(b)).ok());
    EXPECT_EQ(a, b);
    const Result<BuildFacts> facts = MakeReferenceAdapter()->Build(shared.graph, options);
    EXPECT_EQ(facts->gradients_materialized, phase == Phase::kGradient);
  }
}

TEST(ReferenceAdapterTest, GradientsOfAWholeNetworkAgreeWithDifferences) {
  BuildOptions options = Observing(Phase::kGradient);
  options.dropout = false;
  Trial trial(Branches(), 4, options);
  ASSERT_TRUE(trial.adapter->Step(Phase::kGradient).ok());
  Tensors gradients, parameters;
  ASSERT_TRUE(trial.adapter->Gradients(Into(gradients)).ok());
  ASSERT_TRUE(trial.adapter->Parameters(Into(parameters)).ok());
  const auto loss_at = [&](const std::string& moved, double distance) {
    const TensorSource source = [&](const std::string& name, std::span<float> out) -> Status {
      std::copy(parameters[name].begin(), parameters[name].end(), out.begin());
      if (name != moved) return Ok();
      double norm = 0;
      for (const float g : gradients[name]) norm += static_cast<double>(g) * g;
      for (size_t i = 0; i < out.size(); ++i)
        out[i] += static_cast<float>(distance * gradients[name][i] / std::sqrt(norm));
      return Ok();
    };
    EXPECT_TRUE(trial.adapter->SetParameters(source).ok());
    return *trial.adapter->Step(Phase::kGradient);
  };
  for (const auto& [name, gradient] : gradients) {
    double norm = 0;
    for (const float g : gradient) norm += static_cast<double>(g) * g;
    const double slope = (loss_at(name, 1e-3) - loss_at(name, -1e-3)) / 2e-3;
    EXPECT_NEAR(slope / std::sqrt(norm), 1, 5e-3) << name;
  }
}

TEST(ReferenceAdapterTest, ForwardPhaseKeepsOnlyWhatIsStillRead) {
  auto forward = MakeReferenceAdapter(), train = MakeReferenceAdapter();
  const TypedGraph graph = *Infer(Branches(), 8);
  BuildOptions options;
  options.phase = Phase::kForward;
  const int64_t forward_bytes = forward->Build(graph, options)->planned_bytes;
  options.phase = Phase::kTrain;
  EXPECT_LT(2 * forward_bytes, train->Build(graph, options)->planned_bytes);
}

// w·x with x = 1 and target 0 has the gradient 2w, so every step has a closed form.
Graph OneWeight() {
  GraphBuilder b("one");
  b.Append("data", Input{InputRole::kData, {1}, {FillKind::kConstant, 1, 0}}, {});
  b.Append("target", Input{InputRole::kData, {1}, {FillKind::kConstant, 0, 0}}, {});
  b.Append("fc", FullyConnected{1, false}, {"data"}, {{FillKind::kConstant, 4, 0}, 2, 3});
  b.Append("loss", MeanSquaredError{}, {"fc", "target"});
  return b.Take();
}

TEST(ReferenceAdapterTest, KeepsTheLearningRateInsideTheMomentum) {
  BuildOptions options = Observing(Phase::kTrain);
  options.solver = {0.01, 0.5, 0.1};
  Trial trial(OneWeight(), 1, options);
  // lr_mult 2 and decay_mult 3: v = 0.5·v + 2·lr·(2w + 0.3w), w = w - v.
  double v = 0, w = 4;
  for (const double lr : {0.01, 0.01, 0.001, 0.001}) {
    EXPECT_TRUE(trial.adapter->SetLearningRate(lr).ok());
    EXPECT_NEAR(*trial.adapter->Step(Phase::kTrain), w * w, 1e-5);
    v = 0.5 * v + 2 * lr * 2.3 * w;
    w -= v;
    Tensors state, parameters;
    EXPECT_TRUE(trial.adapter->State(Into(state)).ok());
    EXPECT_TRUE(trial.adapter->Parameters(Into(parameters)).ok());
    EXPECT_NEAR(state["fc.weight.momentum"][0], v, 1e-6);
    EXPECT_NEAR(parameters["fc.weight"][0], w, 1e-6);
  }
}

TEST(ReferenceAdapterTest, NesterovStepsBackAndOverAsCaffeDoes) {
  BuildOptions options = Observing(Phase::kTrain);
  options.solver = {0.01, 0.5, 0.1, SolverType::kNesterov};
  Trial trial(OneWeight(), 1, options);
  double v = 0, w = 4;
  for (const double lr : {0.01, 0.01, 0.001, 0.001}) {
    EXPECT_TRUE(trial.adapter->SetLearningRate(lr).ok());
    EXPECT_TRUE(trial.adapter->Step(Phase::kTrain).ok());
    const double before = v;
    v = 0.5 * v + 2 * lr * 2.3 * w;
    w -= 1.5 * v - 0.5 * before;
    Tensors parameters;
    EXPECT_TRUE(trial.adapter->Parameters(Into(parameters)).ok());
    EXPECT_NEAR(parameters["fc.weight"][0], w, 1e-6);
  }
}

TEST(ReferenceAdapterTest, AdamCorrectsItsMomentaAndAddsDeltaOutsideTheRoot) {
  BuildOptions options = Observing(Phase::kTrain);
  options.solver = {0.01, 0.5, 0.1, SolverType::kAdam, 0.9, 0.25};
  Trial trial(OneWeight(), 1, options);
  double m = 0, s = 0, w = 4;
  for (int t = 1; t <= 4; ++t) {
    EXPECT_TRUE(trial.adapter->Step(Phase::kTrain).ok());
    const double g = 2.3 * w;
    m = 0.5 * m + 0.5 * g;
    s = 0.9 * s + 0.1 * g * g;
    w -=
        0.02 * std::sqrt(1 - std::pow(0.9, t)) / (1 - std::pow(0.5, t)) * m / (std::sqrt(s) + 0.25);
    Tensors state, parameters;
    EXPECT_TRUE(trial.adapter->State(Into(state)).ok());
    EXPECT_TRUE(trial.adapter->Parameters(Into(parameters)).ok());
    EXPECT_NEAR(state["fc.weight.momentum"][0], m, 1e-5);
    EXPECT_NEAR(state["fc.weight.momentum2"][0], s, 1e-4);
    EXPECT_NEAR(parameters["fc.weight"][0], w, 1e-5);
  }
}

TEST(ReferenceAdapterTest, ClipsAllGradientsTogetherBeforeTheDecay) {
  GraphBuilder b("two");
  b.Append("data", Input{InputRole::kData, {1}, {FillKind::kConstant, 1, 0}}, {});
  b.Append("target", Input{InputRole::kData, {1}, {FillKind::kConstant, 0, 0}}, {});
  b.Append("a", FullyConnected{1, false}, {"data"}, {{FillKind::kConstant, 3, 0}, 1, 1});
  b.Append("b", FullyConnected{1, false}, {"data"}, {{FillKind::kConstant, 4, 0}, 1, 0});
  b.Append("frozen", FullyConnected{1, false}, {"data"}, {{FillKind::kConstant, 100, 0}, 0, 1});
  for (const char* name : {"a", "b", "frozen"})
    b.Append(std::string(name) + "_loss", MeanSquaredError{0.5}, {name, "target"});
  BuildOptions options = Observing(Phase::kTrain);
  options.solver = {0.1, 0, 0.5};
  options.solver.clip_gradients = 1;
  // The gradients are 3 and 4, so their norm is 5. The frozen parameter is excluded.
  Trial trial(b.Take(), 1, options);
  EXPECT_TRUE(trial.adapter->Step(Phase::kTrain).ok());
  Tensors parameters, gradients;
  EXPECT_TRUE(trial.adapter->Parameters(Into(parameters)).ok());
  EXPECT_TRUE(trial.adapter->Gradients(Into(gradients)).ok());
  EXPECT_NEAR(parameters["a.weight"][0], 3 - 0.1 * (3 / 5.0 + 0.5 * 3), 1e-6);
  EXPECT_NEAR(parameters["b.weight"][0], 4 - 0.1 * (4 / 5.0), 1e-6);
  EXPECT_EQ(parameters["frozen.weight"][0], 100);
  EXPECT_EQ(gradients["b.weight"][0], 4);
}

TEST(ReferenceAdapterTest, GradientPhaseLeavesParametersAlone) {
  Trial trial(Branches(), 4, Observing(Phase::kGradient));
  Tensors before, after, state;
  EXPECT_TRUE(trial.adapter->Parameters(Into(before)).ok());
  EXPECT_TRUE(trial.adapter->Step(Phase::kGradient).ok());
  EXPECT_TRUE(trial.adapter->Parameters(Into(after)).ok());
  EXPECT_EQ(before, after);
  EXPECT_TRUE(trial.adapter->State(Into(state)).ok());
  EXPECT_THAT(state, testing::UnorderedElementsAre(testing::Key("left_bn.running_mean"),
                                                   testing::Key("left_bn.running_var")));
}

TEST(ReferenceAdapterTest, ForwardPhaseUsesNoDropoutAndMovesNoStatistics) {
  Trial trial(Branches(), 4, Observing(Phase::kForward));
  Tensors before, after;
  EXPECT_TRUE(trial.adapter->State(Into(before)).ok());
  const double first = *trial.adapter->Step(Phase::kForward);
  EXPECT_EQ(first, *trial.adapter->Step(Phase::kForward));
  EXPECT_TRUE(trial.adapter->State(Into(after)).ok());
  EXPECT_EQ(before, after);
  Tensors outputs;
  const std::vector<std::string> layers = {"drop", "flat"};
  EXPECT_TRUE(trial.adapter->Outputs(layers, Into(outputs)).ok());
  EXPECT_EQ(outputs["drop"], outputs["flat"]);
}

TEST(ReferenceAdapterTest, JitterMovesGradientsALittleAndOnlyWhenAskedFor) {
  const auto gradients = [](const std::string& jitter) {
    BuildOptions options = Observing(Phase::kGradient);
    options.dropout = false;
    if (!jitter.empty()) options.options["jitter"] = jitter;
    Trial trial(Branches(), 4, options);
    EXPECT_TRUE(trial.adapter->Step(Phase::kGradient).ok());
    Tensors tensors;
    EXPECT_TRUE(trial.adapter->Gradients(Into(tensors)).ok());
    return tensors;
  };
  const Tensors plain = gradients(""), still = gradients("0"), moved = gradients("16");
  EXPECT_EQ(plain, still);
  for (const auto& [name, values] : plain) {
    double difference = 0, norm = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      difference += std::pow(double{values[i]} - moved.at(name)[i], 2);
      norm += std::pow(values[i], 2);
    }
    EXPECT_GT(difference, 0) << name;
    EXPECT_LT(std::sqrt(difference / norm), 1e-3) << name;
  }
}

TEST(ReferenceAdapterTest, RefusesAJitterThatIsNoNumber) {
  BuildOptions options;
  options.options["jitter"] = "much";
  const auto built = MakeReferenceAdapter()->Build(*Infer(Branches(), 2), options);
  ASSERT_FALSE(built.ok());
  EXPECT_THAT(built.error().message,
              testing::HasSubstr("option jitter is 'much'; it must be a number from 0"));
}

TEST(ReferenceAdapterTest, TrainsTheNetworkDown) {
  BuildOptions options = Observing(Phase::kTrain, 2);
  options.dropout = false;
  options.solver = {0.02, 0.9, 0.0005};
  Trial trial(Branches(), 8, options);
  const double first = *trial.adapter->Step(Phase::kTrain);
  double last = first;
  for (int i = 0; i < 30; ++i) last = *trial.adapter->Step(Phase::kTrain);
  EXPECT_LT(last, first / 2);
}

}  // namespace
}  // namespace tench::adapter_test
