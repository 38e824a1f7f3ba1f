// SPDX-License-Identifier: Apache-2.0
#include "net/caffe/layer_reader.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

namespace tench::layer_reader_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Shape kImage{2, 6, 8, 8};

caffe::LayerParameter Parse(const std::string& text) {
  caffe::LayerParameter layer;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &layer)) << text;
  return layer;
}
ReadOp Read(const std::string& text, const std::vector<Shape>& inputs = {kImage}) {
  const auto read = ReadLayer(Parse(text), inputs);
  EXPECT_TRUE(read.ok() && *read) << text;
  return read.ok() && *read ? **read : ReadOp{};
}
std::string Refusal(const std::string& text, const std::vector<Shape>& inputs = {kImage}) {
  const auto read = ReadLayer(Parse(text), inputs);
  return read.ok() ? "no error" : read.error().message;
}

TEST(LayerReaderTest, EveryTypeBecomesItsOp) {
  EXPECT_EQ(Read(R"(type: "ReLU" relu_param { negative_slope: 0.1 })").op, Op(Relu{0.1}));
  EXPECT_EQ(Read(R"(type: "Sigmoid")").op, Op(Sigmoid{}));
  EXPECT_EQ(Read(R"(type: "TanH")").op, Op(Tanh{}));
  EXPECT_EQ(Read(R"(type: "Softmax")").op, Op(Softmax{}));
  EXPECT_EQ(Read(R"(type: "Flatten")").op, Op(Flatten{}));
  EXPECT_EQ(Read(R"(type: "Dropout" dropout_param { dropout_ratio: 0.3 })").op, Op(Dropout{0.3}));
  EXPECT_EQ(Read(R"(type: "Power" power_param { power: 2 scale: 3 shift: 4 })").op,
            Op(Power{2, 3, 4}));
  EXPECT_EQ(Read(R"(type: "LRN" lrn_param { local_size: 3 alpha: 0.5 beta: 0.25 k: 2 })").op,
            Op(Lrn{3, 0.5, 0.25, 2}));
  EXPECT_EQ(Read(R"(type: "BatchNorm" batch_norm_param { moving_average_fraction: 0.9 })").op,
            Op(BatchNorm{1e-5, 0.1, false}));
  EXPECT_EQ(Read(R"(type: "Scale" scale_param { bias_term: true })").op, Op(Scale{true}));
  EXPECT_EQ(Read(R"(type: "Concat")", {kImage, kImage}).op, Op(Concat{}));
  EXPECT_EQ(Read(R"(type: "Eltwise")", {kImage, kImage}).op, Op(Add{}));
  EXPECT_EQ(Read(R"(type: "Eltwise" eltwise_param { operation: MAX })", {kImage, kImage}).op,
            Op(Maximum{}));
  EXPECT_EQ(Read(R"(type: "Eltwise" eltwise_param { operation: PROD })", {kImage, kImage}).op,
            Op(Multiply{}));
  EXPECT_EQ(Read(R"(type: "Reshape" reshape_param { shape { dim: 0 dim: -1 dim: 4 } })").op,
            Op(Reshape{{96, 4}}));
}

TEST(LayerReaderTest, AnUnknownTypeIsNoError) {
  const auto read = ReadLayer(Parse(R"(type: "Python")"), {kImage});
  ASSERT_TRUE(read.ok());
  EXPECT_FALSE(read->has_value());
}

TEST(LayerReaderTest, AnInnerProductOfAnImageIsFlattened) {
  const std::string text =
      R"(type: "InnerProduct" inner_product_param { num_output: 5 bias_term: false
    weight_filler { type: "gaussian" std: 0.1 } } param { lr_mult: 2 decay_mult: 3 })";
  const ReadOp image = Read(text);
  EXPECT_EQ(image.op, Op(FullyConnected{5, false}));
  EXPECT_TRUE(image.flatten);
  EXPECT_EQ(image.weight, (ParameterRule{{FillKind::kGaussian, 0, 0.1}, 2, 3}));
  EXPECT_FALSE(Read(text, {{2, 6}}).flatten);
}

TEST(LayerReaderTest, SizesHaveThreeSpellings) {
  const auto kernel = [](const std::string& sizes) {
    return std::get<Convolution>(
               Read(R"(type: "Convolution" convolution_param { num_output: 2 )" + sizes + " }").op)
        .kernel;
  };
  EXPECT_EQ(kernel("kernel_size: 3"), (Hw{3, 3}));
  EXPECT_EQ(kernel("kernel_size: 3 kernel_size: 5"), (Hw{3, 5}));
  EXPECT_EQ(kernel("kernel_h: 2 kernel_w: 4"), (Hw{2, 4}));
  EXPECT_THAT(Refusal(R"(type: "Convolution" convolution_param { num_output: 2 kernel_size: 3
    kernel_h: 2 kernel_w: 2 })"),
              HasSubstr("exclude each other"));
  EXPECT_THAT(Refusal(R"(type: "Pooling" pooling_param { kernel_h: 2 })"),
              HasSubstr("belong together"));
}

