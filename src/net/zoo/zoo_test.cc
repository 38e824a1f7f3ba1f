// SPDX-License-Identifier: Apache-2.0
#include "net/zoo/zoo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "net/cost.h"
#include "net/op_traits.h"

namespace tench::zoo_test {
namespace {

using testing::HasSubstr;

InputSpec Spec(const std::string& data) {
  InputSpec spec;
  spec.data = data;
  spec.classes = 10;
  if (data == "mnist") spec.channels = 1, spec.height = spec.width = 28;
  if (data == "cifar10") spec.channels = 3, spec.height = spec.width = 32;
  if (data == "imagenet") spec.channels = 3, spec.height = spec.width = 224, spec.classes = 1000;
  if (data == "imdb") spec.vocabulary = 20000, spec.length = 100, spec.classes = 2;
  return spec;
}

Graph Network(const std::string& name, const std::string& data) {
  return *(*FindNetwork(name))->build(Spec(data));
}

TypedGraph Typed(const std::string& name, const std::string& data, int64_t batch = 1) {
  return *Infer(Network(name, data), batch);
}

const Layer& FindLayer(const Graph& graph, const std::string& name) {
  for (const Layer& layer : graph.layers) {
    if (layer.name == name) return layer;
  }
  Check(false, name + " is no layer");
  return graph.layers[0];
}

Shape OutputShape(const TypedGraph& graph, const std::string& name) {
  for (const TypedLayer& layer : graph.layers) {
    if (layer.layer.name == name) return layer.output.shape;
  }
  return {};
}

TEST(ZooTest, HasThePublishedNumberOfParameters) {
  const std::map<std::pair<std::string, std::string>, int64_t> published = {
      {{"lenet", "mnist"}, 431'080},
      {{"alexnet", "imagenet"}, 60'965'224},
      {{"googlenet", "imagenet"}, 13'378'280},
      {{"vgg16", "imagenet"}, 138'357'544},
      {{"vgg19", "imagenet"}, 143'667'240},
      {{"resnet18", "imagenet"}, 11'689'512},
      {{"resnet34", "imagenet"}, 21'797'672},
      {{"resnet50", "imagenet"}, 25'557'032},
      {{"resnet101", "imagenet"}, 44'549'160},
      {{"resnet152", "imagenet"}, 60'192'808},
      {{"vgg16", "cifar10"}, 15'245'130},
      {{"resnet18", "cifar10"}, 11'173'962},
      {{"resnet34", "cifar10"}, 21'282'122},
      {{"resnet50", "cifar10"}, 23'520'842},
      {{"resnet101", "cifar10"}, 42'512'970},
      {{"resnet152", "cifar10"}, 58'156'618},
      {{"mlp", "mnist"}, 669'706},
      {{"lstm", "imdb"}, 20'000 * 128 + 4 * 128 * (128 + 128 + 1) + 128 * 2 + 2},
      {{"autoencoder", "mnist"},
       2 * (784 * 400 + 400 * 200 + 200 * 100) + 400 + 200 + 100 + 200 + 400 + 784},
      {{"autoencoder-stage1", "mnist"}, 2 * 784 * 400 + 400 + 784},
      {{"autoencoder-stage2", "mnist"}, 2 * 400 * 200 + 200 + 400},
      {{"autoencoder-stage3", "mnist"}, 2 * 200 * 100 + 100 + 200},
  };
  for (const auto& [key, parameters] : published) {
    EXPECT_EQ(TotalCost(Typed(key.first, key.second)).parameters, parameters)
        << key.first << " " << key.second;
  }
}

// Papers count only the multiply-adds of convolutions and fully connected layers; 3 % allows for
// the other ops.
TEST(ZooTest, ForwardFlopsAreNearThePublishedMultiplyAdds) {
  const std::map<std::string, double> giga_multiply_adds = {
      {"alexnet", 0.724},  {"googlenet", 1.583}, {"vgg16", 15.47},
      {"vgg19", 19.63},    {"resnet18", 1.814},  {"resnet34", 3.664},
      {"resnet50", 4.089}, {"resnet101", 7.80},  {"resnet152", 11.51},
  };
  for (const auto& [name, expected] : giga_multiply_adds) {
    const TypedGraph graph = *Infer(InferenceGraph(Network(name, "imagenet")), 1);
    const double flops = static_cast<double>(TotalCost(graph).forward_flops);
    EXPECT_NEAR(flops / 2e9, expected, 0.03 * expected) << name;
  }
}

TEST(ZooTest, EveryNetworkIsValidOnEveryDataSetItNames) {
  for (const ZooEntry& entry : Zoo()) {
    EXPECT_FALSE(entry.help.empty()) << entry.name;
    ASSERT_FALSE(entry.data.empty()) << entry.name;
    EXPECT_EQ(entry.default_data, entry.data.front());
    for (const std::string& data : entry.data) {
      const Result<Graph> graph = entry.build(Spec(data));
      ASSERT_TRUE(graph.ok()) << graph.error().message;
      EXPECT_EQ(graph->name, entry.name);
      for (const int64_t batch : {1, 4}) {
        const Result<TypedGraph> typed = Infer(*graph, batch);
        ASSERT_TRUE(typed.ok()) << data << ": " << typed.error().message;
      }
      const Result<TypedGraph> inference = Infer(InferenceGraph(*graph), 1);
      ASSERT_TRUE(inference.ok()) << data << ": " << inference.error().message;
    }
  }
}

TEST(ZooTest, NamesInputsAndLossesAlike) {
  const std::set<std::string> input_names = {"data", "label", "tokens", "lengths"};
  for (const ZooEntry& entry : Zoo()) {
    const Graph graph = *entry.build(Spec(entry.default_data));
    EXPECT_TRUE(IsLoss(FindLayer(graph, "loss").op)) << entry.name;
    for (const Layer& layer : graph.layers) {
      const bool input = std::holds_alternative<Input>(layer.op);
      EXPECT_EQ(input, input_names.contains(layer.name)) << layer.name;
      EXPECT_TRUE(!IsLoss(layer.op) || layer.name == "loss" || layer.name.ends_with("/loss"))
          << layer.name;
    }
  }
}

TEST(ZooTest, FingerprintsDifferBetweenNetworksAndDataSets) {
  std::map<std::string, std::string> seen;
  for (const ZooEntry& entry : Zoo()) {
    for (const std::string& data : entry.data) {
      const std::string key = entry.name + "/" + data;
      const auto [other, is_new] = seen.emplace(Fingerprint(Network(entry.name, data)), key);
      EXPECT_TRUE(is_new) << key << " and " << other->second;
    }
  }
}

TEST(ZooTest, RefusesDataThatItHasNoFormForAndNamesThoseThatFit) {
  const auto message = [](const std::string& name, const std::string& data) {
    const Result<Graph> graph = (*FindNetwork(name))->build(Spec(data));
    return graph.ok() ? std::string() : graph.error().message;
  };
  EXPECT_EQ(message("lenet", "imdb"), "lenet does not support imdb; it supports mnist, cifar10");
  EXPECT_EQ(message("lstm", "mnist"), "lstm does not support mnist; it supports imdb");
  EXPECT_EQ(message("vgg16", "mnist"),
            "vgg16 does not support mnist; it supports imagenet, cifar10");
  EXPECT_EQ(message("mlp", ""), "mlp does not support unnamed data; it supports mnist, cifar10");
}

TEST(ZooTest, RefusesUnknownNamesWithTheNearest) {
  EXPECT_THAT(FindNetwork("lennet").error().message,
              HasSubstr("unknown network 'lennet'; did you mean 'lenet'?"));
  EXPECT_THAT(FindNetwork("no such thing at all").error().message,
              HasSubstr("known are lenet, alexnet"));
  EXPECT_EQ((*FindNetwork("resnet50"))->name, "resnet50");
}

TEST(ZooTest, AlexnetTakesItsOwnCropAndTheSmallFormTheImagesOwnSize) {
  const TypedGraph large = Typed("alexnet", "imagenet", 2);
  EXPECT_EQ(OutputShape(large, "data"), (Shape{2, 3, 227, 227}));
  EXPECT_EQ(OutputShape(large, "conv1"), (Shape{2, 96, 55, 55}));
  EXPECT_EQ(OutputShape(large, "pool5"), (Shape{2, 256, 6, 6}));
  const TypedGraph small = Typed("alexnet", "cifar10", 2);
  EXPECT_EQ(OutputShape(small, "data"), (Shape{2, 3, 32, 32}));
  EXPECT_EQ(OutputShape(small, "pool5"), (Shape{2, 256, 4, 4}));
  EXPECT_EQ(OutputShape(small, "fc8"), (Shape{2, 10}));
}

TEST(ZooTest, AlexnetBeginsAndLearnsAsCaffesReference) {
  const Graph graph = Network("alexnet", "imagenet");
  const std::map<std::string, std::pair<double, double>> deviation_and_bias = {
      {"conv1", {0.01, 0}},   {"conv2", {0.01, 0.1}}, {"conv3", {0.01, 0}},  {"conv4", {0.01, 0.1}},
      {"conv5", {0.01, 0.1}}, {"fc6", {0.005, 0.1}},  {"fc7", {0.005, 0.1}}, {"fc8", {0.01, 0}},
  };
  for (const auto& [name, expected] : deviation_and_bias) {
    const Layer& layer = FindLayer(graph, name);
    EXPECT_EQ(layer.weight, (ParameterRule{{FillKind::kGaussian, 0, expected.first}, 1, 1}))
        << name;
    EXPECT_EQ(layer.bias, (ParameterRule{{FillKind::kConstant, expected.second, 0}, 2, 0})) << name;
  }
}

TEST(ZooTest, LenetBiasesLearnTwiceAsFastAndDecay) {
  for (const Parameter& parameter : Typed("lenet", "mnist").parameters) {
    const bool bias = parameter.name.ends_with(".bias");
    EXPECT_EQ(parameter.lr_mult, bias ? 2 : 1) << parameter.name;
    EXPECT_EQ(parameter.decay_mult, 1) << parameter.name;
    EXPECT_EQ(parameter.fill.kind, bias ? FillKind::kConstant : FillKind::kUniform)
        << parameter.name;
  }
}

TEST(ZooTest, GooglenetBiasesLearnTwiceAsFastWithoutDecay) {
  for (const Parameter& parameter : Typed("googlenet", "imagenet").parameters) {
    const bool bias = parameter.name.ends_with(".bias");
    EXPECT_EQ(parameter.lr_mult, bias ? 2 : 1) << parameter.name;
    EXPECT_EQ(parameter.decay_mult, bias ? 0 : 1) << parameter.name;
    if (!bias) continue;
    const bool scores = parameter.name.find("classifier") != std::string::npos;
    EXPECT_EQ(parameter.fill, (Fill{FillKind::kConstant, scores ? 0 : 0.2, 0})) << parameter.name;
  }
}

TEST(ZooTest, GooglenetHasTwoAuxiliaryHeadsWhichInferenceCuts) {
  for (const std::string data : {"imagenet", "cifar10"}) {
    const Graph graph = Network("googlenet", data);
    for (const std::string name : {"loss1/loss", "loss2/loss"}) {
      const auto loss = std::get<SoftmaxCrossEntropy>(FindLayer(graph, name).op);
      EXPECT_TRUE(loss.auxiliary);
      EXPECT_EQ(loss.loss_weight, 0.3);
    }
    EXPECT_FALSE(std::get<SoftmaxCrossEntropy>(FindLayer(graph, "loss").op).auxiliary);
    for (const Layer& layer : InferenceGraph(graph).layers) {
      EXPECT_FALSE(layer.name.starts_with("loss1/") || layer.name.starts_with("loss2/"))
          << layer.name;
    }
    const TypedGraph typed = *Infer(graph, 1);
    EXPECT_EQ(OutputShape(typed, "loss1/pool"), (Shape{1, 512, 4, 4})) << data;
    EXPECT_EQ(OutputShape(typed, "loss2/pool"), (Shape{1, 528, 4, 4})) << data;
    const int64_t side = data == "imagenet" ? 7 : 8;
    EXPECT_EQ(OutputShape(typed, "inception_5b/output"), (Shape{1, 1024, side, side}));
  }
}

TEST(ZooTest, ResnetConvolutionsHaveNoBiasAndScalesBeginAtOne) {
  const Graph graph = Network("resnet50", "imagenet");
  for (const Layer& layer : graph.layers) {
    if (const auto* conv = std::get_if<Convolution>(&layer.op)) {
      EXPECT_FALSE(conv->bias) << layer.name;
      EXPECT_EQ(layer.weight.fill.kind, FillKind::kMsraFanOut) << layer.name;
    }
    if (std::holds_alternative<BatchNorm>(layer.op)) {
      EXPECT_EQ(layer.weight.fill, (Fill{FillKind::kConstant, 1, 0})) << layer.name;
      EXPECT_EQ(layer.bias.fill, (Fill{FillKind::kConstant, 0, 0})) << layer.name;
    }
  }
  EXPECT_EQ(std::get<FullyConnected>(FindLayer(graph, "fc").op).bias, true);
}

TEST(ZooTest, ResnetBottlenecksCarryTheirStrideOnTheThreeByThree) {
  const Graph graph = Network("resnet50", "imagenet");
  EXPECT_EQ(std::get<Convolution>(FindLayer(graph, "stage2/block1/conv1").op).stride, (Hw{1, 1}));
  EXPECT_EQ(std::get<Convolution>(FindLayer(graph, "stage2/block1/conv2").op).stride, (Hw{2, 2}));
  EXPECT_EQ(std::get<Convolution>(FindLayer(graph, "stage2/block1/shortcut").op).stride,
            (Hw{2, 2}));
  EXPECT_EQ(std::get<Convolution>(FindLayer(graph, "stage2/block2/conv2").op).stride, (Hw{1, 1}));
}

TEST(ZooTest, LstmFollowsTheSequenceLength) {
  InputSpec spec = Spec("imdb");
  spec.length = 37;
  const Graph graph = *(*FindNetwork("lstm"))->build(spec);
  EXPECT_EQ(std::get<Input>(FindLayer(graph, "tokens").op).fill,
            (Fill{FillKind::kInteger, 0, 20000}));
  EXPECT_EQ(std::get<Input>(FindLayer(graph, "lengths").op).fill,
            (Fill{FillKind::kInteger, 1, 38}));
  const TypedGraph typed = *Infer(graph, 3);
  EXPECT_EQ(OutputShape(typed, "tokens"), (Shape{3, 37}));
  EXPECT_EQ(OutputShape(typed, "lstm"), (Shape{3, 37, 128}));
  EXPECT_EQ(OutputShape(typed, "mean"), (Shape{3, 128}));
}

TEST(ZooTest, AutoencoderReconstructsItsOwnInput) {
  const Graph whole = Network("autoencoder", "mnist");
  EXPECT_EQ(FindLayer(whole, "loss").inputs, (std::vector<std::string>{"fc6", "flatten"}));
  EXPECT_EQ(std::get<Input>(FindLayer(whole, "data").op).fill, (Fill{FillKind::kUniform, 0, 1}));
  const Graph stage = Network("autoencoder-stage2", "mnist");
  EXPECT_EQ(FindLayer(stage, "loss").inputs, (std::vector<std::string>{"fc2", "data"}));
  EXPECT_EQ(OutputShape(Typed("autoencoder-stage2", "mnist", 5), "data"), (Shape{5, 400}));
  EXPECT_EQ(OutputShape(Typed("autoencoder-stage3", "mnist", 5), "sigmoid1"), (Shape{5, 100}));
}

TEST(ZooTest, LabelsCoverTheClassesOfTheDataSet) {
  for (const auto& [name, data, classes] :
       std::vector<std::tuple<std::string, std::string, double>>{
           {"lenet", "mnist", 10}, {"alexnet", "imagenet", 1000}, {"lstm", "imdb", 2}}) {
    const Graph graph = Network(name, data);
    EXPECT_EQ(std::get<Input>(FindLayer(graph, "label").op).fill,
              (Fill{FillKind::kInteger, 0, classes}))
        << name;
  }
}

}  // namespace
}  // namespace tench::zoo_test
