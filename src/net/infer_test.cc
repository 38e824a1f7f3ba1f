// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/builder.h"
#include "net/graph.h"

namespace tench::infer_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const ParameterRule kXavierRule{{FillKind::kXavier, 0, 0}, 1, 1};

GraphBuilder Start(std::string name = "net") {
  GraphBuilder builder(std::move(name));
  builder.Append("data", Input{InputRole::kData, {3, 8, 8}, {FillKind::kGaussian, 0, 1}}, {});
  builder.Append("label", Input{InputRole::kLabel, {}, {FillKind::kInteger, 0, 10}}, {});
  return builder;
}

// data -> conv -> flatten -> fc -> loss
Graph Classifier() {
  GraphBuilder builder = Start();
  builder.Append("conv", Convolution{4, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 1, true}, {"data"},
                 kXavierRule, {{}, 2, 0});
  builder.Append("flat", Flatten{}, {"conv"});
  builder.Append("fc", FullyConnected{10, false}, {"flat"}, kXavierRule);
  builder.Append("loss", SoftmaxCrossEntropy{}, {"fc", "label"});
  return builder.Take();
}

std::string ErrorOf(const Graph& graph, int64_t batch = 2) {
  const Result<TypedGraph> typed = Infer(graph, batch);
  return typed.ok() ? "no error" : typed.error().message;
}

std::vector<std::string> LayerNames(const Graph& graph) {
  std::vector<std::string> names;
  for (const Layer& layer : graph.layers) names.push_back(layer.name);
  return names;
}

TEST(InferTest, WorksOutShapesParametersAndIndices) {
  const Result<TypedGraph> typed = Infer(Classifier(), 5);
  ASSERT_TRUE(typed.ok()) << typed.error().message;
  EXPECT_EQ(typed->batch, 5);
  EXPECT_EQ(typed->layers[2].output.shape, (Shape{5, 4, 8, 8}));
  EXPECT_EQ(typed->layers[4].output.shape, (Shape{5, 10}));
  EXPECT_EQ(typed->layers[5].output.shape, Shape{});
  EXPECT_THAT(typed->layers[5].inputs, ElementsAre(4, 1));
  EXPECT_THAT(typed->layers[2].parameters, ElementsAre(0, 1));
  EXPECT_EQ(typed->InputType(5, 1), (TensorType{DType::kI32, {5}}));

  ASSERT_EQ(typed->parameters.size(), 3u);
  EXPECT_EQ(typed->parameters[0].name, "conv.weight");
  EXPECT_EQ(typed->parameters[0].shape, (Shape{4, 3, 3, 3}));
  EXPECT_EQ(typed->parameters[0].fill.kind, FillKind::kUniform);
  EXPECT_DOUBLE_EQ(typed->parameters[0].fill.b, 1.0 / 3);
  EXPECT_EQ(typed->parameters[1].name, "conv.bias");
  EXPECT_EQ(typed->parameters[1].lr_mult, 2);
  EXPECT_EQ(typed->parameters[1].decay_mult, 0);
  EXPECT_EQ(typed->parameters[2].name, "fc.weight");
  EXPECT_EQ(typed->parameters[2].layer, 4u);
  EXPECT_EQ(typed->parameters[2].shape, (Shape{10, 256}));
}

TEST(InferTest, GroupedConvolutionHasFewerWeights) {
  GraphBuilder builder("net");
  builder.Append("data", Input{InputRole::kData, {6, 4, 4}, {}}, {});
  builder.Append("conv", Convolution{9, {3, 2}, {1, 1}, {1, 1}, {1, 1}, 3, false}, {"data"},
                 kXavierRule);
  builder.Append("target", Input{InputRole::kData, {9, 4, 5}, {}}, {});
  builder.Append("loss", MeanSquaredError{}, {"conv", "target"});
  const Result<TypedGraph> typed = Infer(builder.Take(), 1);
  ASSERT_TRUE(typed.ok()) << typed.error().message;
  ASSERT_EQ(typed->parameters.size(), 1u);
  EXPECT_EQ(typed->parameters[0].shape, (Shape{9, 2, 3, 2}));
}

