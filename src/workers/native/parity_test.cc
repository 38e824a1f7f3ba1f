// SPDX-License-Identifier: Apache-2.0
// The native engine compared with the reference: every op in several shapes, with every candidate
// that the tuner could select; then networks of the zoo, fused as in a timed run.
#include <gtest/gtest.h>

#include <cmath>

#include "net/builder.h"
#include "net/op_parameters.h"
#include "net/zoo/zoo.h"
#include "worker/adapter_run.h"
#include "workers/native/adapter.h"
#include "workers/reference/adapter.h"

namespace tench::native {
namespace {

constexpr double kTolerance = 1e-5;

std::unique_ptr<Adapter> Native(int64_t candidate = -1) {
  NativeSettings settings;
  settings.cache_folder = "";
  settings.forced_candidate = candidate;
  return MakeNativeAdapter(settings);
}

ParameterRule Weights() { return {{FillKind::kGaussian, 0, 0.1}, 1, 1}; }
ParameterRule Biases() { return {{FillKind::kUniform, -0.5, 0.5}, 2, 0}; }

struct Net {
  GraphBuilder builder{"net"};
  std::string top = "data";

  explicit Net(const Shape& sample) {
    builder.Append("data", Input{InputRole::kData, sample, {FillKind::kUniform, -1, 1}}, {});
  }
  Net& Then(const std::string& name, Op op, std::vector<std::string> inputs = {}) {
    if (inputs.empty()) inputs = {top};
    top = builder.Append(name, op, inputs, HasWeight(op) ? Weights() : ParameterRule{},
                         HasBias(op) ? Biases() : ParameterRule{});
    return *this;
  }
  // A loss whose gradient differs in every element.
  Graph Classify(int64_t classes = 5) {
    Then("flat", Flatten{}).Then("scores", FullyConnected{classes, true});
    builder.Append(
        "label",
        Input{InputRole::kLabel, {}, {FillKind::kInteger, 0, static_cast<double>(classes)}}, {});
    builder.Append("loss", SoftmaxCrossEntropy{}, {"scores", "label"});
    return builder.Take();
  }
};

Convolution Conv(int64_t out, Hw kernel, Hw stride = {1, 1}, Hw pad = {0, 0}, int64_t groups = 1,
                 Hw dilation = {1, 1}, bool bias = true) {
  return {out, kernel, stride, pad, dilation, groups, bias};
}

// For use before a batch norm, where a bias has a near-zero gradient.
Convolution Unbiased(int64_t out) { return Conv(out, {3, 3}, {1, 1}, {0, 0}, 1, {1, 1}, false); }

// Ops that Caffe's networks need beyond those of the zoo, in blocked layouts with and without
// padding and in plain ones.
void AddCaffeGraphs(std::map<std::string, Graph>& graphs) {
  const auto alone = [&](const std::string& name, const Op& op) {
    graphs[name] = Net({16, 6, 6})
                       .Then("conv", Conv(16, {1, 1}))
                       .Then("op", op)
                       .Then("after", Conv(8, {1, 1}))
                       .Classify();
    graphs[name + " of odd channels"] = Net({3, 6, 5})
                                            .Then("conv", Conv(12, {1, 1}))
                                            .Then("op", op)
                                            .Then("after", Conv(8, {1, 1}))
                                            .Classify();
    graphs[name + " of few channels"] = Net({3, 6, 5})
                                            .Then("conv", Conv(6, {1, 1}))
                                            .Then("op", op)
                                            .Then("after", Conv(8, {1, 1}))
                                            .Classify();
    if (!std::holds_alternative<Lrn>(op))
      graphs[name + " of vectors"] =
          Net({9}).Then("fc", FullyConnected{13}).Then("op", op).Classify();
  };
  alone("leaky relu", Relu{0.1});
  alone("relu of a negative slope", Relu{-0.5});
  alone("square", Power{2, 0.5, 1});
  alone("cube", Power{3, 0.5, 1});
  alone("linear power", Power{1, -2, 0.5});
  alone("softmax", Softmax{});
  alone("scale", Scale{true});
  alone("scale without bias", Scale{false});
  alone("lrn within a channel", Lrn{3, 0.5, 0.75, 1, LrnRegion::kWithinChannel});
  alone("lrn within a channel of size 5", Lrn{5, 0.5, 0.5, 2, LrnRegion::kWithinChannel});
  alone("slice", Slice{1, 4});
  graphs["slices at the edges of blocks"] = Net({16, 6, 6})
                                                .Then("a", Conv(48, {1, 1}))
                                                .Then("relu", Relu{})
                                                .Then("s1", Slice{0, 16}, {"relu"})
                                                .Then("s2", Slice{16, 48}, {"relu"})
                                                .Then("b", Conv(16, {1, 1}), {"s2"})
                                                .Then("sum", Add{}, {"b", "s1"})
                                                .Then("relu2", Relu{})
                                                .Classify();
  for (const auto& [name, op] : std::map<std::string, Op>{
           {"weighted sum", Add{{0.5, -2, 1}}}, {"product", Multiply{}}, {"maximum", Maximum{}}}) {
    for (const int64_t channels : {16, 12, 3}) {
      graphs[fmt::format("{} of {} channels", name, channels)] =
          Net({channels, 6, 6})
              .Then("a", Conv(channels, {1, 1}))
              .Then("sigmoid", Sigmoid{})
              .Then("b", Conv(channels, {3, 3}, {1, 1}, {1, 1}))
              .Then("c", Conv(channels, {1, 1}), {"sigmoid"})
              .Then("op", op, {"b", "sigmoid", "c"})
              .Then("relu", Relu{})
              .Classify();
    }
  }
  graphs["a product with itself"] =
      Net({16, 5, 5}).Then("a", Conv(16, {1, 1})).Then("op", Multiply{}, {"a", "a"}).Classify();
  graphs["reshape"] = Net({16, 6, 6})
                          .Then("conv", Conv(16, {1, 1}))
                          .Then("op", Reshape{{4, 12, 12}})
                          .Then("after", Conv(8, {3, 3}))
                          .Classify();
  graphs["reshape of vectors"] = Net({9})
                                     .Then("fc", FullyConnected{36})
                                     .Then("op", Reshape{{4, 3, 3}})
                                     .Then("relu", Relu{})
                                     .Then("conv", Conv(16, {2, 2}))
                                     .Classify();
  graphs["batch norm without scale"] =
      Net({16, 6, 6}).Then("conv", Unbiased(16)).Then("bn", BatchNorm{1e-5, 0.1, false}).Classify();
  graphs["batch norm without scale, relu"] = Net({20, 6, 6})
                                                 .Then("conv", Unbiased(20))
                                                 .Then("bn", BatchNorm{1e-5, 0.1, false})
                                                 .Then("relu", Relu{})
                                                 .Then("after", Conv(16, {1, 1}))
                                                 .Classify();
  graphs["batch norm and scale"] = Net({16, 6, 6})
                                       .Then("conv", Unbiased(16))
                                       .Then("bn", BatchNorm{1e-5, 0.1, false})
                                       .Then("scale", Scale{})
                                       .Then("relu", Relu{})
                                       .Classify();
  graphs["leaky relu and dropout"] = Net({16, 6, 6})
                                         .Then("conv", Conv(16, {1, 1}))
                                         .Then("leaky", Relu{0.2})
                                         .Then("drop", Dropout{0.5})
                                         .Classify();
  Graph ignoring = Net({20}).Then("fc", FullyConnected{10}).Classify(3);
  std::get<SoftmaxCrossEntropy>(ignoring.layers.back().op).ignore_label = 1;
  graphs["ignored labels"] = ignoring;
}

std::map<std::string, Graph> OpGraphs() {
  std::map<std::string, Graph> graphs;
  const auto conv = [&](const std::string& name, const Shape& sample, const Convolution& op,
                        bool relu = true) {
    // The convolution in front makes the tested one compute a data gradient.
    Net net(sample);
    net.Then("before", Conv(sample[0], {1, 1})).Then("conv", op);
    if (relu) net.Then("relu", Relu{});
    graphs[name] = net.Classify();
  };
  conv("conv 3x3", {16, 9, 11}, Conv(24, {3, 3}, {1, 1}, {1, 1}));
  conv("conv 3x3 without padding, bias or relu", {16, 9, 7},
       Conv(16, {3, 3}, {1, 1}, {0, 0}, 1, {1, 1}, false), false);
  conv("conv 3x3 stride 2", {16, 13, 13}, Conv(32, {3, 3}, {2, 2}, {1, 1}));
  conv("conv 1x1", {32, 8, 8}, Conv(16, {1, 1}));
  conv("conv 1x1 stride 2", {16, 9, 9}, Conv(32, {1, 1}, {2, 2}));
  conv("conv 5x5 in two groups", {32, 10, 10}, Conv(48, {5, 5}, {1, 1}, {2, 2}, 2));
  conv("conv of odd channels", {20, 12, 12}, Conv(50, {5, 5}), false);
  conv("conv of few channels", {3, 20, 17}, Conv(16, {7, 7}, {2, 2}, {3, 3}));
  conv("conv dilated", {16, 15, 15}, Conv(16, {3, 3}, {1, 1}, {2, 2}, 1, {2, 2}));
  conv("conv 1x3", {16, 8, 8}, Conv(16, {1, 3}, {1, 1}, {0, 1}));
  conv("conv to few channels", {16, 8, 8}, Conv(3, {3, 3}, {1, 1}, {1, 1}));
  graphs["conv of the data"] = Net({1, 28, 28}).Then("conv", Conv(20, {5, 5})).Classify();
  graphs["conv large kernel of the data"] =
      Net({3, 35, 35}).Then("conv", Conv(16, {11, 11}, {4, 4})).Then("relu", Relu{}).Classify();

  const auto pool = [&](const std::string& name, const Shape& sample, const Pooling& op) {
    graphs[name] = Net(sample).Then("conv", Conv(sample[0], {1, 1})).Then("pool", op).Classify();
  };
  pool("max pool", {16, 8, 8}, {PoolMode::kMax, {2, 2}, {2, 2}});
  pool("max pool overlapping, ceil", {16, 12, 13}, {PoolMode::kMax, {3, 3}, {2, 2}, {0, 0}, true});
  pool("max pool padded", {8, 7, 7}, {PoolMode::kMax, {3, 3}, {1, 1}, {1, 1}});
  pool("max pool of odd channels", {20, 8, 8}, {PoolMode::kMax, {2, 2}, {2, 2}});
  pool("avg pool", {16, 14, 14}, {PoolMode::kAvg, {5, 5}, {3, 3}});
  pool("avg pool ceil", {16, 8, 8}, {PoolMode::kAvg, {3, 3}, {2, 2}, {0, 0}, true});
  pool("avg pool padded", {16, 8, 8}, {PoolMode::kAvg, {3, 3}, {2, 2}, {1, 1}});
  pool("avg pool padded, ceil", {16, 8, 8}, {PoolMode::kAvg, {3, 3}, {2, 2}, {1, 1}, true});
  pool("global pools", {16, 6, 6}, {PoolMode::kAvg, {1, 1}, {1, 1}, {0, 0}, false, true});

  graphs["lrn"] =
      Net({24, 6, 6}).Then("conv", Conv(24, {1, 1})).Then("lrn", Lrn{5, 0.1, 0.75, 1}).Classify();
  graphs["lrn of size 3"] =
      Net({16, 5, 5}).Then("conv", Conv(16, {1, 1})).Then("lrn", Lrn{3, 0.2, 0.5, 2}).Classify();
  graphs["batch norm"] =
      Net({16, 6, 6}).Then("conv", Unbiased(16)).Then("bn", BatchNorm{}).Classify();
  graphs["batch norm, relu"] = Net({20, 6, 6})
                                   .Then("conv", Unbiased(20))
                                   .Then("bn", BatchNorm{})
                                   .Then("relu", Relu{})
                                   .Classify();
  graphs["batch norm of vectors"] =
      Net({30}).Then("fc", FullyConnected{12, false}).Then("bn", BatchNorm{}).Classify();
  graphs["fc"] = Net({33})
                     .Then("fc1", FullyConnected{41})
                     .Then("relu", Relu{})
                     .Then("fc2", FullyConnected{18, false})
                     .Classify();
  graphs["fc of an image"] = Net({16, 5, 5}).Then("conv", Conv(16, {3, 3})).Classify();
  graphs["sigmoid and tanh"] = Net({16, 5, 5})
                                   .Then("conv1", Conv(16, {3, 3}))
                                   .Then("sigmoid", Sigmoid{})
                                   .Then("conv2", Conv(24, {1, 1}))
                                   .Then("tanh", Tanh{})
                                   .Then("pool", Pooling{PoolMode::kAvg, {2, 2}, {1, 1}})
                                   .Then("tanh2", Tanh{})
                                   .Classify();
  graphs["concat"] = Net({16, 6, 6})
                         .Then("a", Conv(16, {1, 1}))
                         .Then("relu_a", Relu{})
                         .Then("b", Conv(8, {3, 3}, {1, 1}, {1, 1}), {"relu_a"})
                         .Then("relu_b", Relu{})
                         .Then("c", Conv(24, {1, 1}), {"relu_a"})
                         .Then("concat", Concat{}, {"relu_b", "c", "relu_a"})
                         .Then("d", Conv(16, {1, 1}))
                         .Classify();
  graphs["concat of odd channels"] = Net({3, 6, 6})
                                         .Then("a", Conv(5, {1, 1}))
                                         .Then("relu_a", Relu{})
                                         .Then("b", Conv(12, {3, 3}, {1, 1}, {1, 1}), {"relu_a"})
                                         .Then("relu_b", Relu{})
                                         .Then("concat", Concat{}, {"relu_b", "relu_a"})
                                         .Classify();
  graphs["residual"] = Net({16, 6, 6})
                           .Then("stem", Conv(16, {3, 3}, {1, 1}, {1, 1}, 1, {1, 1}, false))
                           .Then("bn0", BatchNorm{})
                           .Then("relu0", Relu{})
                           .Then("a", Conv(16, {3, 3}, {1, 1}, {1, 1}, 1, {1, 1}, false))
                           .Then("bn1", BatchNorm{})
                           .Then("add1", Add{}, {"bn1", "relu0"})
                           .Then("relu1", Relu{})
                           .Then("b", Conv(16, {1, 1}))
                           .Then("add2", Add{}, {"b", "relu1", "stem"})
                           .Classify();
  graphs["one value read by many"] =
      Net({16, 6, 6})
          .Then("a", Conv(16, {1, 1}))
          .Then("relu", Relu{})
          .Then("p", Pooling{PoolMode::kMax, {3, 3}, {1, 1}, {1, 1}}, {"relu"})
          .Then("q", Conv(16, {3, 3}, {1, 1}, {1, 1}), {"relu"})
          .Then("add", Add{}, {"p", "q", "relu"})
          .Classify();
  AddCaffeGraphs(graphs);
  Net sequence({7, 10});
  sequence.Then("lstm1", Lstm{16}).Then("lstm2", Lstm{12});
  sequence.builder.Append("lengths", Input{InputRole::kLengths, {}, {FillKind::kInteger, 1, 8}},
                          {});
  graphs["lstm"] = sequence.Then("mean", MeanOverTime{}, {"lstm2", "lengths"}).Classify();
  Net wide({5, 21});
  wide.Then("lstm", Lstm{35});
  wide.builder.Append("lengths", Input{InputRole::kLengths, {}, {FillKind::kInteger, 1, 6}}, {});
  graphs["lstm of odd width"] = wide.Then("mean", MeanOverTime{}, {"lstm", "lengths"}).Classify();
  Net moment({1, 9});
  moment.Then("lstm", Lstm{16});
  moment.builder.Append("lengths", Input{InputRole::kLengths, {}, {FillKind::kInteger, 1, 2}}, {});
  graphs["lstm over one step of time"] =
      moment.Then("mean", MeanOverTime{}, {"lstm", "lengths"}).Classify();
  Net squared({20});
  squared.Then("fc1", FullyConnected{8}).Then("tanh", Tanh{}).Then("fc2", FullyConnected{20});
  squared.builder.Append("loss", MeanSquaredError{2}, {"fc2", "data"});
  graphs["squared error"] = squared.builder.Take();
  Net sigmoid({20});
  sigmoid.Then("fc1", FullyConnected{8}).Then("sigmoid", Sigmoid{}).Then("fc2", FullyConnected{20});
  sigmoid.builder.Append("loss", SigmoidCrossEntropy{0.5}, {"fc2", "data"});
  graphs["sigmoid cross entropy"] = sigmoid.builder.Take();
  return graphs;
}

void ExpectClose(const std::string& what, const std::map<std::string, std::vector<float>>& expected,
                 const std::map<std::string, std::vector<float>>& got, double tolerance,
                 double floor = 1e-6) {
  ASSERT_EQ(expected.size(), got.size()) << what;
  for (const auto& [name, values] : expected) {
    ASSERT_TRUE(got.contains(name)) << what << " " << name;
    EXPECT_LE(RelativeError(values, got.at(name), floor), tolerance) << what << " " << name;
  }
}

void ExpectSame(const std::string& name, const AdapterRun& expected, const AdapterRun& got,
                double tolerance) {
  SCOPED_TRACE(name);
  ASSERT_EQ(expected.losses.size(), got.losses.size());
  for (size_t i = 0; i < expected.losses.size(); ++i) {
    // A near-zero loss keeps the absolute rounding error of the scores.
    EXPECT_NEAR(got.losses[i], expected.losses[i],
                tolerance * std::max(std::abs(expected.losses[i]), 0.5))
        << "loss of step " << i;
  }
  if (expected.losses.size() == 1) {
    ExpectClose("output", expected.outputs, got.outputs, tolerance);
    ExpectClose("gradient", expected.gradients, got.gradients, tolerance);
  }
  ExpectClose("parameter", expected.parameters, got.parameters, tolerance);
  ExpectClose("state", expected.state, got.state, tolerance);
}

void CompareGraph(const std::string& name, const Graph& graph, int64_t batch, const RunPlan& plan,
                  int64_t candidate, double tolerance) {
  const std::unique_ptr<Adapter> reference = MakeReferenceAdapter(), native = Native(candidate);
  RunPlan reference_plan = plan;
  reference_plan.options.clear();
  const Result<AdapterRun> expected = RunNetwork(*reference, graph, batch, reference_plan);
  ASSERT_TRUE(expected.ok()) << name << ": " << expected.error().message;
  const Result<AdapterRun> got = RunNetwork(*native, graph, batch, plan);
  ASSERT_TRUE(got.ok()) << name << ": " << got.error().message;
  ExpectSame(name, *expected, *got, tolerance);
}

TEST(ParityTest, EveryOpAgreesForwardAndBackward) {
  for (const auto& [name, graph] : OpGraphs())
    CompareGraph(name, graph, 4, {Phase::kTrain, true, 2, 1, {{"tune", "off"}}}, -1, kTolerance);
}

TEST(ParityTest, EveryFusedOpAgreesOverUpdatesWithADropOfTheLearningRate) {
  for (const auto& [name, graph] : OpGraphs())
    CompareGraph(name, graph, 4, {Phase::kTrain, false, 2, 5, {{"tune", "off"}}}, -1, kTolerance);
}

// Wide enough for every path of an update: convolutions, dense layers, batch norm, an embedding,
// parameters that do not learn.
std::map<std::string, Graph> SolverGraphs() {
  std::map<std::string, Graph> graphs;
  graphs["image"] = Net({16, 6, 6})
                        .Then("conv", Unbiased(20))
                        .Then("bn", BatchNorm{})
                        .Then("relu", Relu{})
                        .Then("conv2", Conv(16, {1, 1}))
                        .Classify();
  graphs["image"].layers[1].weight.lr_mult = 0;
  Net sequence({1});
  sequence.builder.Append("tokens", Input{InputRole::kTokens, {7}, {FillKind::kInteger, 0, 30}},
                          {});
  sequence.builder.Append("lengths", Input{InputRole::kLengths, {}, {FillKind::kInteger, 1, 8}},
                          {});
  Graph words = sequence.Then("words", Embedding{30, 6}, {"tokens"})
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
                     {Phase::kTrain, observe, 2, 5, {{"tune", "off"}}, false, solver}, -1,
                     kTolerance);
    }
  }
}

