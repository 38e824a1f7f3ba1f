// SPDX-License-Identifier: Apache-2.0
#include "net/caffe/caffemodel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "base/file.h"
#include "net/builder.h"
#include "net/caffe/schema.pb.h"

namespace tench::caffemodel_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string ErrorOf(const auto& result) {
  return result.ok() ? "no error" : result.error().message;
}

// A convolution, a batch norm and a fully connected layer: every way in which Caffe stores a
// parameter.
Graph SmallNetwork() {
  GraphBuilder b("small");
  b.Append("data", Input{InputRole::kData, {2, 3, 3}, {FillKind::kGaussian, 0, 1}}, {});
  b.Append("label", Input{InputRole::kLabel, {}, {FillKind::kInteger, 0, 2}}, {});
  Convolution conv;
  conv.out_channels = 4;
  conv.kernel = {3, 3};
  b.Append("conv", conv, {"data"}, {{FillKind::kXavier, 0, 0}});
  b.Append("bn", BatchNorm{1e-5, 0.25}, {"conv"}, {{FillKind::kConstant, 1, 0}});
  b.Append("flat", Flatten{}, {"bn"});
  FullyConnected fc;
  fc.out_features = 2;
  fc.bias = false;
  b.Append("fc", fc, {"flat"}, {{FillKind::kXavier, 0, 0}});
  b.Append("loss", SoftmaxCrossEntropy{}, {"fc", "label"});
  return b.Take();
}

TypedGraph Typed() { return *Infer(SmallNetwork(), 1); }
CaffeNames Names() { return DefaultCaffeNames(SmallNetwork()); }

// Every parameter counts up from its own first value.
Status Count(const Parameter& parameter, std::span<float> out) {
  std::iota(out.begin(), out.end(), static_cast<float>(parameter.name.size()));
  return Ok();
}

class CaffemodelTest : public testing::Test {
 protected:
  std::filesystem::path Path() const { return folder_.path() / "x.caffemodel"; }
  void Write(const caffe::NetParameter& net) {
    ASSERT_TRUE(WriteFileAtomically(Path(), net.SerializeAsString()).ok());
  }
  Result<LoadedWeights> Load(const CaffeNames& names = Names()) {
    const Caffemodel model = TENCH_TRY(Caffemodel::Open(Path()));
    return LoadWeights(model, Typed(), names,
                       [&](const Parameter& parameter, std::span<const float> values) {
                         values_[parameter.name] = {values.begin(), values.end()};
                         return Ok();
                       });
  }

  TemporaryFolder folder_ = *TemporaryFolder::Make("tench-caffemodel-");
  std::map<std::string, std::vector<float>> values_;
};

TEST_F(CaffemodelTest, WhatIsWrittenReadsBackBitForBit) {
  ASSERT_TRUE(WriteCaffemodel(Path(), Typed(), Names(), Count).ok());
  const Result<LoadedWeights> loaded = Load();
  ASSERT_TRUE(loaded.ok()) << ErrorOf(loaded);
  EXPECT_THAT(loaded->missing, IsEmpty());
  EXPECT_THAT(loaded->unused, IsEmpty());
  for (const Parameter& parameter : Typed().parameters) {
    std::vector<float> expected(static_cast<size_t>(ElementCount(parameter.shape)));
    ASSERT_TRUE(Count(parameter, expected).ok());
    EXPECT_EQ(values_[parameter.name], expected) << parameter.name;
  }
}

TEST_F(CaffemodelTest, LayersAndBlobsAreWhereCaffeLooksForThem) {
  ASSERT_TRUE(WriteCaffemodel(Path(), Typed(), Names(), Count).ok());
  caffe::NetParameter net;
  ASSERT_TRUE(net.ParseFromString(*ReadFile(Path())));
  EXPECT_EQ(net.name(), "small");
  ASSERT_EQ(net.layer_size(), 4);
  std::vector<std::string> layers;
  for (const caffe::LayerParameter& layer : net.layer())
    layers.push_back(layer.type() + " " + layer.name());
  EXPECT_THAT(layers,
              ElementsAre("Convolution conv", "Scale bn_scale", "BatchNorm bn", "InnerProduct fc"));
  EXPECT_THAT(net.layer(0).blobs(0).shape().dim(), ElementsAre(4, 2, 3, 3));
  EXPECT_THAT(net.layer(0).blobs(1).shape().dim(), ElementsAre(4));
  EXPECT_EQ(net.layer(1).blobs_size(), 2);
  EXPECT_THAT(net.layer(3).blobs(0).shape().dim(), ElementsAre(2, 4));
}