TEST(InferTest, BatchNormHasScaleShiftAndRunningStatistics) {
  GraphBuilder builder = Start();
  builder.Append("bn", BatchNorm{}, {"data"}, {{FillKind::kConstant, 1, 0}, 1, 0});
  builder.Append("loss", MeanSquaredError{}, {"bn", "data"});
  Graph graph = builder.Take();
  std::erase_if(graph.layers, [](const Layer& layer) { return layer.name == "label"; });
  const Result<TypedGraph> typed = Infer(graph, 4);
  ASSERT_TRUE(typed.ok()) << typed.error().message;
  ASSERT_EQ(typed->parameters.size(), 4u);
  EXPECT_EQ(typed->parameters[0].name, "bn.weight");
  EXPECT_EQ(typed->parameters[1].name, "bn.bias");
  EXPECT_EQ(typed->parameters[2].name, "bn.running_mean");
  EXPECT_EQ(typed->parameters[3].name, "bn.running_var");
  for (const Parameter& parameter : typed->parameters) EXPECT_EQ(parameter.shape, Shape{3});
  EXPECT_TRUE(typed->parameters[1].trained);
  EXPECT_FALSE(typed->parameters[2].trained);
  EXPECT_EQ(typed->parameters[2].fill, (Fill{FillKind::kConstant, 0, 0}));
  EXPECT_EQ(typed->parameters[3].fill, (Fill{FillKind::kConstant, 1, 0}));
}

TEST(InferTest, LstmHasTwoMatricesAndOneBias) {
  GraphBuilder builder("net");
  builder.Append("tokens", Input{InputRole::kTokens, {7}, {FillKind::kInteger, 0, 50}}, {});
  builder.Append("lengths", Input{InputRole::kLengths, {}, {FillKind::kInteger, 1, 8}}, {});
  builder.Append("label", Input{InputRole::kLabel, {}, {FillKind::kInteger, 0, 3}}, {});
  builder.Append("words", Embedding{50, 6}, {"tokens"}, kXavierRule);
  builder.Append("lstm", Lstm{3}, {"words"}, kXavierRule);
  builder.Append("mean", MeanOverTime{}, {"lstm", "lengths"});
  builder.Append("loss", SoftmaxCrossEntropy{}, {"mean", "label"});
  const Result<TypedGraph> typed = Infer(builder.Take(), 2);
  ASSERT_TRUE(typed.ok()) << typed.error().message;
  ASSERT_EQ(typed->parameters.size(), 4u);
  EXPECT_EQ(typed->parameters[0].shape, (Shape{50, 6}));
  EXPECT_EQ(typed->parameters[1].name, "lstm.weight_input");
  EXPECT_EQ(typed->parameters[1].shape, (Shape{12, 6}));
  EXPECT_EQ(typed->parameters[2].name, "lstm.weight_hidden");
  EXPECT_EQ(typed->parameters[2].shape, (Shape{12, 3}));
  EXPECT_EQ(typed->parameters[3].name, "lstm.bias");
  EXPECT_EQ(typed->parameters[3].shape, Shape{12});
}

TEST(InferTest, ErrorsNameTheNetworkAndTheLayer) {
  Graph graph = Classifier();
  std::get<Convolution>(graph.layers[2].op).kernel = {30, 3};
  EXPECT_EQ(ErrorOf(graph),
            "net: layer 'conv': a kernel of extent 30 does not fit an input of 8 + 2 * 1");
}

TEST(InferTest, AnUnknownInputGetsAHintAndALaterOneIsSaidToBeLater) {
  Graph graph = Classifier();
  graph.layers[3].inputs = {"comv"};
  EXPECT_EQ(ErrorOf(graph), "net: layer 'flat': input 'comv' is no layer; did you mean 'conv'?");
  graph.layers[3].inputs = {"fc"};
  EXPECT_THAT(ErrorOf(graph), HasSubstr("layer 'flat': input 'fc' is a later layer"));
  graph.layers[3].inputs = {"flat"};
  EXPECT_THAT(ErrorOf(graph), HasSubstr("input 'flat' is a later layer"));
}

TEST(InferTest, NamesMustBeUniqueAndPlain) {
  Graph graph = Classifier();
  graph.layers[3].name = "conv";
  EXPECT_THAT(ErrorOf(graph), HasSubstr("two layers are named 'conv'"));
  for (const char* name : {"", "a b", "a\n", "\xc3\xa4", "a\tb"}) {
    graph = Classifier();
    graph.layers[2].name = name;
    EXPECT_THAT(ErrorOf(graph), HasSubstr("name")) << name;
  }
  graph = Classifier();
  graph.name = "my net";
  EXPECT_THAT(ErrorOf(graph), HasSubstr("without spaces"));
  graph.layers[2].name = std::string(201, 'x');
  graph.name = "";
  EXPECT_THAT(ErrorOf(graph), HasSubstr("network: the name is empty"));
  graph.name = "net";
  EXPECT_THAT(ErrorOf(graph), HasSubstr("more than 200 characters"));
}

