// SPDX-License-Identifier: Apache-2.0
#include "net/caffe/bn_scale_fusion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/builder.h"

namespace tench::bn_scale_fusion_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const ParameterRule kScaleRule{{FillKind::kConstant, 1, 0}, 3, 0};
const ParameterRule kShiftRule{{FillKind::kConstant, 0.5, 0}, 2, 0};

// data -> norm -> scale -> fc; `extra` reads the batch norm too.
CaffeNetwork Normalized(bool bias, bool extra = false) {
  GraphBuilder b("net");
  b.Append("data", Input{InputRole::kData, {3}, {}}, {});
  b.Append("norm", BatchNorm{1e-5, 0.1, false}, {"data"});
  b.Append("scale", Scale{bias}, {"norm"}, kScaleRule, bias ? kShiftRule : ParameterRule{});
  b.Append("fc", FullyConnected{2}, {"scale"});
  if (extra) b.Append("extra", Relu{}, {"norm"});
  CaffeNetwork network;
  network.graph = b.Take();
  network.names.layers["scale"] = "in caffe";
  return network;
}

std::vector<std::string> LayerNames(const CaffeNetwork& network) {
  std::vector<std::string> names;
  for (const Layer& layer : network.graph.layers) names.push_back(layer.name);
  return names;
}

TEST(BnScaleFusionTest, AScaleMovesIntoItsBatchNorm) {
  CaffeNetwork network = Normalized(true);
  FuseBatchNorms(network);
  EXPECT_THAT(LayerNames(network), ElementsAre("data", "norm", "fc"));
  const Layer& norm = network.graph.layers[1];
  EXPECT_TRUE(std::get<BatchNorm>(norm.op).affine);
  EXPECT_EQ(norm.weight, kScaleRule);
  EXPECT_EQ(norm.bias, kShiftRule);
  EXPECT_THAT(network.graph.layers[2].inputs, ElementsAre("norm"));
  EXPECT_EQ(network.names.scales.at("norm").name, "in caffe");
  EXPECT_TRUE(network.names.scales.at("norm").bias);
}

TEST(BnScaleFusionTest, AMissingShiftStaysAtZero) {
  CaffeNetwork network = Normalized(false);
  FuseBatchNorms(network);
  EXPECT_EQ(network.graph.layers[1].bias, (ParameterRule{{FillKind::kConstant, 0, 0}, 0, 0}));
  EXPECT_FALSE(network.names.scales.at("norm").bias);
}

TEST(BnScaleFusionTest, ABatchNormWithAnotherReaderStays) {
  CaffeNetwork network = Normalized(true, true);
  FuseBatchNorms(network);
  EXPECT_THAT(LayerNames(network), ElementsAre("data", "norm", "scale", "fc", "extra"));
  EXPECT_FALSE(std::get<BatchNorm>(network.graph.layers[1].op).affine);
}

TEST(BnScaleFusionTest, LayersThatNoLossDependsOnAreDropped) {
  GraphBuilder b("net");
  b.Append("unread", Input{InputRole::kData, {3}, {}}, {});
  b.Append("data", Input{InputRole::kData, {3}, {}}, {});
  b.Append("fc", FullyConnected{3}, {"data"});
  b.Append("spare1", Relu{}, {"fc"});
  b.Append("spare2", Tanh{}, {"spare1"});
  b.Append("loss", MeanSquaredError{}, {"fc", "data"});
  CaffeNetwork network;
  network.graph = b.Take();
  DropUnused(network);
  EXPECT_THAT(LayerNames(network), ElementsAre("data", "fc", "loss"));
  EXPECT_THAT(network.notes, ElementsAre(HasSubstr("spare1, spare2")));
  DropUnused(network);
  EXPECT_EQ(network.notes.size(), 1u);
}

}  // namespace
}  // namespace tench::bn_scale_fusion_test
