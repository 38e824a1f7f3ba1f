// SPDX-License-Identifier: Apache-2.0
// The structure of compiled programs: fused activations, reorders, in-place outputs, recomputation,
// updates and arena size. parity_test.cc compares their results with the reference.
#include "workers/native/compile/lowering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "net/builder.h"
#include "net/op_parameters.h"
#include "workers/native/conv/conv_tuner.h"
#include "workers/native/kernels/parallel.h"

namespace tench::native::lowering_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

struct Chain {
  GraphBuilder builder{"net"};
  std::string top = "data";

  explicit Chain(const Shape& sample = {16, 8, 8}) {
    builder.Append("data", Input{InputRole::kData, sample, {FillKind::kUniform, -1, 1}}, {});
  }
  Chain& Then(const std::string& name, Op op, std::vector<std::string> inputs = {}) {
    if (inputs.empty()) inputs = {top};
    const ParameterRule weights{{FillKind::kGaussian, 0, 0.1}, 1, 1};
    top = builder.Append(name, op, inputs, HasWeight(op) ? weights : ParameterRule{});
    return *this;
  }
  Graph Classify() {
    Then("flat", Flatten{}).Then("scores", FullyConnected{4, false});
    builder.Append("label", Input{InputRole::kLabel, {}, {FillKind::kInteger, 0, 4}}, {});
    builder.Append("loss", SoftmaxCrossEntropy{}, {"scores", "label"});
    return builder.Take();
  }
};

Op Conv(int64_t out = 16, int64_t kernel = 1) {
  return Convolution{out, {kernel, kernel}, {1, 1}, {kernel / 2, kernel / 2}, {1, 1}, 1, false};
}

BuildOptions Options(Phase phase, bool observe = false) {
  BuildOptions options;
  options.threads = 2;
  options.phase = phase;
  options.observe = observe;
  return options;
}

// A graph, lowered without tuning.
struct Compiled {
  TypedGraph graph;
  BuildOptions options;
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  ConvTuner tuner{engine, 2, {.mode = TuneMode::kBlocked}};
  Program program;
  std::unique_ptr<Lowering> low;

  Compiled(const Graph& untyped, const BuildOptions& with, bool run = true)
      : graph(*Infer(untyped, 4)), options(with) {
    omp_set_num_threads(2);
    low = std::make_unique<Lowering>(graph, options, engine, tuner, program);
    if (run) {
      EXPECT_TRUE(low->Run().ok());
    }
  }
  size_t LayerOf(const std::string& name) const {
    for (size_t i = 0; i < graph.layers.size(); ++i) {
      if (graph.layers[i].layer.name == name) return i;
    }
    ADD_FAILURE() << "no layer " << name;
    return 0;
  }
  BufferId BufferOf(const std::string& name) const { return low->Output(LayerOf(name)).buffer; }
  int Count(const std::string& part) const {
    int count = 0;
    for (const Step& step : program.steps()) count += step.name.find(part) != std::string::npos;
    return count;
  }
  // "layer direction" of each step, without reorders.
  std::vector<std::string> Steps() const {
    std::vector<std::string> steps;
    for (const Step& step : program.steps()) {
      if (step.name.starts_with("reorder")) continue;
      steps.push_back(graph.layers[step.layer].layer.name + " " + Name(step.direction));
    }
    return steps;
  }
  int64_t ArenaBytes() {
    EXPECT_TRUE(program.Bind(engine, int64_t{1} << 40).ok());
    return program.arena_bytes();
  }
};

TEST(LoweringTest, AFusedActivationIsNoStep) {
  const Graph graph = Chain().Then("conv", Conv()).Then("relu", Relu{}).Classify();
  const Compiled fused(graph, Options(Phase::kForward));
  EXPECT_THAT(fused.Steps(), ElementsAre("conv forward", "scores forward", "loss forward"));
  EXPECT_EQ(fused.BufferOf("relu"), fused.BufferOf("conv"));
  const Compiled observed(graph, Options(Phase::kForward, true));
  EXPECT_THAT(observed.Steps(),
              ElementsAre("conv forward", "relu forward", "scores forward", "loss forward"));
  EXPECT_NE(observed.BufferOf("relu"), observed.BufferOf("conv"));
}

