// SPDX-License-Identifier: Apache-2.0
// MXNet's ops as they are mapped, against the reference: every place where MXNet's convention is
// not tench's has a network here.
#include <gtest/gtest.h>

#include "net/builder.h"
#include "net/op_parameters.h"
#include "worker/adapter_run.h"
#include "workers/mxnet/adapter.h"
#include "workers/mxnet/library.h"
#include "workers/reference/adapter.h"

namespace tench::mxnet {
namespace {

constexpr double kTolerance = 1e-5;

const ParameterRule kWeights{{FillKind::kGaussian, 0, 0.1}, 1, 1};
const ParameterRule kBiases{{FillKind::kUniform, -0.5, 0.5}, 2, 0};
// Before a batch norm, where the gradient of a bias would be nothing but rounding.
const Convolution kUnbiased{8, {3, 3}, {1, 1}, {0, 0}, {1, 1}, 1, false};

// A chain over data, ended by a classifier whose gradient is different everywhere.
class Chain {
 public:
  explicit Chain(const Shape& sample) {
    builder_.Append("data", Input{InputRole::kData, sample, {FillKind::kUniform, -1, 1}}, {});
  }

  Chain& Then(const std::string& name, const Op& op, std::vector<std::string> inputs = {}) {
    if (inputs.empty()) inputs = {top_};
    top_ = builder_.Append(name, op, inputs, HasWeight(op) ? kWeights : ParameterRule{},
                           HasBias(op) ? kBiases : ParameterRule{});
    return *this;
  }
  Graph Classify() {
    Then("flat", Flatten{}).Then("scores", FullyConnected{5});
    builder_.Append("label", Input{InputRole::kLabel, {}, {FillKind::kInteger, 0, 5}}, {});
    builder_.Append("loss", SoftmaxCrossEntropy{0.7}, {"scores", "label"});
    return builder_.Take();
  }
  GraphBuilder& builder() { return builder_; }

