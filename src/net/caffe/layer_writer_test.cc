// SPDX-License-Identifier: Apache-2.0
#include "net/caffe/layer_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/builder.h"
#include "net/caffe/filler.h"
#include "net/caffe/layer_reader.h"

namespace tench::layer_writer_test {
namespace {

const ParameterRule kWeight{{FillKind::kXavier, 0, 0}, 2, 0.5};
const ParameterRule kBias{{FillKind::kConstant, 0.25, 0}, 3, 0};

// A network of `op` on an image, as layer 1. Its shapes are not checked against a loss.
TypedGraph Single(const Op& op, const ParameterRule& weight = {}, const ParameterRule& bias = {}) {
  TypedGraph graph{"net", 2, {}, {}};
  const TensorType image{DType::kF32, {2, 4, 9, 9}};
  graph.layers.push_back(
      {{"data", Input{InputRole::kData, {4, 9, 9}, {}}, {}, {}, {}}, {}, image, {}});
  graph.layers.push_back({{"x", op, {"data"}, weight, bias}, {0}, image, {}});
  return graph;
}

// Writes the op and reads it again.
ReadOp Again(const Op& op, const ParameterRule& weight = {}, const ParameterRule& bias = {},
             size_t bottoms = 1) {
  caffe::LayerParameter layer;
  const Status written = WriteOp(Single(op, weight, bias), 1, layer);
  EXPECT_TRUE(written.ok()) << OpName(op);
  const auto read = ReadLayer(layer, std::vector<Shape>(bottoms, {2, 4, 9, 9}));
  EXPECT_TRUE(read.ok() && *read) << OpName(op);
  return read.ok() && *read ? **read : ReadOp{};
}

TEST(LayerWriterTest, OpsSurviveWritingAndReading) {
  for (const Op& op : std::vector<Op>{
           Relu{0.1}, Relu{}, Sigmoid{}, Tanh{}, Softmax{}, Flatten{}, Dropout{0.3},
           Power{2, 0.5, 3}, Lrn{3, 0.5, 0.25, 2}, Lrn{3, 0.5, 0.25, 1, LrnRegion::kWithinChannel},
           Reshape{{4, 81}}, Pooling{PoolMode::kAvg, {3, 2}, {2, 1}, {1, 0}, true},
           Pooling{PoolMode::kMax, {1, 1}, {1, 1}, {0, 0}, false, true}})
    EXPECT_EQ(Again(op).op, op) << OpName(op);
  for (const Op& op : std::vector<Op>{Concat{}, Add{}, Add{{2, -1}}, Multiply{}, Maximum{}})
    EXPECT_EQ(Again(op, {}, {}, 2).op, op) << OpName(op);
}

TEST(LayerWriterTest, WeightsSurviveWritingAndReading) {
  Convolution conv{6, {3, 2}, {2, 1}, {1, 0}, {1, 2}, 2, true};
  const ReadOp read = Again(conv, kWeight, kBias);
  EXPECT_EQ(read.op, Op(conv));
  EXPECT_EQ(read.weight, kWeight);
  EXPECT_EQ(read.bias, kBias);
  EXPECT_EQ(Again(FullyConnected{5, false}, kWeight).op, Op(FullyConnected{5, false}));
  EXPECT_EQ(Again(FullyConnected{5, true}, kWeight, kBias).bias, kBias);
  EXPECT_EQ(Again(Scale{true}, {{FillKind::kConstant, 1, 0}, 1, 1}, kBias).bias, kBias);
}

TEST(LayerWriterTest, FloorModeIsWrittenOnlyWhereItChangesTheSize) {
  const auto layer_of = [](const Pooling& pool) {
    caffe::LayerParameter layer;
    EXPECT_TRUE(WriteOp(Single(pool), 1, layer).ok());
    return layer;
  };
  const Pooling exact{PoolMode::kMax, {3, 3}, {2, 2}}, rounded{PoolMode::kMax, {2, 2}, {2, 2}};
  EXPECT_TRUE(RoundingIsIdle(exact, {2, 4, 9, 9}));
  EXPECT_FALSE(RoundingIsIdle(rounded, {2, 4, 9, 9}));
  EXPECT_FALSE(RoundingIsIdle(exact, {2, 4, 9, 10}));
  EXPECT_FALSE(layer_of(exact).pooling_param().has_round_mode());
  EXPECT_EQ(layer_of(rounded).pooling_param().round_mode(), caffe::PoolingParameter::FLOOR);
}

TEST(LayerWriterTest, LossesAreScaledAsCaffeScalesThem) {
  caffe::LayerParameter layer;
  ASSERT_TRUE(WriteOp(Single(MeanSquaredError{162}), 1, layer).ok());
  EXPECT_EQ(layer.type(), "EuclideanLoss");
  EXPECT_EQ(layer.loss_weight_size(), 0);  // 162 · 2 / (4·9·9) = 1, the default
  layer.Clear();
  ASSERT_TRUE(WriteOp(Single(SoftmaxCrossEntropy{0.3, false, 7}), 1, layer).ok());
  EXPECT_EQ(layer.type(), "SoftmaxWithLoss");
  EXPECT_EQ(layer.loss_weight(0), 0.3f);
  EXPECT_EQ(layer.loss_param().ignore_label(), 7);
  layer.Clear();
  ASSERT_TRUE(WriteOp(Single(SigmoidCrossEntropy{2}), 1, layer).ok());
  EXPECT_EQ(layer.type(), "SigmoidCrossEntropyLoss");
  EXPECT_EQ(layer.loss_weight(0), 2);
}

TEST(LayerWriterTest, OpsThatCaffeLacksAreUnsupported) {
  for (const Op& op : std::vector<Op>{Lstm{3}, Embedding{4, 2}, MeanOverTime{},
                                      Lrn{3, 1, 1, 2, LrnRegion::kWithinChannel}}) {
    caffe::LayerParameter layer;
    const Status written = WriteOp(Single(op), 1, layer);
    ASSERT_FALSE(written.ok()) << OpName(op);
    EXPECT_EQ(written.error().kind, ErrorKind::kUnsupported) << OpName(op);
  }
}

TEST(LayerWriterTest, ABatchNormIsTwoLayers) {
  caffe::LayerParameter norm, scale;
  WriteBatchNorm({"bn", BatchNorm{0.001, 0.25}, {"x"}, kWeight, kBias}, norm, scale);
  EXPECT_EQ(norm.type(), "BatchNorm");
  EXPECT_EQ(norm.batch_norm_param().moving_average_fraction(), 0.75f);
  EXPECT_EQ(norm.batch_norm_param().eps(), 0.001f);
  EXPECT_EQ(scale.type(), "Scale");
  EXPECT_TRUE(scale.scale_param().bias_term());
  EXPECT_EQ(scale.param(1).lr_mult(), 3);
  scale.Clear();
  WriteBatchNorm({"bn", BatchNorm{0.001, 0.25, false}, {"x"}, {}, {}}, norm, scale);
  EXPECT_EQ(scale.type(), "");
}

TEST(LayerWriterTest, FillersSurviveWritingAndReading) {
  for (const Fill& fill : std::vector<Fill>{{FillKind::kConstant, 0.5, 0},
                                            {FillKind::kUniform, -0.2, 0.3},
                                            {FillKind::kGaussian, 1, 0.01},
                                            {FillKind::kXavier, 0, 0},
                                            {FillKind::kMsra, 0, 0},
                                            {FillKind::kMsraFanOut, 0, 0}}) {
    caffe::FillerParameter filler;
    ASSERT_TRUE(WriteFiller(fill, filler).ok());
    EXPECT_EQ(*ReadFiller(filler, {3, 4}), fill) << filler.type();
  }
  caffe::FillerParameter filler;
  EXPECT_FALSE(WriteFiller({FillKind::kInteger, 0, 3}, filler).ok());
}

}  // namespace
}  // namespace tench::layer_writer_test