TEST(LoweringTest, ReadersOfOneInputShareItsReorder) {
  const Compiled compiled(Chain()
                              .Then("a", Conv())
                              .Then("b", Conv(), {"data"})
                              .Then("c", Conv(), {"a"})
                              .Then("sum", Add{}, {"b", "c"})
                              .Classify(),
                          Options(Phase::kForward));
  EXPECT_EQ(compiled.Count("reorder"), 1) << "of the plain input; the others are blocked already";
  EXPECT_EQ(compiled.program.steps().size(), 7u);
}

TEST(LoweringTest, BackwardRunsInReverseAndTheFirstLayerHasNoDataGradient) {
  const Compiled compiled(Chain().Then("a", Conv()).Then("b", Conv()).Classify(),
                          Options(Phase::kGradient));
  EXPECT_THAT(compiled.Steps(),
              ElementsAre("a forward", "b forward", "scores forward", "loss forward",
                          "scores backward_data", "scores backward_weights", "b backward_data",
                          "b backward_weights", "a backward_weights"));
  EXPECT_FALSE(compiled.low->WantsGradient(compiled.LayerOf("data")));
  EXPECT_TRUE(compiled.low->WantsGradient(compiled.LayerOf("a")));
  EXPECT_FALSE(compiled.low->WantsInputGradient(compiled.LayerOf("a")));
  EXPECT_EQ(compiled.low->losses(), 1u);
}

TEST(LoweringTest, AnUpdateFollowsTheDataGradientThatReadsTheWeights) {
  const Compiled compiled(Chain().Then("a", Conv()).Then("b", Conv()).Classify(),
                          Options(Phase::kTrain));
  EXPECT_THAT(compiled.Steps(),
              ElementsAre("a forward", "b forward", "scores forward", "loss forward",
                          "scores backward_data", "scores backward_weights", "b backward_data",
                          "b backward_weights", "b update", "a backward_weights", "a update"));
  EXPECT_EQ(compiled.Count("gradient+sgd"), 1) << "SGD is fused into the inner product's gradient";
  EXPECT_TRUE(compiled.low->updates());
  EXPECT_TRUE(compiled.low->MayFuseUpdate());
}

TEST(LoweringTest, AdamAndAnObservingBuildStoreTheGradient) {
  const Graph graph = Chain({9}).Classify();
  BuildOptions adam = Options(Phase::kTrain);
  adam.solver.type = SolverType::kAdam;
  const Compiled updated(graph, adam), observed(graph, Options(Phase::kTrain, true));
  for (const Compiled* compiled : {&updated, &observed}) {
    EXPECT_FALSE(compiled->low->MayFuseUpdate());
    EXPECT_EQ(compiled->Count("gradient+sgd"), 0);
    EXPECT_EQ(compiled->Steps().back(), "scores update");
    EXPECT_TRUE(compiled->low->parameters()[0].gradient);
    EXPECT_TRUE(compiled->low->parameters()[0].momentum);
  }
  EXPECT_TRUE(updated.low->parameters()[0].momentum2);
  EXPECT_FALSE(observed.low->parameters()[0].momentum2);
  const Compiled inference(graph, Options(Phase::kForward));
  EXPECT_FALSE(inference.low->parameters()[0].momentum);
}

TEST(LoweringTest, ClippedUpdatesWaitForTheNormOfAllGradients) {
  BuildOptions options = Options(Phase::kTrain);
  options.solver.clip_gradients = 1;
  const Compiled compiled(Chain().Then("a", Conv()).Then("b", Conv()).Classify(), options);
  const std::vector<std::string> steps = compiled.Steps();
  ASSERT_GE(steps.size(), 4u);
  EXPECT_THAT(std::vector<std::string>(steps.end() - 4, steps.end()),
              ElementsAre("loss update", "scores update", "b update", "a update"));
  EXPECT_EQ(compiled.Count("clip"), 1);
}