 private:
  GraphBuilder builder_{"net"};
  std::string top_ = "data";
};

constexpr double kRoundingFloor = 1e-6;

void ExpectClose(const std::string& what, const Tensors& expected, const Tensors& got,
                 double tolerance) {
  ASSERT_EQ(expected.size(), got.size()) << what;
  for (const auto& [name, values] : expected) {
    ASSERT_TRUE(got.contains(name)) << what << " " << name;
    EXPECT_LE(RelativeError(values, got.at(name), kRoundingFloor), tolerance)
        << what << " " << name;
  }
}

void ExpectSame(const Graph& graph, int64_t batch, const RunPlan& plan,
                double tolerance = kTolerance) {
  const std::unique_ptr<Adapter> reference = MakeReferenceAdapter(),
                                 mxnet = MakeMxnetAdapter(Library::DefaultFile());
  RunPlan plain = plan;
  plain.options.clear();
  const Result<AdapterRun> expected = RunNetwork(*reference, graph, batch, plain),
                           got = RunNetwork(*mxnet, graph, batch, plan);
  ASSERT_TRUE(expected.ok()) << expected.error().message;
  ASSERT_TRUE(got.ok()) << got.error().message;
  ASSERT_EQ(expected->losses.size(), got->losses.size());
  for (size_t i = 0; i < expected->losses.size(); ++i)
    EXPECT_NEAR(got->losses[i], expected->losses[i], tolerance * std::abs(expected->losses[i]))
        << "step " << i;
  ExpectClose("output", expected->outputs, got->outputs, tolerance);
  ExpectClose("gradient", expected->gradients, got->gradients, tolerance);
  ExpectClose("parameter", expected->parameters, got->parameters, tolerance);
  ExpectClose("state", expected->state, got->state, tolerance);
}

void ExpectSameEverywhere(const std::string& name, const Graph& graph, int64_t batch = 4) {
  SCOPED_TRACE(name);
  ExpectSame(graph, batch, {Phase::kTrain, true, 2, 1, {}});
  ExpectSame(graph, batch, {Phase::kTrain, false, 2, 4, {}}, 3 * kTolerance);
  ExpectSame(graph, batch, {Phase::kForward, true, 2, 1, {}});
  ExpectSame(graph, batch, {Phase::kForward, false, 2, 1, {}});
}

Graph PoolGraph(const Shape& sample, const Pooling& op) {
  return Chain(sample).Then("conv", Convolution{sample[0], {1, 1}}).Then("pool", op).Classify();
}

TEST(MxnetParityTest, PoolsRoundAsCaffeDoes) {
  const auto avg = PoolMode::kAvg, max = PoolMode::kMax;
  ExpectSameEverywhere("max, floor", PoolGraph({8, 9, 9}, {max, {2, 2}, {2, 2}}));
  ExpectSameEverywhere("max, ceil", PoolGraph({8, 12, 13}, {max, {3, 3}, {2, 2}, {0, 0}, true}));
  ExpectSameEverywhere("max, ceil, padded: the last window is dropped",
                       PoolGraph({8, 7, 7}, {max, {2, 2}, {2, 2}, {1, 1}, true}));
  ExpectSameEverywhere("dropped on one side alone",
                       PoolGraph({8, 7, 8}, {max, {2, 3}, {2, 2}, {1, 0}, true}));
  ExpectSameEverywhere("avg, ceil", PoolGraph({8, 8, 8}, {avg, {3, 3}, {2, 2}, {0, 0}, true}));
  ExpectSameEverywhere("avg, padded", PoolGraph({8, 8, 8}, {avg, {3, 3}, {2, 2}, {1, 1}}));
  ExpectSameEverywhere("avg, ceil, padded",
                       PoolGraph({8, 8, 8}, {avg, {3, 3}, {2, 2}, {1, 1}, true}));
  ExpectSameEverywhere("a kernel larger than the image",
                       PoolGraph({8, 3, 6}, {avg, {4, 3}, {3, 3}, {0, 0}, true}));
  ExpectSameEverywhere("global avg",
                       PoolGraph({8, 6, 5}, {avg, {1, 1}, {1, 1}, {0, 0}, false, true}));
  ExpectSameEverywhere("global max",
                       PoolGraph({8, 6, 5}, {max, {1, 1}, {1, 1}, {0, 0}, false, true}));
}

TEST(MxnetParityTest, ConvolutionsWithGroupsDilationAndWithoutBias) {
  ExpectSameEverywhere("groups", Chain({16, 9, 9})
                                     .Then("a", Convolution{16, {1, 1}})
                                     .Then("b", Convolution{24, {5, 5}, {1, 1}, {2, 2}, {1, 1}, 2})
                                     .Classify());
  ExpectSameEverywhere("dilated", Chain({8, 11, 9})
                                      .Then("a", Convolution{8, {1, 1}})
                                      .Then("b", Convolution{8, {3, 3}, {1, 1}, {2, 2}, {2, 2}})
                                      .Classify());
  ExpectSameEverywhere("strided, no bias",
                       Chain({3, 13, 11})
                           .Then("a", Convolution{8, {3, 1}, {2, 3}, {1, 0}, {1, 1}, 1, false})
                           .Classify());
}

TEST(MxnetParityTest, RunningVariancesAreUnbiasedAndInferenceUsesThem) {
  ExpectSameEverywhere("images",
                       Chain({4, 6, 6})
                           .Then("conv", kUnbiased)
                           .Then("bn", BatchNorm{1e-3, 0.25})
                           .Then("relu", Relu{})
                           .Classify(),
                       2);
  ExpectSameEverywhere(
      "vectors",
      Chain({30}).Then("fc", FullyConnected{12, false}).Then("bn", BatchNorm{}).Classify(), 5);
}

TEST(MxnetParityTest, NormalisationActivationsSumsAndJoins) {
  ExpectSameEverywhere("lrn", Chain({24, 6, 6})
                                  .Then("conv", Convolution{24, {1, 1}})
                                  .Then("lrn", Lrn{5, 0.1, 0.75, 1})
                                  .Classify());
  ExpectSameEverywhere("lrn of size 3", Chain({8, 5, 5})
                                            .Then("conv", Convolution{8, {1, 1}})
                                            .Then("lrn", Lrn{3, 0.2, 0.5, 2})
                                            .Classify());
  ExpectSameEverywhere("branches", Chain({8, 6, 6})
                                       .Then("a", Convolution{8, {1, 1}})
                                       .Then("sigmoid", Sigmoid{})
                                       .Then("b", Convolution{8, {3, 3}, {1, 1}, {1, 1}})
                                       .Then("tanh", Tanh{})
                                       .Then("two", Add{}, {"tanh", "sigmoid"})
                                       .Then("three", Add{}, {"two", "a", "b"})
                                       .Then("join", Concat{}, {"three", "two", "a"})
                                       .Classify());
}

TEST(MxnetParityTest, OpsOfCaffesNetworks) {
  const auto each = [](const std::string& name, const Op& op) {
    ExpectSameEverywhere(
        name, Chain({8, 6, 5}).Then("conv", Convolution{8, {1, 1}}).Then("op", op).Classify());
    if (std::holds_alternative<Lrn>(op)) return;
    ExpectSameEverywhere(name + " of vectors",
                         Chain({9}).Then("fc", FullyConnected{13}).Then("op", op).Classify());
  };
  each("leaky relu", Relu{0.2});
  each("square", Power{2, 0.5, 1});
  each("linear", Power{1, -2, 0.5});
  each("constant", Power{0, 1, 0});
  each("softmax", Softmax{});
  each("scale", Scale{});
  each("scale without bias", Scale{false});
  each("slice", Slice{1, 4});
  each("lrn within a channel", Lrn{3, 0.9, 0.75, 1, LrnRegion::kWithinChannel});
  ExpectSameEverywhere("reshape", Chain({8, 6, 5})
                                      .Then("conv", Convolution{8, {1, 1}})
                                      .Then("op", Reshape{{4, 10, 6}})
                                      .Then("after", Convolution{8, {3, 3}})
                                      .Classify());
  ExpectSameEverywhere("batch norm alone", Chain({4, 6, 6})
                                               .Then("conv", kUnbiased)
                                               .Then("bn", BatchNorm{1e-3, 0.25, false})
                                               .Then("scale", Scale{})
                                               .Then("relu", Relu{})
                                               .Classify());
  for (const Op& op : {Op(Add{{0.5, -2, 1}}), Op(Multiply{}), Op(Maximum{})}) {
    ExpectSameEverywhere(std::string(OpName(op)),
                         Chain({8, 6, 6})
                             .Then("a", Convolution{8, {1, 1}})
                             .Then("sigmoid", Sigmoid{})
                             .Then("b", Convolution{8, {3, 3}, {1, 1}, {1, 1}})
                             .Then("op", op, {"a", "sigmoid", "b"})
                             .Classify());
  }
  Graph ignoring = Chain({9}).Then("fc", FullyConnected{13}).Classify();
  for (const int64_t label : {1, 255, -1}) {
    std::get<SoftmaxCrossEntropy>(ignoring.layers.back().op).ignore_label = label;
    ExpectSameEverywhere(fmt::format("label {} ignored", label), ignoring, 7);
  }
}

TEST(MxnetParityTest, EverySolver) {
  Graph graph = Chain({4, 6, 6})
                    .Then("conv", kUnbiased)
                    .Then("bn", BatchNorm{})
                    .Then("relu", Relu{})
                    .Classify();
  graph.layers[1].weight.lr_mult = 0;
  Solver nesterov, adam, clipped, clipped_adam;
  nesterov.type = SolverType::kNesterov;
  adam.type = clipped_adam.type = SolverType::kAdam;
  adam.delta = clipped_adam.delta = 1e-2;
  clipped.clip_gradients = clipped_adam.clip_gradients = 0.1;
  for (const Solver& solver : {nesterov, adam, clipped, clipped_adam}) {
    SCOPED_TRACE(fmt::format("{} clip {}", Name(solver.type), solver.clip_gradients));
    ExpectSame(graph, 4, {Phase::kTrain, false, 2, 5, {}, false, solver}, 3 * kTolerance);
  }
}

TEST(MxnetParityTest, SequencesInBothOrdersOfTime) {
  Chain data({7, 10});
  data.builder().Append("lengths", Input{InputRole::kLengths, {}, {FillKind::kInteger, 1, 8}}, {});
  ExpectSameEverywhere("lstms over data", data.Then("lstm1", Lstm{16})
                                              .Then("lstm2", Lstm{12})
                                              .Then("mean", MeanOverTime{}, {"lstm2", "lengths"})
                                              .Classify());
  for (const bool recurrent : {false, true}) {
    GraphBuilder b("tokens");
    b.Append("tokens", Input{InputRole::kTokens, {6}, {FillKind::kInteger, 0, 20}}, {});
    b.Append("lengths", Input{InputRole::kLengths, {}, {FillKind::kInteger, 1, 7}}, {});
    b.Append("label", Input{InputRole::kLabel, {}, {FillKind::kInteger, 0, 3}}, {});
    std::string top = b.Append("embedding", Embedding{20, 5}, {"tokens"}, kWeights);
    if (recurrent) top = b.Append("lstm", Lstm{9}, {top}, kWeights, kBiases);
    b.Append("mean", MeanOverTime{}, {top, "lengths"});
    b.Append("fc", FullyConnected{3}, {"mean"}, kWeights, kBiases);
    b.Append("loss", SoftmaxCrossEntropy{}, {"fc", "label"});
    ExpectSameEverywhere(recurrent ? "embedding, lstm" : "embedding alone", b.Take());
  }
}

TEST(MxnetParityTest, LossesOfEveryKindWithWeights) {
  Chain chain({20});
  chain.Then("fc1", FullyConnected{8}).Then("sigmoid", Sigmoid{}).Then("fc2", FullyConnected{20});
  chain.builder().Append("cross", SigmoidCrossEntropy{0.5}, {"fc2", "data"});
  chain.builder().Append("square", MeanSquaredError{2}, {"fc2", "data"});
  ExpectSameEverywhere("cross and square", chain.builder().Take(), 3);
}

TEST(MxnetParityTest, EveryOptionComputesTheSame) {
  const Graph graph = Chain({3, 12, 12})
                          .Then("conv", kUnbiased)
                          .Then("bn", BatchNorm{})
                          .Then("relu", Relu{})
                          .Then("pool", Pooling{PoolMode::kMax, {2, 2}, {2, 2}})
                          .Classify();
  for (const std::map<std::string, std::string>& options :
       std::vector<std::map<std::string, std::string>>{{{"subgraph", "NONE"}},
                                                       {{"bulk", "0"}},
                                                       {{"bulk", "60"}},
                                                       {{"aggregate", "4"}},
                                                       {{"aggregate", "60"}}}) {
    SCOPED_TRACE(options.begin()->first + " " + options.begin()->second);
    ExpectSame(graph, 4, {Phase::kTrain, false, 2, 4, options}, 3 * kTolerance);
    ExpectSame(graph, 4, {Phase::kForward, false, 2, 1, options});
  }
}

TEST(MxnetParityTest, TuningLeavesNoTraceInTheNumbers) {
  const Graph graph = Chain({3, 12, 12}).Then("conv", kUnbiased).Then("bn", BatchNorm{}).Classify();
  ExpectSame(graph, 4, {Phase::kTrain, true, 2, 3, {}, true}, 3 * kTolerance);
}

}  // namespace
}  // namespace tench::mxnet
