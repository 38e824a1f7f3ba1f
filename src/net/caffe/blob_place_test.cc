// SPDX-License-Identifier: Apache-2.0
#include "net/caffe/blob_place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/builder.h"

namespace tench::blob_place_test {
namespace {

Graph Network() {
  GraphBuilder b("net");
  b.Append("data", Input{InputRole::kData, {2, 4, 4}, {FillKind::kGaussian, 0, 1}}, {});
  b.Append("label", Input{InputRole::kLabel, {}, {FillKind::kInteger, 0, 3}}, {});
  b.Append("conv", Convolution{2}, {"data"}, {{FillKind::kXavier, 0, 0}});
  b.Append("bn", BatchNorm{}, {"conv"}, {{FillKind::kConstant, 1, 0}});
  b.Append("bn_scale", Relu{}, {"bn"});
  b.Append("flat", Flatten{}, {"bn_scale"});
  b.Append("fc", FullyConnected{3, false}, {"flat"}, {{FillKind::kXavier, 0, 0}});
  b.Append("loss", SoftmaxCrossEntropy{}, {"fc", "label"});
  return b.Take();
}

// "layer/type/index", with "*" for a running statistic and "-" for no place.
std::vector<std::string> Places(const CaffeNames& names) {
  std::vector<std::string> texts;
  const auto places = BlobPlaces(*Infer(Network(), 1), names);
  EXPECT_TRUE(places.ok());
  for (const std::optional<BlobPlace>& place : *places) {
    texts.push_back(!place ? "-"
                           : fmt::format("{}/{}/{}{}", place->layer, place->type, place->index,
                                         place->summed ? "*" : ""));
  }
  return texts;
}

TEST(BlobPlaceTest, ABatchNormIsSpreadOverTwoLayers) {
  // The name bn_scale is taken, so the Scale layer gets another one.
  EXPECT_THAT(Places(DefaultCaffeNames(Network())),
              testing::ElementsAre("conv/Convolution/0", "conv/Convolution/1", "bn_scale_/Scale/0",
                                   "bn_scale_/Scale/1", "bn/BatchNorm/0*", "bn/BatchNorm/1*",
                                   "fc/InnerProduct/0"));
}

TEST(BlobPlaceTest, NamesOfTheFileReplaceTenchs) {
  CaffeNames names;
  names.layers["conv"] = "conv 1";
  names.scales["bn"] = {"sc", false};
  EXPECT_EQ(names.Of("conv"), "conv 1");
  EXPECT_EQ(names.Of("fc"), "fc");
  EXPECT_THAT(Places(names),
              testing::ElementsAre("conv 1/Convolution/0", "conv 1/Convolution/1", "sc/Scale/0",
                                   "-", "bn/BatchNorm/0*", "bn/BatchNorm/1*", "fc/InnerProduct/0"));
}

TEST(BlobPlaceTest, WithoutAScaleLayerTheScaleHasNoPlace) {
  const std::vector<std::string> places = Places({});
  EXPECT_EQ(places[2], "-");
  EXPECT_EQ(places[3], "-");
}

TEST(BlobPlaceTest, OpsWithoutACaffeEquivalentAreNamed) {
  GraphBuilder b("net");
  b.Append("tokens", Input{InputRole::kTokens, {4}, {FillKind::kInteger, 0, 5}}, {});
  b.Append("lengths", Input{InputRole::kLengths, {}, {FillKind::kInteger, 1, 4}}, {});
  b.Append("label", Input{InputRole::kLabel, {}, {FillKind::kInteger, 0, 3}}, {});
  b.Append("words", Embedding{5, 3}, {"tokens"}, {{FillKind::kXavier, 0, 0}});
  b.Append("mean", MeanOverTime{}, {"words", "lengths"});
  b.Append("loss", SoftmaxCrossEntropy{}, {"mean", "label"});
  const auto places = BlobPlaces(*Infer(b.Take(), 1), {});
  ASSERT_FALSE(places.ok());
  EXPECT_THAT(places.error().message, testing::HasSubstr("layer 'words'"));
  EXPECT_THAT(places.error().message, testing::HasSubstr("'embedding'"));
}

TEST(BlobPlaceTest, TheStatisticsFactorIsTheInverseMomentum) {
  EXPECT_EQ(StatisticsFactor(BatchNorm{1e-5, 0.25}), 4);
  EXPECT_EQ(StatisticsFactor(BatchNorm{1e-5, 0}), 1);
}

}  // namespace
}  // namespace tench::blob_place_test