TEST(LoweringTest, ASumRunsInPlaceOnAnInputThatNothingElseReads) {
  const Graph graph = Chain()
                          .Then("a", Conv())
                          .Then("b", Conv(), {"data"})
                          .Then("sum", Add{}, {"a", "b"})
                          .Classify();
  const Compiled compiled(graph, Options(Phase::kTrain));
  EXPECT_EQ(compiled.BufferOf("sum"), compiled.BufferOf("a"));
  EXPECT_TRUE(compiled.low->MayOverwrite(compiled.LayerOf("sum"), 0));
  const Compiled observed(graph, Options(Phase::kTrain, true));
  EXPECT_NE(observed.BufferOf("sum"), observed.BufferOf("a"));
  EXPECT_FALSE(observed.low->MayOverwrite(observed.LayerOf("sum"), 0));

  const Compiled activated(Chain()
                               .Then("a", Conv())
                               .Then("relu", Relu{})
                               .Then("b", Conv(), {"data"})
                               .Then("tanh", Tanh{})
                               .Then("sum", Add{}, {"relu", "tanh"})
                               .Classify(),
                           Options(Phase::kTrain));
  EXPECT_NE(activated.BufferOf("sum"), activated.BufferOf("a"));
  EXPECT_NE(activated.BufferOf("sum"), activated.BufferOf("b"))
      << "the derivatives read both outputs";
}

TEST(LoweringTest, InputsOfAConcatenationBecomeViewsOfIt) {
  const Compiled compiled(Chain()
                              .Then("a", Conv(32))
                              .Then("b", Conv(16), {"data"})
                              .Then("cat", Concat{}, {"a", "b"})
                              .Classify(),
                          Options(Phase::kForward));
  EXPECT_EQ(compiled.BufferOf("a"), compiled.BufferOf("cat"));
  EXPECT_EQ(compiled.BufferOf("b"), compiled.BufferOf("cat"));
  EXPECT_EQ(compiled.Count("copy"), 2);
  EXPECT_EQ(compiled.low->Output(compiled.LayerOf("b")).md.get_dims(), (Shape{4, 16, 8, 8}));
  EXPECT_GT(compiled.low->Output(compiled.LayerOf("b")).md.get_submemory_offset(), 0);
}

TEST(LoweringTest, DropoutIsTheIdentityInInferenceAndInPlaceAfterARelu) {
  const Graph graph =
      Chain().Then("conv", Conv()).Then("relu", Relu{}).Then("drop", Dropout{0.5}).Classify();
  const Compiled training(graph, Options(Phase::kTrain));
  EXPECT_EQ(training.Count("dropout"), 2) << "forward and backward";
  EXPECT_EQ(training.BufferOf("drop"), training.BufferOf("conv"));
  const Compiled inference(graph, Options(Phase::kForward));
  EXPECT_EQ(inference.Count("dropout"), 0);
  EXPECT_EQ(inference.BufferOf("drop"), inference.BufferOf("conv"));
}

TEST(LoweringTest, ABatchNormThatOnlyConvolutionsReadIsRecomputed) {
  const auto graph = [](Op reader) {
    return Chain()
        .Then("a", Conv())
        .Then("bn", BatchNorm{})
        .Then("relu", Relu{})
        .Then("reader", std::move(reader))
        .Classify();
  };
  const Compiled compiled(graph(Conv()), Options(Phase::kTrain));
  EXPECT_EQ(compiled.Count("recompute"), 1);
  EXPECT_TRUE(compiled.low->IsReadOnlyBy<Convolution>(compiled.LayerOf("bn")));
  EXPECT_EQ(Compiled(graph(Conv()), Options(Phase::kTrain, true)).Count("recompute"), 0);
  EXPECT_EQ(Compiled(graph(Conv()), Options(Phase::kForward)).Count("recompute"), 0);
  const Compiled pooled(graph(Pooling{PoolMode::kAvg, {2, 2}, {2, 2}}), Options(Phase::kTrain));
  EXPECT_EQ(pooled.Count("recompute"), 0);
  EXPECT_FALSE(pooled.low->IsReadOnlyBy<Convolution>(pooled.LayerOf("bn")));
}