TEST_F(CaffemodelTest, RunningStatisticsAreSumsWhoseFactorKeepsTheMomentum) {
  ASSERT_TRUE(WriteCaffemodel(Path(), Typed(), Names(), Count).ok());
  caffe::NetParameter net;
  ASSERT_TRUE(net.ParseFromString(*ReadFile(Path())));
  const caffe::LayerParameter& norm = net.layer(2);
  ASSERT_EQ(norm.blobs_size(), 3);
  EXPECT_THAT(norm.blobs(2).shape().dim(), ElementsAre(1));
  EXPECT_EQ(norm.blobs(2).data(0), 4);  // 1 / momentum
  const float first = static_cast<float>(std::string("bn.running_mean").size());
  EXPECT_EQ(norm.blobs(0).data(0), 4 * first);
}

caffe::BlobProto* AddBlob(caffe::LayerParameter* layer, const Shape& shape, float value) {
  caffe::BlobProto* blob = layer->add_blobs();
  for (const int64_t size : shape) blob->mutable_shape()->add_dim(size);
  for (int64_t i = 0; i < ElementCount(shape); ++i) blob->add_data(value);
  return blob;
}

TEST_F(CaffemodelTest, OldShapesOfFourSizesAreTaken) {
  caffe::NetParameter net;
  caffe::LayerParameter* layer = net.add_layer();
  layer->set_name("fc");
  caffe::BlobProto* blob = AddBlob(layer, {2, 4}, 5);
  blob->clear_shape();
  blob->set_num(1), blob->set_channels(1), blob->set_height(2), blob->set_width(4);
  Write(net);
  const Result<LoadedWeights> loaded = Load();
  ASSERT_TRUE(loaded.ok()) << ErrorOf(loaded);
  EXPECT_THAT(loaded->loaded, ElementsAre("fc.weight"));
  EXPECT_EQ(values_["fc.weight"], std::vector<float>(8, 5));
}

TEST_F(CaffemodelTest, DoublesAreTaken) {
  caffe::NetParameter net;
  caffe::LayerParameter* layer = net.add_layer();
  layer->set_name("fc");
  caffe::BlobProto* blob = AddBlob(layer, {2, 4}, 0);
  blob->clear_data();
  for (int i = 0; i < 8; ++i) blob->add_double_data(0.1);
  Write(net);
  ASSERT_TRUE(Load().ok());
  EXPECT_EQ(values_["fc.weight"], std::vector<float>(8, 0.1F));
}

// Layer "fc" with a 2x4 blob of unpacked values, as in files of Caffe's first year.
TEST_F(CaffemodelTest, NumbersThatAreNotPackedAreTaken) {
  std::string blob = {0x3a, 0x04, 0x0a, 0x02, 0x02, 0x04};  // shape { dim: 2 dim: 4 }
  for (int i = 0; i < 8; ++i) blob += std::string({0x2d, 0x00, 0x00, 0x00, 0x40});  // data: 2
  const std::string layer =
      std::string({0x0a, 0x02}) + "fc" + std::string({0x3a, static_cast<char>(blob.size())}) + blob;
  const std::string net =
      std::string({static_cast<char>(0xa2), 0x06, static_cast<char>(layer.size())}) + layer;
  ASSERT_TRUE(WriteFileAtomically(Path(), net).ok());
  const Result<LoadedWeights> loaded = Load();
  ASSERT_TRUE(loaded.ok()) << ErrorOf(loaded);
  EXPECT_EQ(values_["fc.weight"], std::vector<float>(8, 2));
}

TEST_F(CaffemodelTest, MissingAndUnusedLayersAreTold) {
  caffe::NetParameter net;
  caffe::LayerParameter* layer = net.add_layer();
  layer->set_name("fc9");
  AddBlob(layer, {2, 4}, 1);
  Write(net);
  const Result<LoadedWeights> loaded = Load();
  ASSERT_TRUE(loaded.ok()) << ErrorOf(loaded);
  EXPECT_THAT(loaded->unused, ElementsAre("fc9"));
  EXPECT_EQ(loaded->missing.size(), Typed().parameters.size());
}

TEST_F(CaffemodelTest, AnotherShapeIsAnErrorThatNamesBoth) {
  caffe::NetParameter net;
  caffe::LayerParameter* layer = net.add_layer();
  layer->set_name("fc");
  AddBlob(layer, {4, 2}, 1);
  Write(net);
  EXPECT_THAT(ErrorOf(Load()),
              HasSubstr("layer 'fc': blob 0 is 4x2 there, but fc.weight is 2x4 in 'small'"));
}

