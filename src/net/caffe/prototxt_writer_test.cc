// SPDX-License-Identifier: Apache-2.0
#include "net/caffe/prototxt_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/builder.h"
#include "net/caffe/prototxt.h"

namespace tench::prototxt_writer_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using Kind = CaffeData::Kind;

const ParameterRule kXavier{{FillKind::kXavier, 0, 0}};
const ParameterRule kOne{{FillKind::kConstant, 1, 0}};

GraphBuilder Begin() {
  GraphBuilder b("net");
  b.Append("data", Input{InputRole::kData, {4, 8, 8}, {FillKind::kGaussian, 0, 1}}, {});
  b.Append("label", Input{InputRole::kLabel, {}, {FillKind::kInteger, 0, 5}}, {});
  return b;
}
Graph End(GraphBuilder b, const std::string& last) {
  b.Append("flat", Flatten{}, {last});
  b.Append("fc", FullyConnected{5}, {"flat"}, kXavier);
  b.Append("loss", SoftmaxCrossEntropy{}, {"fc", "label"});
  return b.Take();
}
Graph Plain() {
  GraphBuilder b = Begin();
  b.Append("conv", Convolution{4}, {"data"}, kXavier);
  b.Append("bn", BatchNorm{}, {"conv"}, kOne);
  b.Append("relu", Relu{}, {"bn"});
  b.Append("pool", Pooling{PoolMode::kMax, {2, 2}, {2, 2}}, {"relu"});
  return End(std::move(b), "pool");
}

std::string Written(const Graph& graph, const CaffeData& data = {}) {
  const auto text = WriteTrainPrototxt(graph, data);
  EXPECT_TRUE(text.ok()) << (text.ok() ? "" : text.error().message);
  return text.ok() ? *text : "";
}

TEST(PrototxtWriterTest, EveryKindOfDataKeepsTheFingerprint) {
  const Graph graph = Plain();
  for (const Kind kind : {Kind::kDummy, Kind::kHdf5, Kind::kLmdb, Kind::kInput}) {
    const std::string text = Written(graph, {kind, "somewhere", 6});
    const auto again = ReadPrototxt(text, "again");
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ(again->batch, 6);
    EXPECT_EQ(Fingerprint(again->graph), Fingerprint(graph)) << text;
  }
}

TEST(PrototxtWriterTest, TheDataLayerHasItsKind) {
  const Graph graph = Plain();
  EXPECT_THAT(Written(graph, {Kind::kDummy, "", 6}), HasSubstr("type: \"DummyData\""));
  EXPECT_THAT(Written(graph, {Kind::kInput, "", 6}), HasSubstr("type: \"Input\""));
  const std::string hdf5 = Written(graph, {Kind::kHdf5, "list.txt", 6});
  EXPECT_THAT(hdf5, HasSubstr("source: \"list.txt\""));
  EXPECT_THAT(hdf5, HasSubstr("# tench: data is 4x8x8"));
  EXPECT_THAT(Written(graph, {Kind::kLmdb, "folder", 6}), HasSubstr("backend: LMDB"));
}

// Caffe's backward pass reads the output of tanh, but not of a convolution or a batch norm.
TEST(PrototxtWriterTest, LayersRunInPlaceWhereTheBackwardPassPermitsIt) {
  const std::string text = Written(Plain());
  EXPECT_THAT(text, HasSubstr("name: \"bn\"\n  type: \"BatchNorm\"\n  bottom: \"conv\"\n  top: "
                              "\"conv\""));
  EXPECT_THAT(text, HasSubstr("name: \"relu\"\n  type: \"ReLU\"\n  bottom: \"conv\"\n  top: "
                              "\"conv\""));
  GraphBuilder b = Begin();
  b.Append("conv", Convolution{4}, {"data"}, kXavier);
  b.Append("tanh", Tanh{}, {"conv"});
  b.Append("relu", Relu{}, {"tanh"});
  b.Append("drop", Dropout{}, {"relu"});
  const std::string kept = Written(End(std::move(b), "drop"));
  EXPECT_THAT(kept, HasSubstr("bottom: \"tanh\"\n  top: \"relu\""));
  EXPECT_THAT(kept, HasSubstr("bottom: \"relu\"\n  top: \"relu\""));
}

TEST(PrototxtWriterTest, AnOutputWithTwoReadersIsNotOverwritten) {
  GraphBuilder b = Begin();
  b.Append("conv", Convolution{4}, {"data"}, kXavier);
  b.Append("relu", Relu{}, {"conv"});
  b.Append("sum", Add{}, {"conv", "relu"});
  EXPECT_THAT(Written(End(std::move(b), "sum")), HasSubstr("bottom: \"conv\"\n  top: \"relu\""));
}

TEST(PrototxtWriterTest, AuxiliaryHeadsAreLimitedToTraining) {
  GraphBuilder b = Begin();
  b.Append("conv", Convolution{4}, {"data"}, kXavier);
  b.Append("side_flat", Flatten{}, {"conv"});
  b.Append("side_fc", FullyConnected{5}, {"side_flat"}, kXavier);
  b.Append("side_loss", SoftmaxCrossEntropy{0.3, true}, {"side_fc", "label"});
  const std::string text = Written(End(std::move(b), "conv"));
  const size_t side = text.find("name: \"side_fc\""), main = text.find("name: \"fc\"");
  ASSERT_NE(side, std::string::npos);
  EXPECT_THAT(text.substr(side, main - side), HasSubstr("phase: TRAIN"));
  EXPECT_THAT(text.substr(main), Not(HasSubstr("phase: TRAIN")));
}

TEST(PrototxtWriterTest, SlicesBecomeOneLayer) {
  GraphBuilder b = Begin();
  b.Append("conv", Convolution{4}, {"data"}, kXavier);
  b.Append("a", Slice{0, 1}, {"conv"});
  b.Append("b", Slice{2, 3}, {"conv"});
  b.Append("join", Concat{}, {"a", "b"});
  const std::string text = Written(End(std::move(b), "join"));
  EXPECT_THAT(text, HasSubstr("slice_point: 1\n    slice_point: 2\n    slice_point: 3"));
  EXPECT_THAT(text, HasSubstr("type: \"Silence\""));
  GraphBuilder overlap = Begin();
  overlap.Append("conv", Convolution{4}, {"data"}, kXavier);
  overlap.Append("a", Slice{0, 2}, {"conv"});
  overlap.Append("b", Slice{1, 3}, {"conv"});
  overlap.Append("join", Concat{}, {"a", "b"});
  const auto refused = WriteTrainPrototxt(End(std::move(overlap), "join"), {});
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("'b' begins at 1"));
}

TEST(PrototxtWriterTest, OpsThatCaffeLacksAreNamed) {
  GraphBuilder b("words");
  b.Append("tokens", Input{InputRole::kTokens, {4}, {FillKind::kInteger, 0, 5}}, {});
  b.Append("lengths", Input{InputRole::kLengths, {}, {FillKind::kInteger, 1, 4}}, {});
  b.Append("label", Input{InputRole::kLabel, {}, {FillKind::kInteger, 0, 3}}, {});
  b.Append("embedding", Embedding{5, 3}, {"tokens"}, kXavier);
  b.Append("mean", MeanOverTime{}, {"embedding", "lengths"});
  b.Append("loss", SoftmaxCrossEntropy{}, {"mean", "label"});
  const auto refused = WriteTrainPrototxt(b.Take(), {});
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("layer 'tokens'"));
}

}  // namespace
}  // namespace tench::prototxt_writer_test