TEST(LoweringTest, TheSumOfAResidualBlockIsRecomputedFromItsBatchNorm) {
  Chain chain;
  chain.Then("c0", Conv()).Then("bn0", BatchNorm{}).Then("c00", Conv(), {"data"});
  chain.Then("sum0", Add{}, {"bn0", "c00"}).Then("relu0", Relu{});
  chain.Then("c1", Conv()).Then("bn1", BatchNorm{});
  chain.Then("sum1", Add{}, {"bn1", "relu0"}).Then("relu1", Relu{}).Then("c2", Conv());
  const Compiled compiled(chain.Classify(), Options(Phase::kTrain));
  EXPECT_EQ(compiled.Count("recompute norm+add"), 1);
  EXPECT_NE(compiled.low->NormOf(compiled.LayerOf("bn1")), nullptr);
  EXPECT_EQ(compiled.low->NormOf(compiled.LayerOf("c1")), nullptr);
}

TEST(LoweringTest, TheArenaOfInferenceDoesNotGrowWithTheDepth) {
  const auto bytes = [](int depth) {
    Chain chain;
    for (int i = 0; i < depth; ++i) chain.Then(fmt::format("c{}", i), Conv(16, 1));
    return Compiled(chain.Classify(), Options(Phase::kForward)).ArenaBytes();
  };
  const int64_t activation = 4 * 16 * 8 * 8 * 4;
  EXPECT_EQ(bytes(4), bytes(9));
  EXPECT_GE(bytes(4), 2 * activation);
}

TEST(LoweringTest, AReluBeforeAMaxPoolFreesTheConvolutionsOutput) {
  const auto bytes = [](Op activation) {
    Chain chain({16, 32, 32});
    chain.Then("a", Conv()).Then("act_a", activation);
    chain.Then("pool_a", Pooling{PoolMode::kMax, {2, 2}, {2, 2}});
    return Compiled(chain.Classify(), Options(Phase::kTrain)).ArenaBytes();
  };
  EXPECT_LT(bytes(Relu{}), bytes(Tanh{}));
}

TEST(LoweringTest, ChoicesNameTheCandidateOfEveryDirection) {
  const Compiled compiled(Chain().Then("a", Conv()).Then("b", Conv()).Classify(),
                          Options(Phase::kTrain));
  EXPECT_THAT(compiled.low->choices().at("b.forward"), HasSubstr("blocked/0"));
  EXPECT_TRUE(compiled.low->choices().contains("b.backward_data"));
  EXPECT_TRUE(compiled.low->choices().contains("b.backward_weights"));
  EXPECT_FALSE(compiled.low->choices().contains("a.backward_data"));
}

// Shape inference admits no shape that oneDNN rejects, so the test changes an inferred one.
TEST(LoweringTest, AnOpWithoutAnImplementationIsUnsupportedAndNamed) {
  const Graph graph = Chain()
                          .Then("narrow", Conv())
                          .Then("pool", Pooling{PoolMode::kAvg, {2, 2}, {2, 2}})
                          .Classify();
  for (const auto& [layer, op] :
       {std::pair{"narrow", OpName(Op(Convolution{}))}, {"pool", OpName(Op(Pooling{}))}}) {
    Compiled compiled(graph, Options(Phase::kForward), false);
    compiled.graph.layers[compiled.LayerOf(layer)].output.shape[2] += 3;
    const Status lowered = compiled.low->Run();
    ASSERT_FALSE(lowered.ok()) << layer;
    EXPECT_EQ(lowered.error().kind, ErrorKind::kUnsupported);
    EXPECT_THAT(lowered.error().message,
                StartsWith(fmt::format("layer '{}': oneDNN has no implementation of {} for these "
                                       "shapes: ",
                                       layer, op)));
  }
}

// The bookkeeping of gradients, without a lowered layer.
struct GradientTest : testing::Test {
  Compiled compiled{Chain().Then("a", Conv()).Then("b", Conv()).Classify(), Options(Phase::kTrain),
                    false};
  Lowering& low = *compiled.low;
  const size_t layer = compiled.LayerOf("a");
  const Md md = ActivationMd(low.OutputShape(layer));

  GradientTest() { low.SetOutput(layer, low.NewOutput(md)); }
};

TEST_F(GradientTest, NoneWithoutAContribution) { EXPECT_FALSE(low.TakeGradient(layer)); }

