// SPDX-License-Identifier: Apache-2.0
#include "net/caffe/input_reader.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

namespace tench::input_reader_test {
namespace {

using testing::HasSubstr;

const std::set<std::string> kLabels = {"label"};
const PrototxtRemarks kNone;
const Shape kNoSample;
const std::string kUnnamed;

Result<std::vector<CaffeInput>> Read(const std::string& text, const PrototxtRemarks& remarks = {},
                                     bool unit = false, const Shape& sample = {}) {
  caffe::LayerParameter layer;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &layer)) << text;
  const std::string network = "LeNet";
  return ReadDataLayer(layer, {remarks, kLabels, unit, sample, network});
}

TEST(InputReaderTest, RemarksAreTheCommentsForTench) {
  const auto remarks = ReadRemarks(
      "# tench: data is 3x4x5\nlayer {}\n# a comment\n# tench: pool1 rounds down; so does Caffe",
      "f");
  ASSERT_TRUE(remarks.ok());
  EXPECT_EQ(remarks->shapes, (std::map<std::string, Shape>{{"data", {3, 4, 5}}}));
  EXPECT_EQ(remarks->rounded_down, std::set<std::string>{"pool1"});
  EXPECT_THAT(ReadRemarks("\n# tench: data is big", "f").error().message, HasSubstr("f:2: "));
  EXPECT_THAT(ReadRemarks("# tench: data", "f").error().message, HasSubstr("f:1: a remark"));
}

TEST(InputReaderTest, DataLayersAreKnownByType) {
  for (const char* type : {"Data", "DummyData", "HDF5Data", "ImageData", "Input", "MemoryData"})
    EXPECT_TRUE(IsDataLayer(type)) << type;
  EXPECT_FALSE(IsDataLayer("ReLU"));
}

TEST(InputReaderTest, DummyDataKeepsShapesAndFillers) {
  const auto inputs = Read(R"(type: "DummyData" top: "data" top: "label" dummy_data_param {
    shape { dim: 4 dim: 3 } shape { dim: 4 }
    data_filler { type: "gaussian" std: 2 } data_filler { type: "uniform" min: 0 max: 9.5 } })");
  ASSERT_TRUE(inputs.ok());
  ASSERT_EQ(inputs->size(), 2u);
  const CaffeInput &data = (*inputs)[0], &label = (*inputs)[1];
  EXPECT_EQ(data.top, "data");
  EXPECT_EQ(data.input, (Input{InputRole::kData, {3}, {FillKind::kGaussian, 0, 2}}));
  EXPECT_EQ(data.batch, 4);
  EXPECT_EQ(label.input, (Input{InputRole::kLabel, {}, {FillKind::kInteger, 0, 10}}));
  EXPECT_FALSE(label.classes_open);
}

TEST(InputReaderTest, ALabelWithoutAFillerLeavesItsClassesOpen) {
  const auto inputs = Read(R"(type: "Input" top: "label" input_param { shape { dim: 4 dim: 1 } })");
  ASSERT_TRUE(inputs.ok());
  EXPECT_EQ((*inputs)[0].input.role, InputRole::kLabel);
  EXPECT_TRUE((*inputs)[0].classes_open);
}

TEST(InputReaderTest, ProbabilitiesAreUniform) {
  const std::string text = R"(type: "Input" top: "data" input_param { shape { dim: 4 dim: 2 } })";
  EXPECT_EQ((*Read(text, {}, true))[0].input.fill, (Fill{FillKind::kUniform, 0, 1}));
  EXPECT_EQ((*Read(text))[0].input.fill, (Fill{FillKind::kGaussian, 0, 1}));
}

TEST(InputReaderTest, AssumedChannelsAreNoted) {
  const std::string text = R"(type: "Data" top: "data" data_param { batch_size: 2 }
    transform_param { crop_size: 7 })";
  const auto assumed = Read(text);
  EXPECT_EQ((*assumed)[0].input.shape, (Shape{3, 7, 7}));
  EXPECT_THAT((*assumed)[0].note, HasSubstr("# tench: data is 1x7x7"));
  const auto said = Read(text, {{{"data", {1, 7, 7}}}, {}});
  EXPECT_EQ((*said)[0].input.shape, (Shape{1, 7, 7}));
  EXPECT_EQ((*said)[0].note, "");
}

