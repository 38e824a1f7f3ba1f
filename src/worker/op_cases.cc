// SPDX-License-Identifier: Apache-2.0
#include "worker/op_cases.h"

#include "net/op_parameters.h"

namespace tench {
namespace {

using Cases = std::vector<OpCase>;

ParameterRule Weights() { return {{FillKind::kGaussian, 0, 0.1}, 1, 1}; }
ParameterRule Biases() { return {{FillKind::kUniform, -0.5, 0.5}, 2, 0}; }

Convolution Conv(int64_t out, Hw kernel, Hw stride = {1, 1}, Hw pad = {0, 0}, int64_t groups = 1,
                 Hw dilation = {1, 1}, bool bias = true) {
  return {out, kernel, stride, pad, dilation, groups, bias};
}

void AddConvolutions(Cases& cases) {
  const auto add = [&](const std::string& name, const Shape& sample, const Convolution& op,
                       bool relu = true) {
    // The first convolution makes the tested one compute a data gradient.
    OpChain chain(sample);
    chain.Then("before", Conv(sample[0], {1, 1})).Then("conv", op);
    if (relu) chain.Then("relu", Relu{});
    cases.push_back({name, chain.Classify()});
  };
  add("conv 3x3", {16, 9, 11}, Conv(24, {3, 3}, {1, 1}, {1, 1}));
  add("conv 3x3 without padding, bias or relu", {16, 9, 7},
      Conv(16, {3, 3}, {1, 1}, {0, 0}, 1, {1, 1}, false), false);
  add("conv 3x3 stride 2", {16, 13, 13}, Conv(32, {3, 3}, {2, 2}, {1, 1}));
  add("conv 3x3 stride 2 of an even image", {3, 8, 8}, Conv(4, {3, 3}, {2, 2}, {1, 1}));
  add("conv 1x1", {32, 8, 8}, Conv(16, {1, 1}));
  add("conv 1x1 stride 2", {16, 9, 9}, Conv(32, {1, 1}, {2, 2}));
  add("conv 5x5 in two groups", {32, 10, 10}, Conv(48, {5, 5}, {1, 1}, {2, 2}, 2));
  add("conv of many groups", {40, 5, 5}, Conv(40, {3, 3}, {2, 2}, {1, 1}, 20, {1, 1}, false));
  add("conv of odd channels", {20, 12, 12}, Conv(50, {5, 5}), false);
  add("conv of few channels", {3, 20, 17}, Conv(16, {7, 7}, {2, 2}, {3, 3}));
  add("conv dilated", {16, 15, 15}, Conv(16, {3, 3}, {1, 1}, {2, 2}, 1, {2, 2}));
  add("conv dilated unevenly", {2, 9, 10}, Conv(4, {3, 3}, {1, 1}, {2, 1}, 1, {2, 3}));
  add("conv dilated, strided, in groups", {4, 9, 10}, Conv(4, {3, 3}, {2, 2}, {2, 2}, 2, {2, 2}));
  add("conv 1x3", {16, 8, 8}, Conv(16, {1, 3}, {1, 1}, {0, 1}));
  add("conv 5x2 of uneven stride and padding", {3, 11, 9}, Conv(4, {5, 2}, {3, 2}, {2, 0}));
  add("conv to few channels", {16, 8, 8}, Conv(3, {3, 3}, {1, 1}, {1, 1}));
  cases.push_back(
      {"conv of the data", OpChain({1, 28, 28}).Then("conv", Conv(20, {5, 5})).Classify()});
  cases.push_back({"conv large kernel of the data", OpChain({3, 35, 35})
                                                        .Then("conv", Conv(16, {11, 11}, {4, 4}))
                                                        .Then("relu", Relu{})
                                                        .Classify()});
}

void AddPools(Cases& cases) {
  const auto add = [&](const std::string& name, const Shape& sample, const Pooling& op) {
    cases.push_back(
        {name, OpChain(sample).Then("conv", Conv(sample[0], {1, 1})).Then("pool", op).Classify()});
  };
  const auto avg = PoolMode::kAvg, max = PoolMode::kMax;
  add("max pool", {16, 8, 8}, {max, {2, 2}, {2, 2}});
  add("max pool, floor", {8, 9, 9}, {max, {2, 2}, {2, 2}});
  add("max pool overlapping, ceil", {16, 12, 13}, {max, {3, 3}, {2, 2}, {0, 0}, true});
  add("max pool padded", {8, 7, 7}, {max, {3, 3}, {1, 1}, {1, 1}});
  add("max pool padded, strided", {3, 8, 8}, {max, {3, 3}, {2, 2}, {1, 1}});
  add("max pool of odd channels", {20, 8, 8}, {max, {2, 2}, {2, 2}});
  add("max pool padded, ceil: the last window is dropped", {8, 7, 7},
      {max, {2, 2}, {2, 2}, {1, 1}, true});
  add("max pool dropped on one side alone", {8, 7, 8}, {max, {2, 3}, {2, 2}, {1, 0}, true});
  add("max pool of the whole image", {8, 6, 5}, {max, {1, 1}, {1, 1}, {0, 0}, false, true});
  add("avg pool", {16, 14, 14}, {avg, {5, 5}, {3, 3}});
  add("avg pool ceil", {16, 8, 8}, {avg, {3, 3}, {2, 2}, {0, 0}, true});
  add("avg pool padded", {16, 8, 8}, {avg, {3, 3}, {2, 2}, {1, 1}});
  add("avg pool padded, ceil", {16, 8, 8}, {avg, {3, 3}, {2, 2}, {1, 1}, true});
  add("avg pool of uneven kernel, ceil", {3, 7, 9}, {avg, {3, 2}, {3, 2}, {1, 0}, true});
  add("avg pool larger than the image", {8, 3, 6}, {avg, {4, 3}, {3, 3}, {0, 0}, true});
  add("avg pool of the whole image", {16, 6, 6}, {avg, {1, 1}, {1, 1}, {0, 0}, false, true});
}

void AddNorms(Cases& cases) {
  const auto add = [&](const std::string& name, Graph graph) {
    cases.push_back({name, std::move(graph)});
  };
  const auto lrn = [&](const std::string& name, const Shape& sample, const Lrn& op) {
    add(name, OpChain(sample).Then("conv", Conv(sample[0], {1, 1})).Then("lrn", op).Classify());
  };
  lrn("lrn", {24, 6, 6}, {5, 0.1, 0.75, 1});
  lrn("lrn of size 3", {16, 5, 5}, {3, 0.2, 0.5, 2});
  lrn("lrn of few channels", {7, 4, 5}, {3, 0.9, 0.5, 1});
  add("batch norm",
      OpChain({16, 6, 6}).Then("conv", UnbiasedConvolution(16)).Then("bn", BatchNorm{}).Classify());
  add("batch norm, relu", OpChain({20, 6, 6})
                              .Then("conv", UnbiasedConvolution(20))
                              .Then("bn", BatchNorm{1e-3, 0.25})
                              .Then("relu", Relu{})
                              .Classify());
  add("batch norm of vectors",
      OpChain({30}).Then("fc", FullyConnected{12, false}).Then("bn", BatchNorm{}).Classify());
  add("batch norm without scale", OpChain({16, 6, 6})
                                      .Then("conv", UnbiasedConvolution(16))
                                      .Then("bn", BatchNorm{1e-5, 0.1, false})
                                      .Classify());
  add("batch norm without scale, relu", OpChain({20, 6, 6})
                                            .Then("conv", UnbiasedConvolution(20))
                                            .Then("bn", BatchNorm{1e-5, 0.1, false})
                                            .Then("relu", Relu{})
                                            .Then("after", Conv(16, {1, 1}))
                                            .Classify());
  add("batch norm and scale", OpChain({16, 6, 6})
                                  .Then("conv", UnbiasedConvolution(16))
                                  .Then("bn", BatchNorm{1e-5, 0.1, false})
                                  .Then("scale", Scale{})
                                  .Then("relu", Relu{})
                                  .Classify());
}

// Ops of one input: images with full, padded and no channel blocks, and vectors.
void AddUnary(Cases& cases) {
  const auto add = [&](const std::string& name, const Op& op) {
    const auto image = [&](const std::string& of, const Shape& sample, int64_t channels) {
      cases.push_back({name + of, OpChain(sample)
                                      .Then("conv", Conv(channels, {1, 1}))
                                      .Then("op", op)
                                      .Then("after", Conv(8, {1, 1}))
                                      .Classify()});
    };
    image("", {16, 6, 6}, 16);
    image(" of odd channels", {3, 6, 5}, 12);
    image(" of few channels", {3, 6, 5}, 6);
    if (std::holds_alternative<Lrn>(op)) return;
    image(" of one pixel", {5, 1, 1}, 5);
    cases.push_back({name + " of vectors",
                     OpChain({9}).Then("fc", FullyConnected{13}).Then("op", op).Classify()});
  };
  add("leaky relu", Relu{0.1});
  add("relu of a negative slope", Relu{-0.5});
  add("square", Power{2, 0.5, 1});
  add("cube", Power{3, 0.5, 1});
  add("linear power", Power{1, -2, 0.5});
  add("constant power", Power{0, 1, 0});
  add("softmax", Softmax{});
  add("scale", Scale{true});
  add("scale without bias", Scale{false});
  add("lrn within a channel", Lrn{3, 0.5, 0.75, 1, LrnRegion::kWithinChannel});
  add("lrn within a channel of size 5", Lrn{5, 0.5, 0.5, 2, LrnRegion::kWithinChannel});
  add("slice", Slice{1, 4});
  cases.push_back({"sigmoid and tanh", OpChain({16, 5, 5})
                                           .Then("conv1", Conv(16, {3, 3}))
                                           .Then("sigmoid", Sigmoid{})
                                           .Then("conv2", Conv(24, {1, 1}))
                                           .Then("tanh", Tanh{})
                                           .Then("pool", Pooling{PoolMode::kAvg, {2, 2}, {1, 1}})
                                           .Then("tanh2", Tanh{})
                                           .Classify()});
  cases.push_back({"leaky relu and dropout", OpChain({16, 6, 6})
                                                 .Then("conv", Conv(16, {1, 1}))
                                                 .Then("leaky", Relu{0.2})
                                                 .Then("drop", Dropout{0.5})
                                                 .Classify()});
}

// Ops of several inputs, and values with several readers.
void AddJoins(Cases& cases) {
  for (const auto& [name, op] : std::vector<std::pair<std::string, Op>>{
           {"weighted sum", Add{{0.5, -2, 1}}}, {"product", Multiply{}}, {"maximum", Maximum{}}}) {
    for (const int64_t channels : {16, 12, 3}) {
      cases.push_back({fmt::format("{} of {} channels", name, channels),
                       OpChain({channels, 6, 6})
                           .Then("a", Conv(channels, {1, 1}))
                           .Then("sigmoid", Sigmoid{})
                           .Then("b", Conv(channels, {3, 3}, {1, 1}, {1, 1}))
                           .Then("c", Conv(channels, {1, 1}), {"sigmoid"})
                           .Then("op", op, {"b", "sigmoid", "c"})
                           .Then("relu", Relu{})
                           .Classify()});
    }
  }
  const auto add = [&](const std::string& name, Graph graph) {
    cases.push_back({name, std::move(graph)});
  };
  add("product with itself", OpChain({16, 5, 5})
                                 .Then("a", Conv(16, {1, 1}))
                                 .Then("op", Multiply{}, {"a", "a"})
                                 .Classify());
  add("slices at the edges of blocks", OpChain({16, 6, 6})
                                           .Then("a", Conv(48, {1, 1}))
                                           .Then("relu", Relu{})
                                           .Then("s1", Slice{0, 16}, {"relu"})
                                           .Then("s2", Slice{16, 48}, {"relu"})
                                           .Then("b", Conv(16, {1, 1}), {"s2"})
                                           .Then("sum", Add{}, {"b", "s1"})
                                           .Then("relu2", Relu{})
                                           .Classify());
  add("concat", OpChain({16, 6, 6})
                    .Then("a", Conv(16, {1, 1}))
                    .Then("relu_a", Relu{})
                    .Then("b", Conv(8, {3, 3}, {1, 1}, {1, 1}), {"relu_a"})
                    .Then("relu_b", Relu{})
                    .Then("c", Conv(24, {1, 1}), {"relu_a"})
                    .Then("concat", Concat{}, {"relu_b", "c", "relu_a"})
                    .Then("d", Conv(16, {1, 1}))
                    .Classify());
  add("concat of odd channels", OpChain({3, 6, 6})
                                    .Then("a", Conv(5, {1, 1}))
                                    .Then("relu_a", Relu{})
                                    .Then("b", Conv(12, {3, 3}, {1, 1}, {1, 1}), {"relu_a"})
                                    .Then("relu_b", Relu{})
                                    .Then("concat", Concat{}, {"relu_b", "relu_a"})
                                    .Classify());
  add("branches of activations", OpChain({8, 6, 6})
                                     .Then("a", Conv(8, {1, 1}))
                                     .Then("sigmoid", Sigmoid{})
                                     .Then("b", Conv(8, {3, 3}, {1, 1}, {1, 1}))
                                     .Then("tanh", Tanh{})
                                     .Then("two", Add{}, {"tanh", "sigmoid"})
                                     .Then("three", Add{}, {"two", "a", "b"})
                                     .Then("join", Concat{}, {"three", "two", "a"})
                                     .Classify());
  add("residual", OpChain({16, 6, 6})
                      .Then("stem", Conv(16, {3, 3}, {1, 1}, {1, 1}, 1, {1, 1}, false))
                      .Then("bn0", BatchNorm{})
                      .Then("relu0", Relu{})
                      .Then("a", Conv(16, {3, 3}, {1, 1}, {1, 1}, 1, {1, 1}, false))
                      .Then("bn1", BatchNorm{})
                      .Then("add1", Add{}, {"bn1", "relu0"})
                      .Then("relu1", Relu{})
                      .Then("b", Conv(16, {1, 1}))
                      .Then("add2", Add{}, {"b", "relu1", "stem"})
                      .Classify());
  add("one value read by many",
      OpChain({16, 6, 6})
          .Then("a", Conv(16, {1, 1}))
          .Then("relu", Relu{})
          .Then("p", Pooling{PoolMode::kMax, {3, 3}, {1, 1}, {1, 1}}, {"relu"})
          .Then("q", Conv(16, {3, 3}, {1, 1}, {1, 1}), {"relu"})
          .Then("add", Add{}, {"p", "q", "relu"})
          .Classify());
}

void AddDense(Cases& cases) {
  const auto add = [&](const std::string& name, Graph graph) {
    cases.push_back({name, std::move(graph)});
  };
  add("fc", OpChain({33})
                .Then("fc1", FullyConnected{41})
                .Then("relu", Relu{})
                .Then("fc2", FullyConnected{18, false})
                .Classify());
  add("fc of an image", OpChain({16, 5, 5}).Then("conv", Conv(16, {3, 3})).Classify());
  add("reshape", OpChain({16, 6, 6})
                     .Then("conv", Conv(16, {1, 1}))
                     .Then("op", Reshape{{4, 12, 12}})
                     .Then("after", Conv(8, {3, 3}))
                     .Classify());
  add("reshape of vectors", OpChain({9})
                                .Then("fc", FullyConnected{36})
                                .Then("op", Reshape{{4, 3, 3}})
                                .Then("relu", Relu{})
                                .Then("conv", Conv(16, {2, 2}))
                                .Classify());
}

void AddLosses(Cases& cases) {
  const auto vectors = [](const Op& bend) {
    return OpChain({20})
        .Then("fc1", FullyConnected{8})
        .Then("bend", bend)
        .Then("fc2", FullyConnected{20});
  };
  cases.push_back({"squared error", vectors(Tanh{}).EndWith("loss", MeanSquaredError{2}, "data")});
  cases.push_back({"sigmoid cross entropy",
                   vectors(Sigmoid{}).EndWith("loss", SigmoidCrossEntropy{0.5}, "data")});
  for (const int64_t label : {1, 255, -1}) {
    Graph graph = OpChain({9}).Then("fc", FullyConnected{13}).Classify(3);
    std::get<SoftmaxCrossEntropy>(graph.layers.back().op).ignore_label = label;
    cases.push_back({fmt::format("softmax cross entropy that ignores label {}", label), graph});
  }
}

void AddSequences(Cases& cases) {
  const auto lengths = [](int64_t time) {
    return Input{InputRole::kLengths, {}, {FillKind::kInteger, 1, static_cast<double>(time + 1)}};
  };
  const auto lstm = [&](const std::string& name, int64_t time, int64_t width, int64_t hidden) {
    cases.push_back({name, OpChain({time, width})
                               .Then("lstm", Lstm{hidden})
                               .ThenInput("lengths", lengths(time))
                               .Then("mean", MeanOverTime{}, {"lstm", "lengths"})
                               .Classify()});
  };
  lstm("lstm of odd width", 5, 21, 35);
  lstm("lstm over one step of time", 1, 9, 16);
  cases.push_back({"lstm of two layers", OpChain({7, 10})
                                             .Then("lstm1", Lstm{16})
                                             .Then("lstm2", Lstm{12})
                                             .ThenInput("lengths", lengths(7))
                                             .Then("mean", MeanOverTime{}, {"lstm2", "lengths"})
                                             .Classify()});
  for (const bool recurrent : {false, true}) {
    GraphBuilder b("tokens");
    b.Append("tokens", Input{InputRole::kTokens, {6}, {FillKind::kInteger, 0, 20}}, {});
    b.Append("lengths", lengths(6), {});
    b.Append("label", Input{InputRole::kLabel, {}, {FillKind::kInteger, 0, 3}}, {});
    std::string top = b.Append("embedding", Embedding{20, 5}, {"tokens"}, Weights());
    if (recurrent) top = b.Append("lstm", Lstm{9}, {top}, Weights(), Biases());
    b.Append("mean", MeanOverTime{}, {top, "lengths"});
    b.Append("scores", FullyConnected{3}, {"mean"}, Weights(), Biases());
    b.Append("loss", SoftmaxCrossEntropy{}, {"scores", "label"});
    cases.push_back({recurrent ? "embedding, lstm" : "embedding", b.Take()});
  }
}

}  // namespace

OpChain::OpChain(const Shape& sample) {
  builder_.Append("data", Input{InputRole::kData, sample, {FillKind::kUniform, -1, 1}}, {});
}

OpChain& OpChain::Then(const std::string& name, const Op& op, std::vector<std::string> inputs) {
  if (inputs.empty()) inputs = {top_};
  top_ = builder_.Append(name, op, inputs, HasWeight(op) ? Weights() : ParameterRule{},
                         HasBias(op) ? Biases() : ParameterRule{});
  return *this;
}

OpChain& OpChain::ThenInput(const std::string& name, const Input& input) {
  builder_.Append(name, input, {});
  return *this;
}

Graph OpChain::Classify(int64_t classes, double loss_weight) {
  Then("flat", Flatten{}).Then("scores", FullyConnected{classes, true});
  ThenInput("label",
            Input{InputRole::kLabel, {}, {FillKind::kInteger, 0, static_cast<double>(classes)}});
  return EndWith("loss", SoftmaxCrossEntropy{loss_weight}, "label");
}

Graph OpChain::EndWith(const std::string& name, const Op& loss, const std::string& target) {
  builder_.Append(name, loss, {top_, target});
  return builder_.Take();
}

Convolution UnbiasedConvolution(int64_t out_channels) {
  return Conv(out_channels, {3, 3}, {1, 1}, {0, 0}, 1, {1, 1}, false);
}

std::vector<OpCase> OpCases() {
  Cases cases;
  AddConvolutions(cases);
  AddPools(cases);
  AddNorms(cases);
  AddUnary(cases);
  AddJoins(cases);
  AddDense(cases);
  AddLosses(cases);
  AddSequences(cases);
  return cases;
}

}  // namespace tench