TEST(InferTest, ALayerMayNotBeNamedLikeAnotherTensor) {
  for (const char* name : {"conv.weight", "conv.weight.momentum"}) {
    Graph graph = Classifier();
    graph.layers[1].name = graph.layers[5].inputs[1] = name;
    EXPECT_THAT(
        ErrorOf(graph),
        HasSubstr(fmt::format("layer '{}': a tensor of layer 'conv' has the same name", name)));
  }
}

TEST(InferTest, RefusesNetworksWithoutLayersOrLoss) {
  EXPECT_THAT(ErrorOf(Graph{"net", {}}), HasSubstr("no layers"));
  Graph graph = Classifier();
  graph.layers.pop_back();
  EXPECT_THAT(ErrorOf(graph), HasSubstr("no loss"));
  graph = Classifier();
  std::get<SoftmaxCrossEntropy>(graph.layers.back().op).auxiliary = true;
  EXPECT_THAT(ErrorOf(graph), HasSubstr("every loss is auxiliary"));
}

TEST(InferTest, RefusesALayerThatNothingUses) {
  Graph graph = Classifier();
  graph.layers.push_back({"stray", Relu{}, {"fc"}, {}, {}});
  EXPECT_EQ(ErrorOf(graph), "net: layer 'stray': no layer reads its output");
}

TEST(InferTest, RefusesTargetsThatDependOnParameters) {
  GraphBuilder builder("net");
  builder.Append("data", Input{InputRole::kData, {4}, {}}, {});
  builder.Append("a", FullyConnected{4, true}, {"data"}, kXavierRule);
  builder.Append("b", Tanh{}, {"a"});
  builder.Append("loss", MeanSquaredError{}, {"data", "b"});
  EXPECT_EQ(ErrorOf(builder.Take()), "net: layer 'loss': its targets 'b' depend on parameters");
}

TEST(InferTest, RefusesBatchesThatMakeNoSense) {
  EXPECT_THAT(ErrorOf(Classifier(), 0), HasSubstr("the batch is 0"));
  EXPECT_THAT(ErrorOf(Classifier(), -3), HasSubstr("the batch is -3"));
  EXPECT_THAT(ErrorOf(Classifier(), 1'000'000'000'000), HasSubstr("the batch is 1000000000000"));
}

TEST(InferTest, RefusesTensorsOfMoreThan2To40Elements) {
  Graph graph = Classifier();
  std::get<Convolution>(graph.layers[2].op).out_channels = 9;
  EXPECT_THAT(ErrorOf(graph, kMaxSize),
              testing::AllOf(HasSubstr("layer 'conv': its output would be 2147483647x9x8x8"),
                             HasSubstr("elements that one tensor may have")));
  graph = Classifier();
  std::get<FullyConnected>(graph.layers[4].op).out_features = kMaxSize;
  EXPECT_EQ(ErrorOf(graph, 1), "no error");
  std::get<Convolution>(graph.layers[2].op).out_channels = 64;
  EXPECT_THAT(ErrorOf(graph, 1), HasSubstr("layer 'fc': fc.weight would be 2147483647x4096"));
}

TEST(InferTest, RefusesTooManyLayers) {
  Graph graph = Classifier();
  graph.layers.resize(kMaxLayers + 1);
  EXPECT_THAT(ErrorOf(graph), HasSubstr("more than 100000 layers"));
}

TEST(InferTest, RefusesRulesThatNothingObeys) {
  Graph graph = Classifier();
  graph.layers[3].weight = kXavierRule;
  EXPECT_THAT(ErrorOf(graph), HasSubstr("layer 'flat': flatten has no weights to fill"));
  graph = Classifier();
  graph.layers[4].bias.lr_mult = 2;
  EXPECT_THAT(ErrorOf(graph), HasSubstr("layer 'fc': fc has no bias to fill"));
}