TEST(InputReaderTest, AGivenShapeReplacesOneThatTheFileLacks) {
  const std::string text = R"(type: "Data" top: "data" top: "label" data_param { batch_size: 2 })";
  EXPECT_EQ((*Read(text, {}, false, {1, 28, 28}))[0].input.shape, (Shape{1, 28, 28}));
  const std::string cropped =
      R"(type: "Data" top: "data" data_param { batch_size: 2 } transform_param { crop_size: 7 })";
  // Only the size of a crop is in the file; its three channels are a guess.
  EXPECT_EQ((*Read(cropped, {}, false, {1, 7, 7}))[0].input.shape, (Shape{1, 7, 7}));
  const std::string whole = R"(type: "Input" top: "x" input_param { shape { dim: 4 dim: 5 } })";
  EXPECT_EQ(Read(whole, {}, false, {6}).error().message,
            "'x' is 5 in the file, but the given data is 6");
  EXPECT_TRUE(Read(whole, {}, false, {5}).ok());
}

TEST(InputReaderTest, TheHintIsTheNetworksOwnData) {
  const auto hint = [](const std::string& source) {
    caffe::LayerParameter layer;
    layer.set_type("Data");
    layer.add_top("data");
    layer.mutable_data_param()->set_batch_size(2);
    layer.mutable_data_param()->set_source(source);
    return ReadDataLayer(layer, {kNone, kLabels, false, kNoSample, kUnnamed}).error().message;
  };
  EXPECT_THAT(hint("examples/cifar10/cifar10_train_lmdb"), HasSubstr("# tench: data is 3x32x32"));
  EXPECT_THAT(hint("examples/MNIST/mnist_train_lmdb"), HasSubstr("# tench: data is 1x28x28"));
  EXPECT_THAT(hint("x"), HasSubstr("# tench: data is 3x224x224"));
}

TEST(InputReaderTest, BadShapesAreRefused) {
  EXPECT_THAT(Read(R"(type: "Input")").error().message, HasSubstr("no top"));
  EXPECT_THAT(Read(R"(type: "Input" top: "a\nb" input_param { shape { } })").error().message,
              testing::AllOf(HasSubstr("no batch size"), testing::Not(HasSubstr("\n"))));
  EXPECT_THAT(Read(R"(type: "Input" top: "a" input_param { shape { dim: 0 } })").error().message,
              HasSubstr("batch size is 0"));
  EXPECT_THAT(Read(R"(type: "Data" top: "data")").error().message,
              HasSubstr("batch_size is missing"));
  EXPECT_THAT(
      Read(R"(type: "HDF5Data" top: "data" hdf5_data_param { batch_size: 2 })").error().message,
      HasSubstr("# tench: data is 1x28x28"));
  EXPECT_THAT(
      Read(R"(type: "Input" top: "label" input_param { shape { dim: 4 dim: 5 } })").error().message,
      HasSubstr("5 labels per sample"));
}

TEST(InputReaderTest, OlderFilesHaveTheirInputsInTheNetwork) {
  caffe::NetParameter net;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"(input: "data" input: "label" input_shape { dim: 2 dim: 3 } input_shape { dim: 2 })",
      &net));
  const auto inputs = ReadNetInputs(net, {kNone, kLabels, false, kNoSample, kUnnamed});
  ASSERT_TRUE(inputs.ok());
  EXPECT_EQ((*inputs)[0].input.shape, (Shape{3}));
  EXPECT_EQ((*inputs)[1].input.role, InputRole::kLabel);
  net.clear_input_shape();
  net.add_input_dim(2);
  EXPECT_THAT(ReadNetInputs(net, {kNone, kLabels, false, kNoSample, kUnnamed}).error().message,
              HasSubstr("2 inputs have 1 input_dim"));
}

}  // namespace
}  // namespace tench::input_reader_test
