// SPDX-License-Identifier: Apache-2.0
#include "net/graph_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "net/builder.h"

namespace tench::graph_json_test {
namespace {

using testing::HasSubstr;

std::string NetworkGuide() {
  const Result<std::string> text =
      ReadFile(std::filesystem::path(TENCH_SOURCE_DIR) / "docs/network.md");
  Check(text.ok(), "docs/network.md is missing");
  return *text;
}

std::string DocumentedExample() {
  const std::string text = NetworkGuide();
  const size_t begin = text.find("```json\n") + 8;
  return text.substr(begin, text.find("```", begin) - begin);
}

// Every op, with every field different from its default.
Graph EveryOp() {
  const ParameterRule rule{{FillKind::kGaussian, 0.25, 0.01}, 0.5, 2};
  const ParameterRule bias{{FillKind::kConstant, 0.1, 0}, 2, 0};
  const Fill digits{FillKind::kInteger, 0, 10};
  GraphBuilder b("every");
  b.Append("data", Input{InputRole::kData, {4, 9, 8}, {FillKind::kUniform, -1, 0.5}}, {});
  b.Append("label", Input{InputRole::kLabel, {}, digits}, {});
  b.Append("tokens", Input{InputRole::kTokens, {5}, digits}, {});
  b.Append("lengths", Input{InputRole::kLengths, {}, {FillKind::kConstant, 3, 0}}, {});
  b.Append("conv", Convolution{6, {3, 2}, {2, 1}, {1, 2}, {1, 3}, 2, true}, {"data"}, rule, bias);
  b.Append("conv2", Convolution{6, {1, 1}, {1, 1}, {0, 0}, {1, 1}, 1, false}, {"conv"},
           {{FillKind::kMsra, 0, 0}, 1, 1});
  b.Append("pool", Pooling{PoolMode::kAvg, {2, 3}, {2, 2}, {1, 0}, true, false}, {"conv2"});
  b.Append("lrn", Lrn{3, 0.5, 0.25, 2}, {"pool"});
  b.Append("spatial", Lrn{3, 0.5, 0.25, 2, LrnRegion::kWithinChannel}, {"pool"});
  b.Append("relu", Relu{0.25}, {"lrn"});
  b.Append("sigmoid", Sigmoid{}, {"spatial"});
  b.Append("tanh", Tanh{}, {"lrn"});
  b.Append("power", Power{2, 0.5, -1}, {"tanh"});
  b.Append("add", Add{{0.5, -1}}, {"relu", "sigmoid"});
  b.Append("product", Multiply{}, {"add", "power"});
  b.Append("largest", Maximum{}, {"product", "sigmoid"});
  b.Append("white", BatchNorm{1e-3, 0.01, false}, {"largest"});
  b.Append("scale", Scale{true}, {"white"}, {{FillKind::kUniform, 0, 1}, 1, 0}, bias);
  b.Append("scale2", Scale{false}, {"scale"}, {{FillKind::kConstant, 0, 0}, 1, 1});
  b.Append("slice", Slice{1, 4}, {"scale2"});
  b.Append("softmax", Softmax{}, {"slice"});
  b.Append("concat", Concat{}, {"add", "tanh", "relu", "softmax"});
  b.Append("bn", BatchNorm{1e-3, 0.01}, {"concat"}, {{FillKind::kUniform, 0, 1}, 1, 0}, bias);
  b.Append("global", Pooling{PoolMode::kMax, {1, 1}, {1, 1}, {0, 0}, false, true}, {"bn"});
  b.Append("flat", Flatten{}, {"global"});
  b.Append("folded", Reshape{{7, 3}}, {"flat"});
  b.Append("unfolded", Flatten{}, {"folded"});
  b.Append("drop", Dropout{0.25}, {"unfolded"});
  b.Append("fc", FullyConnected{10, true}, {"drop"}, {{FillKind::kMsraFanOut, 0, 0}, 1, 1});
  b.Append("aux", SoftmaxCrossEntropy{0.3, true, -1}, {"fc", "label"});
  b.Append("words", Embedding{10, 4}, {"tokens"}, {{FillKind::kConstant, 0, 0}, 1, 1});
  b.Append("lstm", Lstm{4}, {"words"}, rule, bias);
  b.Append("mean", MeanOverTime{}, {"lstm", "lengths"});
  b.Append("fc2", FullyConnected{18, false}, {"mean"}, rule);
  b.Append("loss1", SigmoidCrossEntropy{0.5}, {"fc2", "fake"});
  b.Append("loss2", MeanSquaredError{2}, {"fc2", "fake"});
  Graph graph = b.Take();
  graph.layers.insert(graph.layers.begin(),
                      {"fake", Input{InputRole::kData, {18}, {}}, {}, {}, {}});
  return graph;
}

Graph Parsed(std::string_view text) {
  Result<Graph> graph = ParseGraph(text, "net.json");
  EXPECT_TRUE(graph.ok()) << (graph.ok() ? "" : graph.error().message);
  return graph.ok() ? *std::move(graph) : Graph{};
}

std::string ErrorOf(std::string_view text) {
  const Result<Graph> graph = ParseGraph(text, "net.json");
  return graph.ok() ? "no error" : graph.error().message;
}

// A network of one layer with the given fields.
std::string OneLayer(std::string_view fields) {
  return fmt::format(R"({{"name": "n", "layers": [{{"name": "x", {}}}]}})", fields);
}

TEST(GraphJsonTest, EveryOpSurvivesTheRoundTrip) {
  const Graph graph = EveryOp();
  const Result<TypedGraph> typed = Infer(graph, 2);
  ASSERT_TRUE(typed.ok()) << typed.error().message;
  const Result<Graph> again = GraphFromJson(GraphToJson(graph));
  ASSERT_TRUE(again.ok()) << again.error().message;
  ASSERT_EQ(again->layers.size(), graph.layers.size());
  for (size_t i = 0; i < graph.layers.size(); ++i)
    EXPECT_EQ(again->layers[i], graph.layers[i]) << graph.layers[i].name;
  EXPECT_EQ(*again, graph);
}

TEST(GraphJsonTest, TheRoundTripCoversEveryOp) {
  std::vector<bool> seen(std::variant_size_v<Op>);
  for (const Layer& layer : EveryOp().layers) seen[layer.op.index()] = true;
  for (size_t i = 0; i < seen.size(); ++i) EXPECT_TRUE(seen[i]) << OpNames()[i];
}

TEST(GraphJsonTest, DefaultsAreLeftOutAndWholeNumbersStayWhole) {
  GraphBuilder builder("n");
  builder.Append("data", Input{InputRole::kData, {3, 8, 8}, {FillKind::kGaussian, 0, 1}}, {});
  builder.Append("conv", Convolution{4, {3, 3}, {1, 1}, {0, 0}, {1, 1}, 1, true}, {"data"},
                 {{FillKind::kXavier, 0, 0}, 1, 1});
  builder.Append("pool", Pooling{PoolMode::kMax, {3, 2}, {2, 2}, {0, 0}, false, false}, {"conv"});
  builder.Append("bn", BatchNorm{}, {"pool"}, {{FillKind::kConstant, 1, 0}, 1, 1}, {{}, 2, 1});
  EXPECT_EQ(
      PrintJson(GraphToJson(builder.Take())),
      R"({"name":"n","layers":[)"
      R"({"name":"data","op":"input","shape":[3,8,8],"fill":{"kind":"gaussian","mean":0,"std":1}},)"
      R"({"name":"conv","op":"conv","inputs":["data"],"out_channels":4,"kernel":3},)"
      R"({"name":"pool","op":"pool","inputs":["conv"],"kernel":[3,2],"stride":2},)"
      R"({"name":"bn","op":"batch_norm","inputs":["pool"],"bias":{"lr_mult":2}}]})");
}

TEST(GraphJsonTest, FieldsThatCameLaterAreWrittenOnlyWhereTheyAreUsed) {
  GraphBuilder builder("n");
  builder.Append("relu", Relu{}, {"x"});
  builder.Append("leaky", Relu{0.1}, {"x"});
  builder.Append("lrn", Lrn{}, {"x"});
  builder.Append("spatial", Lrn{5, 1e-4, 0.75, 1, LrnRegion::kWithinChannel}, {"x"});
  builder.Append("add", Add{}, {"x", "y"});
  builder.Append("difference", Add{{1, -1}}, {"x", "y"});
  builder.Append("loss", SoftmaxCrossEntropy{}, {"x", "y"});
  builder.Append("partly", SoftmaxCrossEntropy{1, false, 255}, {"x", "y"});
  EXPECT_EQ(
      PrintJson(GraphToJson(builder.Take())["layers"]),
      R"([{"name":"relu","op":"relu","inputs":["x"]},{"name":"leaky","op":"relu","inputs":["x"],"negative_slope":0.1},)"
      R"({"name":"lrn","op":"lrn","inputs":["x"]},{"name":"spatial","op":"lrn","inputs":["x"],"region":"within_channel"},)"
      R"({"name":"add","op":"add","inputs":["x","y"]},{"name":"difference","op":"add","inputs":["x","y"],"coefficients":[1,-1]},)"
      R"({"name":"loss","op":"softmax_cross_entropy","inputs":["x","y"]},)"
      R"({"name":"partly","op":"softmax_cross_entropy","inputs":["x","y"],"ignore_label":255}])");
}

TEST(GraphJsonTest, WeightsThatAFileSaysNothingAboutCanLearn) {
  const Graph conv = Parsed(OneLayer(R"("op": "conv", "out_channels": 4)"));
  EXPECT_EQ(conv.layers[0].weight.fill.kind, FillKind::kXavier);
  EXPECT_EQ(conv.layers[0].bias, ParameterRule{});
  EXPECT_EQ(Parsed(OneLayer(R"("op": "batch_norm")")).layers[0].weight.fill,
            (Fill{FillKind::kConstant, 1, 0}));
  EXPECT_EQ(Parsed(OneLayer(R"("op": "scale")")).layers[0].weight.fill,
            (Fill{FillKind::kConstant, 1, 0}));
  EXPECT_EQ(Parsed(OneLayer(R"("op": "relu")")).layers[0].weight, ParameterRule{});
}

TEST(GraphJsonTest, BiasIsASwitchOrARule) {
  const auto conv = [](std::string_view bias) {
    const Graph graph =
        Parsed(OneLayer(fmt::format(R"("op": "conv", "out_channels": 4, "bias": {})", bias)));
    return graph.layers.at(0);
  };
  EXPECT_FALSE(std::get<Convolution>(conv("false").op).bias);
  EXPECT_TRUE(std::get<Convolution>(conv("true").op).bias);
  EXPECT_TRUE(std::get<Convolution>(conv(R"({"lr_mult": 2})").op).bias);
  EXPECT_EQ(conv(R"({"lr_mult": 2})").bias.lr_mult, 2);
  EXPECT_THAT(ErrorOf(OneLayer(R"("op": "lstm", "hidden": 3, "bias": false)")),
              HasSubstr("layer 'x'.bias: must be an object"));
}

TEST(GraphJsonTest, TheDocumentedExampleIsALegalNetwork) {
  const Graph graph = Parsed(DocumentedExample());
  EXPECT_EQ(graph.name, "tiny");
  const Result<TypedGraph> typed = Infer(graph, 4);
  ASSERT_TRUE(typed.ok()) << typed.error().message;
  EXPECT_EQ(typed->layers.back().layer.name, "loss");
}

TEST(GraphJsonTest, TheGuideNamesEveryOp) {
  const std::string guide = NetworkGuide();
  for (const std::string& op : OpNames())
    EXPECT_THAT(guide, HasSubstr(fmt::format("**`{}`**", op)));
}

TEST(GraphJsonTest, BrokenJsonIsAnErrorWithItsPlace) {
  EXPECT_THAT(ErrorOf("{\"name\": \"n\",\n \"layers\": [}"), testing::StartsWith("net.json:2:"));
  EXPECT_THAT(ErrorOf(""), testing::StartsWith("net.json:1:"));
  EXPECT_THAT(ErrorOf("[]"), HasSubstr("net.json: network: must be an object"));
  EXPECT_THAT(ErrorOf(R"({"name": "n"})"), HasSubstr("network.layers: is missing"));
  EXPECT_THAT(ErrorOf(R"({"name": "n", "layers": [], "layer": 1})"),
              HasSubstr("unknown key 'layer'; did you mean 'layers'?"));
}

TEST(GraphJsonTest, MistakesInALayerNameIt) {
  EXPECT_EQ(ErrorOf(OneLayer(R"("op": "convv")")),
            "net.json: layer 'x': unknown op 'convv'; did you mean 'conv'?");
  EXPECT_EQ(ErrorOf(OneLayer(R"("op": "conv", "out_channels": 4, "kernal": 3)")),
            "net.json: layer 'x': unknown key 'kernal'; did you mean 'kernel'?");
  EXPECT_THAT(ErrorOf(OneLayer(R"("op": "conv")")),
              HasSubstr("layer 'x'.out_channels: is missing"));
  EXPECT_THAT(ErrorOf(OneLayer(R"("op": "conv", "out_channels": "4")")),
              HasSubstr("layer 'x'.out_channels"));
  EXPECT_THAT(ErrorOf(OneLayer(R"("op": "conv", "out_channels": 4, "kernel": [1, 2, 3])")),
              HasSubstr("layer 'x'.kernel: must be one integer, or two"));
  EXPECT_THAT(ErrorOf(OneLayer(R"("op": "conv", "out_channels": 4, "kernel": [1, -2])")),
              HasSubstr("layer 'x'.kernel: must be a list of integers"));
  EXPECT_THAT(ErrorOf(OneLayer(R"("op": "pool", "mode": "mean")")),
              HasSubstr("layer 'x'.mode: 'mean' is none of max, avg"));
  EXPECT_THAT(ErrorOf(OneLayer(R"("op": "add", "coefficients": [1, "nan"])")),
              HasSubstr("layer 'x'.coefficients: must be finite"));
  EXPECT_THAT(
      ErrorOf(OneLayer(R"("op": "lrn", "region": "within_channels")")),
      HasSubstr("is none of across_channels, within_channel; did you mean 'within_channel'?"));
  EXPECT_THAT(ErrorOf(OneLayer(R"("op": "softmax_cross_entropy", "ignore_label": 0.5)")),
              HasSubstr("layer 'x'.ignore_label"));
  EXPECT_THAT(ErrorOf(OneLayer(R"("op": "batch_norm", "affine": false, "weight": {})")),
              HasSubstr("unknown key 'weight'"));
  EXPECT_THAT(ErrorOf(OneLayer(R"("op": "relu", "inputs": [1])")),
              HasSubstr("layer 'x'.inputs: must be a list of layer names"));
  EXPECT_THAT(ErrorOf(OneLayer(R"("op": "relu", "weight": {})")),
              HasSubstr("unknown key 'weight'"));
  EXPECT_THAT(
      ErrorOf(OneLayer(R"("op": "embedding", "vocabulary": 9, "dimension": 2, "bias": {})")),
      HasSubstr("unknown key 'bias'"));
  EXPECT_THAT(ErrorOf(OneLayer(R"("inputs": [])")), HasSubstr("layer 'x'.op: is missing"));
  EXPECT_THAT(ErrorOf(R"({"name": "n", "layers": [{"op": "relu"}]})"),
              HasSubstr("layers[0].name: is missing"));
  EXPECT_THAT(ErrorOf(R"({"name": "n", "layers": [3]})"),
              HasSubstr("layers[0]: must be an object"));
}

TEST(GraphJsonTest, MistakesInAFillNameIt) {
  const auto error = [](std::string_view fill) {
    return ErrorOf(
        OneLayer(fmt::format(R"("op": "fc", "out_features": 4, "weight": {{"fill": {}}})", fill)));
  };
  EXPECT_THAT(error(R"({"kind": "gausian", "mean": 0, "std": 1})"),
              HasSubstr("layer 'x'.weight: fill: kind: 'gausian' is none of"));
  EXPECT_THAT(error(R"({"kind": "gaussian", "mean": 0})"), HasSubstr("std: is missing"));
  EXPECT_THAT(error(R"({"kind": "gaussian", "mean": 0, "std": 1, "stdd": 1})"),
              HasSubstr("unknown key 'stdd'"));
  EXPECT_THAT(error(R"({"kind": "gaussian", "mean": "nan", "std": 1})"),
              HasSubstr("mean: must be finite"));
  EXPECT_THAT(error(R"({})"), HasSubstr("kind is missing"));
  EXPECT_THAT(error(R"("xavier")"), HasSubstr("fill: must be an object"));
}

TEST(GraphJsonTest, TooManyLayersAreRefused) {
  std::string text = R"({"name": "n", "layers": [0)";
  for (size_t i = 0; i < kMaxLayers; ++i) text += ",0";
  EXPECT_THAT(ErrorOf(text + "]}"), HasSubstr("more than 100000 layers"));
}

TEST(GraphJsonTest, ParametersAreListedWithNumbers) {
  const Graph graph = EveryOp();
  const Result<TypedGraph> typed = Infer(graph, 2);
  ASSERT_TRUE(typed.ok()) << typed.error().message;
  const Json json = ParametersToJson(*typed);
  ASSERT_EQ(json.size(), typed->parameters.size());
  EXPECT_EQ(
      PrintJson(json[0]),
      R"({"name":"conv.weight","shape":[6,2,3,2],"fill":{"kind":"gaussian","mean":0.25,"std":0.01},)"
      R"("lr_mult":0.5,"decay_mult":2,"trained":true})");
  for (const Json& parameter : json) {
    const std::string kind = parameter["fill"]["kind"];
    EXPECT_TRUE(kind == "constant" || kind == "uniform" || kind == "gaussian") << kind;
    EXPECT_EQ(parameter["trained"],
              parameter["name"].get<std::string>().find(".running_") == std::string::npos);
  }
}

TEST(FingerprintTest, IsStableAndBlindToTheNetworksName) {
  Graph graph = Parsed(DocumentedExample());
  EXPECT_EQ(Fingerprint(graph), "63b365ae40b0b922");
  graph.name = "other";
  EXPECT_EQ(Fingerprint(graph), "63b365ae40b0b922");
}

TEST(FingerprintTest, SeesEveryChangeOfTheComputationOrItsStart) {
  const Graph graph = Parsed(DocumentedExample());
  std::vector<Graph> changed(5, graph);
  std::get<Convolution>(changed[0].layers[2].op).pad = {1, 2};
  changed[1].layers[2].weight.fill.kind = FillKind::kMsraFanOut;
  changed[2].layers[2].bias.decay_mult = 0.5;
  changed[3].layers[2].name = changed[3].layers[3].inputs[0] = "conv";
  std::get<Dropout>(changed[4].layers[12].op).ratio = 0.41;
  for (const Graph& other : changed) EXPECT_NE(Fingerprint(other), Fingerprint(graph));
}

}  // namespace
}  // namespace tench::graph_json_test
