// SPDX-License-Identifier: Apache-2.0
#include "parity/conditioned.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "net/builder.h"

namespace tench::conditioned_test {
namespace {

const ParameterRule kXavier{{FillKind::kXavier, 0, 0}}, kOne{{FillKind::kConstant, 1, 0}};

GraphBuilder Images() {
  GraphBuilder b("images");
  b.Append("data", Input{InputRole::kData, {3, 8, 8}, {FillKind::kGaussian, 0, 1}}, {});
  b.Append("label", Input{InputRole::kLabel, {}, {FillKind::kInteger, 0, 5}}, {});
  return b;
}

Graph Finish(GraphBuilder& b, const std::string& top) {
  b.Append("flat", Flatten{}, {top});
  b.Append("fc", FullyConnected{5}, {"flat"}, kXavier);
  b.Append("loss", SoftmaxCrossEntropy{}, {"fc", "label"});
  return b.Take();
}

const Layer& Find(const Graph& network, const std::string& name) {
  return *std::find_if(network.layers.begin(), network.layers.end(),
                       [&](const Layer& layer) { return layer.name == name; });
}

TEST(ConditionedTest, KeepsOpsAndShapes) {
  GraphBuilder b = Images();
  b.Append("conv", Convolution{16, {3, 3}}, {"data"}, kXavier);
  b.Append("relu", Relu{}, {"conv"});
  const Graph network = Finish(b, "relu");
  const ConditionedNetwork conditioned = *Condition(network, 4);
  ASSERT_EQ(conditioned.network.layers.size(), network.layers.size());
  for (size_t i = 0; i < network.layers.size(); ++i) {
    EXPECT_EQ(conditioned.network.layers[i].op, network.layers[i].op);
    EXPECT_EQ(conditioned.network.layers[i].inputs, network.layers[i].inputs);
  }
}

TEST(ConditionedTest, ShiftsTheLayerBeforeAReluThroughPoolsWithBothSigns) {
  GraphBuilder b = Images();
  b.Append("conv", Convolution{64, {3, 3}}, {"data"}, kXavier);
  b.Append("pool", Pooling{PoolMode::kMax, {2, 2}, {2, 2}}, {"conv"});
  b.Append("relu", Relu{}, {"pool"});
  const ConditionedNetwork conditioned = *Condition(Finish(b, "relu"), 4);
  const Fill& weight = Find(conditioned.network, "conv").weight.fill;
  EXPECT_EQ(weight.kind, FillKind::kGaussian);
  EXPECT_NEAR(weight.a, 0.8 / 27, 1e-12);
  EXPECT_NEAR(weight.b, 0.15 / std::sqrt(27), 1e-12);
  const std::vector<float>& bias = conditioned.reals.at("conv.bias");
  ASSERT_EQ(bias.size(), 64u);
  const auto negative = std::count_if(bias.begin(), bias.end(), [](float v) { return v < 0; });
  EXPECT_GT(negative, 5);
  EXPECT_LT(negative, 30);
  for (const float value : bias)
    EXPECT_TRUE((value >= 0.1 && value <= 0.3) || (value >= -1.9 && value <= -1.7)) << value;
  EXPECT_FALSE(conditioned.reals.contains("fc.bias"));
}

TEST(ConditionedTest, KeepsASumPositiveByItsShortcut) {
  GraphBuilder b = Images();
  b.Append("conv", Convolution{16, {3, 3}, {1, 1}, {1, 1}}, {"data"}, kXavier);
  b.Append("relu", Relu{}, {"conv"});
  b.Append("branch", Convolution{16, {3, 3}, {1, 1}, {1, 1}}, {"relu"}, kXavier);
  b.Append("bn", BatchNorm{}, {"branch"}, kOne);
  b.Append("add", Add{}, {"bn", "relu"});
  b.Append("relu2", Relu{}, {"add"});
  const ConditionedNetwork conditioned = *Condition(Finish(b, "relu2"), 4);
  EXPECT_LT(Find(conditioned.network, "bn").weight.fill.b, 0.1);
  EXPECT_GT(Find(conditioned.network, "bn").bias.fill.a, 0);
  EXPECT_FALSE(conditioned.reals.contains("bn.bias"));
  EXPECT_EQ(Find(conditioned.network, "branch").weight, kXavier);
}

TEST(ConditionedTest, TheLastTermOfASumOfBranchesIsTheLargeOne) {
  GraphBuilder b = Images();
  b.Append("left", Convolution{16, {3, 3}}, {"data"}, kXavier);
  b.Append("right", Convolution{16, {3, 3}}, {"data"}, kXavier);
  b.Append("add", Add{}, {"left", "right"});
  b.Append("relu", Relu{}, {"add"});
  const ConditionedNetwork conditioned = *Condition(Finish(b, "relu"), 4);
  EXPECT_EQ(Find(conditioned.network, "left").weight.fill.a, 0);
  EXPECT_LT(Find(conditioned.network, "left").bias.fill.b, 0.1);
  EXPECT_GT(Find(conditioned.network, "right").weight.fill.a, 0);
}

// A ramp's largest element in any window is at the same corner, by a margin that no rounding hides.
TEST(ConditionedTest, ImagesHaveNoNearTies) {
  GraphBuilder b = Images();
  b.Append("pool", Pooling{PoolMode::kMax, {2, 2}, {2, 2}}, {"data"});
  const ConditionedNetwork conditioned = *Condition(Finish(b, "pool"), 2);
  const std::vector<float>& images = conditioned.reals.at("data");
  ASSERT_EQ(images.size(), 2u * 3 * 8 * 8);
  for (size_t row = 0; row < images.size(); row += 8) {
    for (size_t x = 0; x + 1 < 8; ++x) EXPECT_GT(images[row + x + 1] - images[row + x], 0.005f);
  }
}

TEST(ConditionedTest, LeavesASmoothNetworkAndTargetsAlone) {
  GraphBuilder smooth = Images();
  smooth.Append("conv", Convolution{16, {3, 3}}, {"data"}, kXavier);
  smooth.Append("tanh", Tanh{}, {"conv"});
  const Graph network = Finish(smooth, "tanh");
  EXPECT_EQ(Condition(network, 4)->network, network);

  GraphBuilder b("autoencoder");
  b.Append("data", Input{InputRole::kData, {20}, {FillKind::kUniform, 0, 1}}, {});
  b.Append("fc", FullyConnected{20}, {"data"}, kXavier);
  b.Append("relu", Relu{}, {"fc"});
  b.Append("loss", SigmoidCrossEntropy{}, {"relu", "data"});
  const ConditionedNetwork conditioned = *Condition(b.Take(), 4);
  EXPECT_EQ(std::get<Input>(Find(conditioned.network, "data").op).fill,
            (Fill{FillKind::kUniform, 0, 1}));
}

}  // namespace
}  // namespace tench::conditioned_test
