// SPDX-License-Identifier: Apache-2.0
#include "small_networks.h"

#include "net/builder.h"

namespace tench {
namespace {

const ParameterRule kXavier{{FillKind::kXavier, 0, 0}};
const ParameterRule kMsra{{FillKind::kMsra, 0, 0}};
const ParameterRule kOnes{{FillKind::kConstant, 1, 0}};

Input Data(Shape sample) {
  return {InputRole::kData, std::move(sample), {FillKind::kGaussian, 0, 1}};
}
Input Labels(int64_t classes) {
  return {InputRole::kLabel, {}, {FillKind::kInteger, 0, static_cast<double>(classes)}};
}

}  // namespace

Graph SmallLenet() {
  GraphBuilder b("small_lenet");
  b.Append("data", Data({1, 12, 12}), {});
  b.Append("label", Labels(10), {});
  b.Append("conv1", Convolution{6, {5, 5}}, {"data"}, kXavier);
  b.Append("pool1", Pooling{PoolMode::kMax, {2, 2}, {2, 2}}, {"conv1"});
  b.Append("conv2", Convolution{8, {3, 3}}, {"pool1"}, kXavier);
  b.Append("flat", Flatten{}, {"conv2"});
  b.Append("ip1", FullyConnected{20}, {"flat"}, kXavier);
  b.Append("relu1", Relu{}, {"ip1"});
  b.Append("ip2", FullyConnected{10}, {"relu1"}, kXavier);
  b.Append("loss", SoftmaxCrossEntropy{}, {"ip2", "label"});
  return b.Take();
}

Graph SmallBranches() {
  GraphBuilder b("small_branches");
  b.Append("data", Data({3, 16, 16}), {});
  b.Append("label", Labels(5), {});
  b.Append("stem", Convolution{8, {3, 3}, {2, 2}, {1, 1}}, {"data"}, kMsra);
  b.Append("stem_relu", Relu{}, {"stem"});
  b.Append("stem_norm", Lrn{}, {"stem_relu"});
  b.Append("block/left", Convolution{8, {3, 3}, {1, 1}, {2, 2}, {2, 2}, 2, false}, {"stem_norm"},
           kMsra);
  b.Append("block/left_bn", BatchNorm{}, {"block/left"}, kOnes);
  b.Append("sum", Add{}, {"block/left_bn", "stem_norm"});
  b.Append("mean", Pooling{PoolMode::kAvg, {3, 3}, {1, 1}, {1, 1}}, {"stem_norm"});
  b.Append("both", Concat{}, {"sum", "mean"});
  b.Append("aux_pool", Pooling{PoolMode::kMax, {3, 3}, {2, 2}, {0, 0}, true}, {"sum"});
  b.Append("aux_flat", Flatten{}, {"aux_pool"});
  b.Append("aux_fc", FullyConnected{5}, {"aux_flat"}, kMsra);
  b.Append("aux_loss", SoftmaxCrossEntropy{0.3, true}, {"aux_fc", "label"});
  b.Append("pool", Pooling{PoolMode::kAvg, {1, 1}, {1, 1}, {0, 0}, false, true}, {"both"});
  b.Append("flat", Flatten{}, {"pool"});
  b.Append("drop", Dropout{0.4}, {"flat"});
  b.Append("fc", FullyConnected{5}, {"drop"}, kMsra, {{FillKind::kConstant, 0, 0}, 2, 0});
  b.Append("loss", SoftmaxCrossEntropy{}, {"fc", "label"});
  return b.Take();
}

Graph SmallLstm() {
  GraphBuilder b("small_lstm");
  b.Append("tokens", Input{InputRole::kTokens, {7}, {FillKind::kInteger, 0, 30}}, {});
  b.Append("lengths", Input{InputRole::kLengths, {}, {FillKind::kInteger, 2, 8}}, {});
  b.Append("label", Labels(2), {});
  b.Append("embedding", Embedding{30, 6}, {"tokens"}, {{FillKind::kUniform, -0.5, 0.5}});
  b.Append("lstm", Lstm{8}, {"embedding"}, kXavier);
  b.Append("mean", MeanOverTime{}, {"lstm", "lengths"});
  b.Append("fc", FullyConnected{2}, {"mean"}, kXavier);
  b.Append("loss", SoftmaxCrossEntropy{}, {"fc", "label"});
  return b.Take();
}

Graph SmallAutoencoder() {
  GraphBuilder b("small_autoencoder");
  b.Append("data", Input{InputRole::kData, {20}, {FillKind::kUniform, 0, 1}}, {});
  b.Append("encode", FullyConnected{8}, {"data"}, kXavier);
  b.Append("squash", Sigmoid{}, {"encode"});
  b.Append("decode", FullyConnected{20}, {"squash"}, kXavier);
  b.Append("cross", SigmoidCrossEntropy{}, {"decode", "data"});
  b.Append("bend", Tanh{}, {"decode"});
  b.Append("square", MeanSquaredError{2}, {"bend", "data"});
  return b.Take();
}

Graph SmallCaffe() {
  GraphBuilder b("small_caffe");
  b.Append("data", Data({3, 8, 8}), {});
  b.Append("label", Labels(5), {});
  b.Append("conv", Convolution{8, {3, 3}, {1, 1}, {1, 1}}, {"data"}, kMsra);
  b.Append("leaky", Relu{0.1}, {"conv"});
  b.Append("norm", Lrn{3, 0.5, 0.75, 1, LrnRegion::kWithinChannel}, {"leaky"});
  b.Append("block/conv", Convolution{8, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 1, false}, {"norm"}, kMsra);
  b.Append("block/bn", BatchNorm{1e-5, 0.1, false}, {"block/conv"});
  b.Append("block/scale", Scale{}, {"block/bn"}, kOnes);
  b.Append("difference", Add{{1, -0.5}}, {"block/scale", "norm"});
  b.Append("gate", Sigmoid{}, {"difference"});
  b.Append("gated", Multiply{}, {"gate", "norm"});
  b.Append("largest", Maximum{}, {"gated", "difference"});
  b.Append("left", Slice{0, 3}, {"largest"});
  b.Append("right", Slice{3, 8}, {"largest"});
  b.Append("attention", Softmax{}, {"left"});
  b.Append("bare", Scale{false}, {"right"}, kOnes);
  b.Append("square", Power{2, 0.5, 1}, {"bare"});
  b.Append("both", Concat{}, {"attention", "square"});
  b.Append("folded", Reshape{{32, 4, 4}}, {"both"});
  b.Append("pool", Pooling{PoolMode::kAvg, {1, 1}, {1, 1}, {0, 0}, false, true}, {"folded"});
  b.Append("flat", Reshape{{32}}, {"pool"});
  b.Append("root", Power{0.5, 0.05, 1}, {"flat"});
  b.Append("fc", FullyConnected{5}, {"root"}, kXavier);
  b.Append("share", Softmax{}, {"fc"});
  b.Append("target", Input{InputRole::kData, {5}, {FillKind::kUniform, 0, 1}}, {});
  b.Append("euclidean", MeanSquaredError{2.5}, {"share", "target"});
  b.Append("loss", SoftmaxCrossEntropy{1, false, 3}, {"fc", "label"});
  return b.Take();
}

std::vector<Graph> SmallNetworks() {
  return {SmallLenet(), SmallBranches(), SmallLstm(), SmallAutoencoder(), SmallCaffe()};
}

Graph SideBySide(const std::vector<Graph>& networks) {
  Graph all;
  for (const Graph& network : networks) {
    all.name += (all.name.empty() ? "" : "_and_") + network.name;
    for (Layer layer : network.layers) {
      layer.name = network.name + "/" + layer.name;
      for (std::string& input : layer.inputs) input = network.name + "/" + input;
      all.layers.push_back(std::move(layer));
    }
  }
  return all;
}

}  // namespace tench