TEST_F(GradientTest, ALayerThatNeedsNoneIgnoresContributions) {
  const size_t data = compiled.LayerOf("data");
  low.SetOutput(data, low.NewOutput(PlainMd(low.OutputShape(data))));
  low.Contribute(data, {low.NewTensor(PlainMd(low.OutputShape(data))), true});
  EXPECT_FALSE(low.TakeGradient(data));
}

TEST_F(GradientTest, OneDenseContributionIsTakenAsItIs) {
  const Tensor gradient = low.NewTensor(md);
  low.Contribute(layer, {gradient, false});
  const Lowering::Gradient taken = low.TakeGradient(layer);
  EXPECT_EQ(taken.tensor.buffer, gradient.buffer);
  EXPECT_FALSE(taken.exclusive);
  EXPECT_TRUE(compiled.program.steps().empty());
  EXPECT_FALSE(low.TakeGradient(layer)) << "it was taken";
}

TEST_F(GradientTest, SeveralAreSummedIntoAnExclusiveOne) {
  const Tensor shared = low.NewTensor(md), exclusive = low.NewTensor(md);
  low.Contribute(layer, {shared, false});
  low.Contribute(layer, {exclusive, true});
  const Lowering::Gradient taken = low.TakeGradient(layer);
  EXPECT_EQ(taken.tensor.buffer, exclusive.buffer);
  EXPECT_TRUE(taken.exclusive);
  EXPECT_EQ(compiled.Count("sum"), 1);
}

TEST_F(GradientTest, SharedOnesAreSummedIntoANewTensor) {
  const Tensor first = low.NewTensor(md), second = low.NewTensor(md);
  low.Contribute(layer, {first, false});
  low.ContributeToInput(compiled.LayerOf("b"), 0, {second, false});
  const Lowering::Gradient taken = low.TakeGradient(layer);
  EXPECT_NE(taken.tensor.buffer, first.buffer);
  EXPECT_NE(taken.tensor.buffer, second.buffer);
  EXPECT_EQ(compiled.Count("sum"), 1);
}

TEST_F(GradientTest, AnotherLayoutIsReorderedFirst) {
  low.Contribute(layer, {low.NewTensor(ChannelsLastMd(low.OutputShape(layer))), true});
  EXPECT_EQ(low.TakeGradient(layer).tensor.md, md);
  EXPECT_EQ(compiled.Count("reorder"), 1);
}

TEST_F(GradientTest, ReuseTakesAnExclusiveTensorOfTheLayoutOnly) {
  const Tensor tensor = low.NewTensor(md);
  EXPECT_EQ(low.Reuse({tensor, true}, md).buffer, tensor.buffer);
  EXPECT_NE(low.Reuse({tensor, false}, md).buffer, tensor.buffer);
  const Md last = ChannelsLastMd(low.OutputShape(layer));
  EXPECT_NE(low.Reuse({tensor, true}, last).buffer, tensor.buffer);
  EXPECT_EQ(low.Reuse({tensor, true}, last).md, last);
}

TEST_F(GradientTest, ALayoutThatFitsNeedsNoStep) {
  const Tensor tensor = low.NewTensor(md);
  EXPECT_EQ(low.InLayout(layer, Direction::kForward, tensor, md).buffer, tensor.buffer);
  EXPECT_TRUE(compiled.program.steps().empty());
  const Md plain = PlainMd(low.OutputShape(layer));
  const Tensor copy = low.InLayout(layer, Direction::kForward, tensor, plain);
  EXPECT_NE(copy.buffer, tensor.buffer);
  EXPECT_EQ(copy.md, plain);
  EXPECT_EQ(compiled.Count("reorder"), 1);
}

TEST_F(GradientTest, TheForwardPassNeverRecomputes) {
  int calls = 0;
  low.OnRecompute(layer, [&] {
    ++calls;
    return low.NewTensor(md);
  });
  EXPECT_EQ(low.InputAs(compiled.LayerOf("b"), 0, md).buffer, low.Output(layer).buffer);
  EXPECT_EQ(calls, 0);
}

}  // namespace
}  // namespace tench::native::lowering_test