TEST(InferTest, RefusesFillsThatMakeNoSense) {
  const auto with = [](ParameterRule weight, ParameterRule bias) {
    Graph graph = Classifier();
    graph.layers[2].weight = weight;
    graph.layers[2].bias = bias;
    return ErrorOf(graph);
  };
  EXPECT_THAT(with({{FillKind::kGaussian, 0, -1}, 1, 1}, {}),
              HasSubstr("layer 'conv': weight: its Gaussian fill"));
  EXPECT_THAT(with({{FillKind::kInteger, 0, 4}, 1, 1}, {}),
              HasSubstr("weight: integers fill inputs"));
  EXPECT_THAT(with({{}, -1, 1}, {}), HasSubstr("at least 0, not -1"));
  EXPECT_THAT(with({{}, 1, 1}, {{}, 1, 1.0 / 0.0}),
              HasSubstr("bias: lr_mult and decay_mult must be at least 0, not inf"));
  EXPECT_THAT(with({{}, 1, 1}, kXavierRule), HasSubstr("conv.bias has one dimension"));
}

TEST(InferTest, GradientsFlowOnlyWhereAParameterLies) {
  GraphBuilder builder("net");
  builder.Append("data", Input{InputRole::kData, {4}, {}}, {});
  builder.Append("first", Relu{}, {"data"});
  builder.Append("fc", FullyConnected{4, true}, {"first"}, kXavierRule);
  builder.Append("after", Relu{}, {"fc"});
  builder.Append("loss", MeanSquaredError{}, {"after", "first"});
  const Result<TypedGraph> typed = Infer(builder.Take(), 2);
  ASSERT_TRUE(typed.ok()) << typed.error().message;
  EXPECT_THAT(NeedsGradient(*typed), ElementsAre(false, false, true, true, true));
}

Graph WithAuxiliaryHead() {
  GraphBuilder builder = Start();
  builder.Append("conv", Convolution{4, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 1, true}, {"data"},
                 kXavierRule);
  builder.Append("aux_pool", Pooling{PoolMode::kAvg, {4, 4}, {4, 4}, {0, 0}, false, false},
                 {"conv"});
  builder.Append("aux_flat", Flatten{}, {"aux_pool"});
  builder.Append("aux_fc", FullyConnected{10, true}, {"aux_flat"}, kXavierRule);
  builder.Append("aux_loss", SoftmaxCrossEntropy{0.3, true}, {"aux_fc", "label"});
  builder.Append("flat", Flatten{}, {"conv"});
  builder.Append("fc", FullyConnected{10, true}, {"flat"}, kXavierRule);
  builder.Append("loss", SoftmaxCrossEntropy{}, {"fc", "label"});
  return builder.Take();
}

TEST(InferenceGraphTest, CutsAuxiliaryHeadsAndAllThatOnlyTheyNeed) {
  const Graph graph = WithAuxiliaryHead();
  ASSERT_EQ(ErrorOf(graph), "no error");
  const Graph cut = InferenceGraph(graph);
  EXPECT_EQ(cut.name, "net");
  EXPECT_THAT(LayerNames(cut), ElementsAre("data", "label", "conv", "flat", "fc", "loss"));
  EXPECT_EQ(ErrorOf(cut), "no error");
}

TEST(InferenceGraphTest, CutsAnInputThatOnlyTheHeadReads) {
  Graph graph = WithAuxiliaryHead();
  graph.layers.insert(
      graph.layers.begin(),
      {"aux_label", Input{InputRole::kLabel, {}, {FillKind::kInteger, 0, 10}}, {}, {}, {}});
  for (Layer& layer : graph.layers) {
    if (layer.name == "aux_loss") layer.inputs[1] = "aux_label";
  }
  ASSERT_EQ(ErrorOf(graph), "no error");
  EXPECT_THAT(LayerNames(InferenceGraph(graph)),
              ElementsAre("data", "label", "conv", "flat", "fc", "loss"));
}

TEST(InferenceGraphTest, LeavesANetworkWithoutSuchHeadsAlone) {
  EXPECT_EQ(InferenceGraph(Classifier()), Classifier());
}

TEST(InferenceGraphTest, KeepsMistakesForInferToFind) {
  Graph graph = Classifier();
  graph.layers.push_back({"stray", Relu{}, {"fc"}, {}, {}});
  EXPECT_THAT(ErrorOf(InferenceGraph(graph)),
              HasSubstr("layer 'stray': no layer reads its output"));
}

}  // namespace
}  // namespace tench::infer_test