TEST_F(CaffemodelTest, AFactorOfZeroIsAnUntrainedNetworks) {
  caffe::NetParameter net;
  caffe::LayerParameter* layer = net.add_layer();
  layer->set_name("bn");
  AddBlob(layer, {4}, 7), AddBlob(layer, {4}, 7), AddBlob(layer, {1}, 0);
  Write(net);
  ASSERT_TRUE(Load().ok());
  EXPECT_EQ(values_["bn.running_mean"], std::vector<float>(4, 0));
}

TEST_F(CaffemodelTest, LayersOfTheV1FormatAreRead) {
  caffe::NetParameter net;
  caffe::V1LayerParameter* layer = net.add_layers();
  layer->set_name("bn");
  layer->set_type(caffe::V1LayerParameter::NONE);
  for (const auto& [size, value] : {std::pair{4, 7.0f}, {4, 7.0f}, {1, 1.0f}}) {
    caffe::BlobProto* blob = layer->add_blobs();
    blob->set_num(1), blob->set_channels(1), blob->set_height(1), blob->set_width(size);
    for (int i = 0; i < size; ++i) blob->add_data(value);
  }
  Write(net);
  ASSERT_TRUE(Load().ok()) << ErrorOf(Load());
  EXPECT_EQ(values_["bn.running_mean"], std::vector<float>(4, 7));
}

TEST_F(CaffemodelTest, TheOldestFormOfLayersIsRefusedWithTheToolThatConvertsIt) {
  caffe::NetParameter net;
  net.add_layers()->mutable_layer();
  Write(net);
  EXPECT_THAT(ErrorOf(Load()), HasSubstr("upgrade_net_proto_binary"));
}

TEST_F(CaffemodelTest, ShapesThatTheNumbersDoNotFillAreRefused) {
  for (const Shape& shape : {Shape{2, 5}, Shape{-2, -4}, Shape{1'000'000'000'000'000'000, 8},
                             Shape{int64_t{1} << 62, 8}}) {
    caffe::NetParameter net;
    caffe::LayerParameter* layer = net.add_layer();
    layer->set_name("fc");
    caffe::BlobProto* blob = AddBlob(layer, {2, 4}, 1);
    blob->mutable_shape()->clear_dim();
    for (const int64_t size : shape) blob->mutable_shape()->add_dim(size);
    Write(net);
    EXPECT_THAT(ErrorOf(Load()), HasSubstr("layer 'fc': blob 0 has the shape")) << ToString(shape);
  }
}

TEST_F(CaffemodelTest, EveryTruncationIsAnErrorOrHasFewerLayers) {
  ASSERT_TRUE(WriteCaffemodel(Path(), Typed(), Names(), Count).ok());
  const std::string whole = *ReadFile(Path());
  size_t refused = 0;
  for (size_t size = 0; size < whole.size(); ++size) {
    const Result<std::vector<CaffeLayer>> layers =
        ParseCaffemodel(std::string_view(whole).substr(0, size));
    if (layers.ok()) {
      EXPECT_LT(layers->size(), 4u) << size;
    } else {
      ++refused;
    }
  }
  EXPECT_GT(refused, whole.size() - 5);
}

TEST_F(CaffemodelTest, WhatIsNoFileOfWeightsIsRefused) {
  EXPECT_THAT(ErrorOf(Load()), HasSubstr("No such file"));
  ASSERT_TRUE(WriteFileAtomically(Path(), "").ok());
  EXPECT_THAT(ErrorOf(Load()), HasSubstr("empty"));
  ASSERT_TRUE(WriteFileAtomically(Path(), "name: \"a text file\"\n").ok());
  EXPECT_THAT(ErrorOf(Load()), HasSubstr("x.caffemodel: the file is broken or cut off"));
  EXPECT_THAT(ErrorOf(Caffemodel::Open(folder_.path())), HasSubstr("not a file"));
}

TEST_F(CaffemodelTest, AWriteThatFailsLeavesNothingBehind) {
  const auto fail = [](const Parameter& parameter, std::span<float>) -> Status {
    return Failed("no {}", parameter.name);
  };
  EXPECT_THAT(ErrorOf(WriteCaffemodel(Path(), Typed(), Names(), fail)),
              HasSubstr("no conv.weight"));
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

}  // namespace
}  // namespace tench::caffemodel_test