TEST(ParityTest, EveryConvolutionAgreesWithEveryKernelThatTheTunerMayChoose) {
  for (const auto& [name, graph] : OpGraphs()) {
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
  for (const auto& [name, graph] : OpGraphs()) {
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
  for (const auto& [name, graph] : OpGraphs()) {
    CompareGraph(name, graph, 3, {Phase::kForward, true, 2, 1, {{"tune", "off"}}}, -1, kTolerance);
    CompareGraph(name, graph, 3, {Phase::kForward, false, 2, 1, {{"tune", "off"}}}, -1, kTolerance);
  }
}

TEST(ParityTest, OneThreadAndABatchOfOneAgree) {
  for (const auto& [name, graph] : OpGraphs()) {
    if (name.find("batch norm of vectors") != std::string::npos)
      continue;  // one sample has zero variance
    CompareGraph(name, graph, 1, {Phase::kTrain, false, 1, 2, {{"tune", "off"}}}, -1,
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
      CompareGraph(name, ZooGraph(name, data), 4, {Phase::kTrain, observe, 2, 5, {{"tune", "off"}}},
                   -1, 2 * kTolerance);
    }
    CompareGraph(name, ZooGraph(name, data), 4, {Phase::kForward, false, 2, 1, {{"tune", "off"}}},
                 -1, kTolerance);
  }
}

// In a deep network rounding changes the sign of some ReLU inputs and the argmax of some pools.
// Each changes about one element of a gradient; 1e-2 allows a few. The tests above hold single ops
// to 1e-5, and this one the loss, to which a single element hardly contributes.
TEST(ParityTest, ConvolutionalNetworksOfTheZooAgreeUpToAFewOpenedRelus) {
  constexpr double kFewElements = 1e-2;
  for (const std::string name : {"alexnet", "googlenet", "resnet18"}) {
    SCOPED_TRACE(name);
    const Graph graph = ZooGraph(name, "cifar10");
    const RunPlan plan{Phase::kTrain, false, 2, 1, {{"tune", "off"}}};
    const std::unique_ptr<Adapter> reference = MakeReferenceAdapter(), native = Native();
    const AdapterRun expected = *RunNetwork(*reference, graph, 2, plan);
    const AdapterRun got = *RunNetwork(*native, graph, 2, plan);
    EXPECT_NEAR(got.losses[0], expected.losses[0], kTolerance * expected.losses[0]);
    ExpectClose("state", expected.state, got.state, kFewElements);
    CompareGraph(name, graph, 2, {Phase::kForward, false, 2, 1, {{"tune", "off"}}}, -1, kTolerance);
  }
}

}  // namespace
}  // namespace tench::native