TEST(LayerReaderTest, CoefficientsOfOneAreAPlainSum) {
  EXPECT_EQ(Read(R"(type: "Eltwise" eltwise_param { coeff: 1 coeff: 1 })", {kImage, kImage}).op,
            Op(Add{}));
  EXPECT_EQ(Read(R"(type: "Eltwise" eltwise_param { coeff: 1 coeff: -1 })", {kImage, kImage}).op,
            Op(Add{{1, -1}}));
  EXPECT_THAT(Refusal(R"(type: "Eltwise" eltwise_param { coeff: 1 })", {kImage, kImage}),
              HasSubstr("1 coefficients for 2 bottoms"));
}

TEST(LayerReaderTest, AnUnsuitableBottomIsRefused) {
  EXPECT_THAT(Refusal(R"(type: "ReLU")", {}), HasSubstr("0 bottoms"));
  EXPECT_THAT(Refusal(R"(type: "ReLU")", {kImage, kImage}), HasSubstr("2 bottoms"));
  EXPECT_THAT(Refusal(R"(type: "ReLU")", {{4}}), HasSubstr("which it cannot read"));
  EXPECT_THAT(Refusal(R"(type: "Softmax" softmax_param { axis: 2 })"), HasSubstr("only axis 1"));
  EXPECT_THAT(Refusal(R"(type: "Flatten" flatten_param { axis: 2 })"), HasSubstr("2 to -1"));
  EXPECT_THAT(Refusal(R"(type: "Reshape" reshape_param { shape { dim: -1 dim: -1 } })"),
              HasSubstr("more than one -1"));
}

TEST(LayerReaderTest, SlicesAreEqualOrAtTheirPoints) {
  const auto slices = [](const std::string& text) {
    return ReadSlices(Parse(R"(type: "Slice" top: "a" top: "b" top: "c" )" + text), kImage);
  };
  EXPECT_THAT(*slices(""), ElementsAre(Slice{0, 2}, Slice{2, 4}, Slice{4, 6}));
  EXPECT_THAT(*slices("slice_param { slice_point: 1 slice_point: 5 }"),
              ElementsAre(Slice{0, 1}, Slice{1, 5}, Slice{5, 6}));
  EXPECT_THAT(slices("slice_param { slice_point: 5 slice_point: 1 }").error().message,
              HasSubstr("must increase"));
  EXPECT_THAT(slices("slice_param { slice_point: 5 }").error().message,
              HasSubstr("1 slice_point for 3 tops"));
  EXPECT_THAT(ReadSlices(Parse(R"(type: "Slice" top: "a" top: "b" top: "c" top: "d")"), kImage)
                  .error()
                  .message,
              HasSubstr("4 equal slices"));
}

TEST(LayerReaderTest, LossesCarryTheirWeightAndDivisor) {
  const Shape scores{2, 6};
  const auto loss = [&](const std::string& text) {
    return ReadLoss(Parse(text), {scores, scores});
  };
  EXPECT_EQ(**loss(R"(type: "EuclideanLoss")"), Op(MeanSquaredError{3}));
  EXPECT_EQ(**loss(R"(type: "SigmoidCrossEntropyLoss" loss_weight: 2)"),
            Op(SigmoidCrossEntropy{2}));
  EXPECT_EQ(**loss(R"(type: "SigmoidCrossEntropyLoss" loss_param { normalization: FULL })"),
            Op(SigmoidCrossEntropy{1.0 / 6}));
  EXPECT_EQ(**loss(R"(type: "SoftmaxWithLoss" loss_param { ignore_label: 255 })"),
            Op(SoftmaxCrossEntropy{1, false, 255}));
  EXPECT_FALSE(loss(R"(type: "EuclideanLoss" loss_weight: 0)")->has_value());
  EXPECT_THAT(loss(R"(type: "SoftmaxWithLoss" softmax_param { axis: 2 })").error().message,
              HasSubstr("only axis 1"));
  EXPECT_THAT(ReadLoss(Parse(R"(type: "EuclideanLoss")"), {scores}).error().message,
              HasSubstr("1 bottoms"));
}

TEST(LayerReaderTest, KnownTypesAreLayersDataAndLosses) {
  EXPECT_THAT(KnownTypes(), testing::StartsWith("BatchNorm, Concat, Convolution"));
  EXPECT_THAT(KnownTypes(), testing::Not(HasSubstr("Loss")));
  for (const char* type : {"ReLU", "HDF5Data", "SoftmaxWithLoss", "Slice"})
    EXPECT_TRUE(IsKnownType(type)) << type;
  EXPECT_FALSE(IsKnownType("Python"));
  EXPECT_TRUE(IsLossType("EuclideanLoss"));
  EXPECT_FALSE(IsLossType("ReLU"));
}

}  // namespace
}  // namespace tench::layer_reader_test
