// SPDX-License-Identifier: Apache-2.0
#include "net/cost.h"

#include <gtest/gtest.h>

#include <limits>

#include "net/builder.h"

namespace tench::cost_test {
namespace {

const ParameterRule kXavierRule{{FillKind::kXavier, 0, 0}, 1, 1};

TypedGraph Typed(GraphBuilder& builder, int64_t batch) {
  Result<TypedGraph> typed = Infer(builder.Take(), batch);
  Check(typed.ok(), typed.ok() ? "" : typed.error().message);
  return *std::move(typed);
}

// data -> fc -> the given op -> loss against targets of the op's output shape: a parameter precedes
// the op.
Cost CostAfterParameter(const Op& op, int64_t features) {
  GraphBuilder builder("net");
  builder.Append("data", Input{InputRole::kData, {3}, {}}, {});
  builder.Append("target", Input{InputRole::kData, {features}, {}}, {});
  builder.Append("before", FullyConnected{features, true}, {"data"}, kXavierRule);
  builder.Append("op", op,
                 std::holds_alternative<Add>(op) ? std::vector<std::string>{"before", "before"}
                                                 : std::vector<std::string>{"before"});
  builder.Append("loss", MeanSquaredError{}, {"op", "target"});
  return LayerCost(Typed(builder, 2), 3);
}

// AlexNet's first two convolutions and the layers between them.
TypedGraph AlexnetStart(int64_t batch) {
  GraphBuilder builder("start");
  builder.Append("data", Input{InputRole::kData, {3, 227, 227}, {}}, {});
  builder.Append("label", Input{InputRole::kLabel, {}, {FillKind::kInteger, 0, 256}}, {});
  builder.Append("conv1", Convolution{96, {11, 11}, {4, 4}, {0, 0}, {1, 1}, 1, true}, {"data"},
                 kXavierRule);
  builder.Append("relu1", Relu{}, {"conv1"});
  builder.Append("norm1", Lrn{}, {"relu1"});
  builder.Append("pool1", Pooling{PoolMode::kMax, {3, 3}, {2, 2}, {0, 0}, true, false}, {"norm1"});
  builder.Append("conv2", Convolution{256, {5, 5}, {1, 1}, {2, 2}, {1, 1}, 2, true}, {"pool1"},
                 kXavierRule);
  builder.Append("pool2", Pooling{PoolMode::kAvg, {1, 1}, {1, 1}, {0, 0}, false, true}, {"conv2"});
  builder.Append("flat", Flatten{}, {"pool2"});
  builder.Append("loss", SoftmaxCrossEntropy{}, {"flat", "label"});
  return Typed(builder, batch);
}

TEST(CostTest, CountsTheFirstLayersOfAlexnet) {
  const TypedGraph graph = AlexnetStart(1);
  const int64_t conv1 = int64_t{2} * 96 * 55 * 55 * 363;
  EXPECT_EQ(LayerCost(graph, 2).forward_flops, conv1);
  EXPECT_EQ(LayerCost(graph, 2).backward_flops, conv1) << "no gradient of the pictures";
  EXPECT_EQ(LayerCost(graph, 2).parameters, 34'944);
  EXPECT_EQ(LayerCost(graph, 2).parameter_bytes, 4 * 34'944);
  EXPECT_EQ(LayerCost(graph, 2).activation_bytes, 4 * 96 * 55 * 55);

  EXPECT_EQ(LayerCost(graph, 3).forward_flops, 96 * 55 * 55);
  EXPECT_EQ(LayerCost(graph, 4).forward_flops, 5 * 96 * 55 * 55);
  EXPECT_EQ(LayerCost(graph, 5).forward_flops, 9 * 96 * 27 * 27);
  EXPECT_EQ(LayerCost(graph, 5).backward_flops, 9 * 96 * 27 * 27);

  const int64_t conv2 = int64_t{2} * 256 * 27 * 27 * (48 * 25);
  EXPECT_EQ(LayerCost(graph, 6).forward_flops, conv2);
  EXPECT_EQ(LayerCost(graph, 6).backward_flops, 2 * conv2);
  EXPECT_EQ(LayerCost(graph, 6).parameters, 307'456);

  EXPECT_EQ(LayerCost(graph, 7).forward_flops, 256 * 27 * 27);
  EXPECT_EQ(LayerCost(graph, 8).forward_flops, 0);
  EXPECT_EQ(LayerCost(graph, 9).forward_flops, 256);
  EXPECT_EQ(LayerCost(graph, 9).activation_bytes, 4);
}

TEST(CostTest, ScalesWithTheBatchExceptForParameters) {
  const Cost one = TotalCost(AlexnetStart(1)), eight = TotalCost(AlexnetStart(8));
  EXPECT_EQ(eight.forward_flops, 8 * one.forward_flops);
  EXPECT_EQ(eight.backward_flops, 8 * one.backward_flops);
  EXPECT_EQ(eight.parameters, one.parameters);
}

TEST(CostTest, TotalsAreTheSumsOfTheLayers) {
  const TypedGraph graph = AlexnetStart(2);
  Cost sum;
  for (size_t i = 0; i < graph.layers.size(); ++i) {
    const Cost cost = LayerCost(graph, i);
    sum.parameters += cost.parameters;
    sum.forward_flops += cost.forward_flops;
    sum.backward_flops += cost.backward_flops;
    sum.activation_bytes += cost.activation_bytes;
    sum.parameter_bytes += cost.parameter_bytes;
  }
  const Cost total = TotalCost(graph);
  EXPECT_EQ(total.parameters, sum.parameters);
  EXPECT_EQ(total.parameters, 34'944 + 307'456);
  EXPECT_EQ(total.forward_flops, sum.forward_flops);
  EXPECT_EQ(total.backward_flops, sum.backward_flops);
  EXPECT_EQ(total.activation_bytes, sum.activation_bytes);
  EXPECT_EQ(total.parameter_bytes, sum.parameter_bytes);
  EXPECT_EQ(LayerCosts(graph).size(), graph.layers.size());
}

TEST(CostTest, AStepCostsWhatItsPhaseDoes) {
  const TypedGraph graph = AlexnetStart(2);
  const Cost total = TotalCost(graph);
  EXPECT_EQ(StepFlops(graph, Phase::kForward), total.forward_flops);
  EXPECT_EQ(StepFlops(graph, Phase::kGradient), total.forward_flops + total.backward_flops);
  EXPECT_EQ(StepFlops(graph, Phase::kTrain),
            total.forward_flops + total.backward_flops + 4 * total.parameters);
}

TEST(CostTest, CountsElementOps) {
  const int64_t elements = 2 * 8;
  for (const Op& op : {Op(Relu{}), Op(Sigmoid{}), Op(Tanh{}), Op(Dropout{})}) {
    EXPECT_EQ(CostAfterParameter(op, 8).forward_flops, elements);
    EXPECT_EQ(CostAfterParameter(op, 8).backward_flops, elements);
  }
  EXPECT_EQ(CostAfterParameter(Add{}, 8).forward_flops, 2 * elements);
  EXPECT_EQ(CostAfterParameter(Flatten{}, 8).backward_flops, 0);
  EXPECT_EQ(CostAfterParameter(BatchNorm{}, 8).forward_flops, 2 * elements);
  EXPECT_EQ(CostAfterParameter(BatchNorm{}, 8).backward_flops, 4 * elements)
      << "its own parameters and the data";
  EXPECT_EQ(CostAfterParameter(BatchNorm{}, 8).parameters, 16);
  EXPECT_EQ(CostAfterParameter(BatchNorm{}, 8).parameter_bytes, 4 * 32)
      << "running statistics take memory but are not trained";
  EXPECT_EQ(CostAfterParameter(FullyConnected{8, true}, 8).forward_flops, 2 * 2 * 8 * 8);
  EXPECT_EQ(CostAfterParameter(FullyConnected{8, true}, 8).backward_flops, 2 * 2 * 2 * 8 * 8);
}

TEST(CostTest, CountsAnLstmGateByGate) {
  constexpr int64_t kBatch = 2, kSteps = 7, kWords = 6, kHidden = 3;
  GraphBuilder builder("net");
  builder.Append("tokens", Input{InputRole::kTokens, {kSteps}, {FillKind::kInteger, 0, 50}}, {});
  builder.Append("lengths", Input{InputRole::kLengths, {}, {FillKind::kInteger, 1, 8}}, {});
  builder.Append("label", Input{InputRole::kLabel, {}, {FillKind::kInteger, 0, 3}}, {});
  builder.Append("words", Embedding{50, kWords}, {"tokens"}, kXavierRule);
  builder.Append("lstm", Lstm{kHidden}, {"words"}, kXavierRule);
  builder.Append("mean", MeanOverTime{}, {"lstm", "lengths"});
  builder.Append("loss", SoftmaxCrossEntropy{}, {"mean", "label"});
  const TypedGraph graph = Typed(builder, kBatch);
  const int64_t words = 2 * kBatch * kSteps * 4 * kHidden * kWords,
                hidden = 2 * kBatch * kSteps * 4 * kHidden * kHidden;
  EXPECT_EQ(LayerCost(graph, 3).forward_flops, 0);
  EXPECT_EQ(LayerCost(graph, 3).backward_flops, kBatch * kSteps * kWords);
  EXPECT_EQ(LayerCost(graph, 4).forward_flops, words + hidden);
  EXPECT_EQ(LayerCost(graph, 4).backward_flops, 2 * (words + hidden));
  EXPECT_EQ(LayerCost(graph, 4).parameters, 12 * 6 + 12 * 3 + 12);
  EXPECT_EQ(LayerCost(graph, 5).forward_flops, kBatch * kSteps * kHidden);
}

TEST(CostTest, AnLstmOnDataNeedsNoGradientOfItsInput) {
  GraphBuilder builder("net");
  builder.Append("data", Input{InputRole::kData, {5, 6}, {}}, {});
  builder.Append("target", Input{InputRole::kData, {5, 3}, {}}, {});
  builder.Append("lstm", Lstm{3}, {"data"}, kXavierRule);
  builder.Append("loss", MeanSquaredError{}, {"lstm", "target"});
  const TypedGraph graph = Typed(builder, 1);
  const int64_t words = 2 * 5 * 12 * 6, hidden = 2 * 5 * 12 * 3;
  EXPECT_EQ(LayerCost(graph, 2).backward_flops, words + 2 * hidden);
}

TEST(CostTest, CountsThatDoNotFitStayAtTheLargestInteger) {
  constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
  GraphBuilder builder("net");
  builder.Append("data", Input{InputRole::kData, {1, 1, 1}, {}}, {});
  builder.Append("target", Input{InputRole::kData, {1 << 17, 1, 1}, {}}, {});
  builder.Append("conv", Convolution{1 << 17, {2049, 2049}, {1, 1}, {1024, 1024}, {1, 1}, 1, false},
                 {"data"}, kXavierRule);
  builder.Append("loss", MeanSquaredError{}, {"conv", "target"});
  const TypedGraph graph = Typed(builder, 1 << 23);
  EXPECT_EQ(LayerCost(graph, 2).forward_flops, kLargest);
  EXPECT_EQ(TotalCost(graph).forward_flops, kLargest);
  EXPECT_EQ(StepFlops(graph, Phase::kTrain), kLargest);
}

}  // namespace
}  // namespace tench::cost_test
