// SPDX-License-Identifier: Apache-2.0
#include "small_networks.h"

#include "net/builder.h"

namespace tench {
namespace {

const ParameterRule kXavier{{FillKind::kXavier, 0, 0}};
const ParameterRule kMsra{{FillKind::kMsra, 0, 0}};
const ParameterRule kOnes{{FillKind::kConstant, 1, 0}};

Input Data(Shape sample) { return {InputRole::kData, std::move(sample), {FillKind::kGaussian, 0, 1}}; }
Input Labels(int64_t classes) { return {InputRole::kLabel, {}, {FillKind::kInteger, 0, static_cast<double>(classes)}}; }

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
  b.Append("block/left", Convolution{8, {3, 3}, {1, 1}, {2, 2}, {2, 2}, 2, false}, {"stem_norm"}, kMsra);
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

std::vector<Graph> SmallNetworks() { return {SmallLenet(), SmallBranches(), SmallLstm(), SmallAutoencoder()}; }

}  // namespace tench
