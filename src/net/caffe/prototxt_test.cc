// SPDX-License-Identifier: Apache-2.0
#include "net/caffe/prototxt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "net/builder.h"
#include "net/caffe/prototxt_writer.h"

namespace tench::prototxt_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string ErrorOf(const auto& result) {
  return result.ok() ? "no error" : result.error().message;
}

constexpr const char* kData = R"(name: "net"
layer { name: "data" type: "DummyData" top: "data" top: "label"
  dummy_data_param { shape { dim: 4 dim: 3 dim: 8 dim: 8 } shape { dim: 4 }
    data_filler { type: "gaussian" std: 1 } data_filler { type: "uniform" min: 0 max: 10 } } }
)";
constexpr const char* kHead = R"(
layer { name: "fc" type: "InnerProduct" bottom: "TOP" top: "fc" inner_product_param { num_output: 10 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "fc" bottom: "label" top: "loss" }
)";

// A network with `layers` between its data and its head, which reads the blob `top`.
std::string Text(const std::string& layers, const std::string& top) {
  std::string head = kHead;
  head.replace(head.find("TOP"), 3, top);
  return kData + layers + head;
}
Result<CaffeNetwork> Read(const std::string& layers, const std::string& top = "x") {
  return ReadPrototxt(Text(layers, top), "net.prototxt");
}

const Layer* Find(const CaffeNetwork& network, const std::string& name) {
  for (const Layer& layer : network.graph.layers) {
    if (layer.name == name) return &layer;
  }
  return nullptr;
}
template <class T>
T OpOf(const Result<CaffeNetwork>& network, const std::string& name) {
  EXPECT_TRUE(network.ok()) << ErrorOf(network);
  const Layer* layer = network.ok() ? Find(*network, name) : nullptr;
  EXPECT_NE(layer, nullptr) << name;
  if (layer == nullptr || !std::holds_alternative<T>(layer->op)) {
    ADD_FAILURE() << name << " is not of the expected op";
    return T{};
  }
  return std::get<T>(layer->op);
}

TEST(PrototxtTest, LayersThatWorkInPlaceFollowEachOther) {
  const auto network = Read(R"(
layer { name: "conv" type: "Convolution" bottom: "data" top: "c" convolution_param { num_output: 4 kernel_size: 3 } }
layer { name: "relu" type: "ReLU" bottom: "c" top: "c" relu_param { negative_slope: 0.1 } }
layer { name: "drop" type: "Dropout" bottom: "c" top: "c" dropout_param { dropout_ratio: 0.4 } })",
                            "c");
  EXPECT_EQ(OpOf<Relu>(network, "relu").negative_slope, 0.1);
  EXPECT_EQ(OpOf<Dropout>(network, "drop").ratio, 0.4);
  EXPECT_THAT(Find(*network, "relu")->inputs, ElementsAre("conv"));
  EXPECT_THAT(Find(*network, "drop")->inputs, ElementsAre("relu"));
  EXPECT_THAT(Find(*network, "fc_flatten")->inputs, ElementsAre("drop"));
  EXPECT_THAT(Find(*network, "fc")->inputs, ElementsAre("fc_flatten"));
}

TEST(PrototxtTest, ConvolutionHasAllOfItsSettings) {
  const auto network = Read(R"(
layer { name: "x" type: "Convolution" bottom: "data" top: "x"
  param { lr_mult: 1 decay_mult: 1 } param { lr_mult: 2 decay_mult: 0 }
  convolution_param { num_output: 6 kernel_h: 3 kernel_w: 1 stride: 2 pad_h: 1 pad_w: 0 dilation: 2 group: 3 engine: CAFFE
    weight_filler { type: "msra" variance_norm: FAN_OUT } bias_filler { type: "constant" value: 0.2 } } })");
  const Convolution conv = OpOf<Convolution>(network, "x");
  EXPECT_EQ(conv.out_channels, 6);
  EXPECT_EQ(conv.kernel, (Hw{3, 1}));
  EXPECT_EQ(conv.stride, (Hw{2, 2}));
  EXPECT_EQ(conv.pad, (Hw{1, 0}));
  EXPECT_EQ(conv.dilation, (Hw{2, 2}));
  EXPECT_EQ(conv.groups, 3);
  const Layer& layer = *Find(*network, "x");
  EXPECT_EQ(layer.weight, (ParameterRule{{FillKind::kMsraFanOut, 0, 0}, 1, 1}));
  EXPECT_EQ(layer.bias, (ParameterRule{{FillKind::kConstant, 0.2, 0}, 2, 0}));
}

TEST(PrototxtTest, PoolingRoundsUpUnlessToldOtherwise) {
  EXPECT_TRUE(
      OpOf<Pooling>(
          Read(
              R"(layer { name: "x" type: "Pooling" bottom: "data" top: "x" pooling_param { kernel_size: 3 stride: 2 } })"),
          "x")
          .ceil_mode);
  EXPECT_FALSE(OpOf<Pooling>(Read(R"(layer { name: "x" type: "Pooling" bottom: "data" top: "x"
    pooling_param { pool: AVE kernel_size: 3 stride: 2 round_mode: FLOOR } })"),
                             "x")
                   .ceil_mode);
  EXPECT_TRUE(
      OpOf<Pooling>(
          Read(
              R"(layer { name: "x" type: "Pooling" bottom: "data" top: "x" pooling_param { pool: AVE global_pooling: true } })"),
          "x")
          .global);
  // A remark must not change the computation: windows of 3 cannot halve 8 pixels without rounding.
  EXPECT_TRUE(OpOf<Pooling>(Read(R"(# tench: x rounds down
layer { name: "x" type: "Pooling" bottom: "data" top: "x" pooling_param { kernel_size: 3 stride: 2 } })"),
                            "x")
                  .ceil_mode);
}

TEST(PrototxtTest, TheOtherOpsHaveTheirSettings) {
  const Lrn lrn = OpOf<Lrn>(Read(R"(layer { name: "x" type: "LRN" bottom: "data" top: "x"
    lrn_param { local_size: 3 alpha: 5e-05 beta: 0.75 norm_region: WITHIN_CHANNEL k: 7 } })"),
                            "x");
  EXPECT_EQ(lrn, (Lrn{3, 5e-5, 0.75, 1, LrnRegion::kWithinChannel}));
  const Power power = OpOf<Power>(
      Read(
          R"(layer { name: "x" type: "Power" bottom: "data" top: "x" power_param { power: 2 scale: 0.5 shift: 1 } })"),
      "x");
  EXPECT_EQ(power, (Power{2, 0.5, 1}));
  EXPECT_EQ(
      OpOf<Reshape>(
          Read(
              R"(layer { name: "x" type: "Reshape" bottom: "data" top: "x" reshape_param { shape { dim: 0 dim: -1 dim: 16 } } })"),
          "x")
          .shape,
      (Shape{12, 16}));
  EXPECT_EQ(OpOf<Add>(Read(R"(layer { name: "p" type: "Power" bottom: "data" top: "p" }
    layer { name: "x" type: "Eltwise" bottom: "data" bottom: "p" top: "x" eltwise_param { coeff: 1 coeff: -1 } })"),
                      "x")
                .coefficients,
            (std::vector<double>{1, -1}));
  OpOf<Multiply>(Read(R"(layer { name: "p" type: "TanH" bottom: "data" top: "p" }
    layer { name: "x" type: "Eltwise" bottom: "data" bottom: "p" top: "x" eltwise_param { operation: PROD } })"),
                 "x");
  OpOf<Maximum>(Read(R"(layer { name: "p" type: "Sigmoid" bottom: "data" top: "p" }
    layer { name: "x" type: "Eltwise" bottom: "data" bottom: "p" top: "x" eltwise_param { operation: MAX } })"),
                "x");
  OpOf<Softmax>(Read(R"(layer { name: "x" type: "Softmax" bottom: "data" top: "x" })"), "x");
}

TEST(PrototxtTest, PiecesThatNobodyWantsAreSilenced) {
  GraphBuilder b("part");
  b.Append("data", Input{InputRole::kData, {8, 2, 2}, {FillKind::kUniform, 0, 1}}, {});
  b.Append("label", Input{InputRole::kLabel, {}, {FillKind::kInteger, 0, 3}}, {});
  b.Append("middle", Slice{2, 5}, {"data"});
  b.Append("flat", Flatten{}, {"middle"});
  b.Append("fc", FullyConnected{3}, {"flat"});
  b.Append("loss", SoftmaxCrossEntropy{}, {"fc", "label"});
  const Graph graph = b.Take();
  const Result<std::string> text = WriteTrainPrototxt(graph, {CaffeData::Kind::kDummy, "", 4});
  ASSERT_TRUE(text.ok()) << text.error().message;
  EXPECT_THAT(
      *text,
      HasSubstr("type: \"Silence\"\n  bottom: \"middle_rest1\"\n  bottom: \"middle_rest2\"\n"));
  const Result<CaffeNetwork> again = ReadPrototxt(*text, "again.prototxt");
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(OpOf<Slice>(*again, "middle"), (Slice{2, 5}));
}

TEST(PrototxtTest, SliceCutsAndConcatJoins) {
  const auto network = Read(R"(
layer { name: "cut" type: "Slice" bottom: "data" top: "a" top: "b" slice_param { slice_point: 1 } }
layer { name: "x" type: "Concat" bottom: "b" bottom: "a" top: "x" })");
  EXPECT_EQ(OpOf<Slice>(network, "a"), (Slice{0, 1}));
  EXPECT_EQ(OpOf<Slice>(network, "b"), (Slice{1, 3}));
  EXPECT_THAT(Find(*network, "x")->inputs, ElementsAre("b", "a"));
  const Result<std::string> written = WriteTrainPrototxt(network->graph, {});
  ASSERT_TRUE(written.ok()) << ErrorOf(written);
  EXPECT_EQ(Fingerprint(ReadPrototxt(*written, "y")->graph), Fingerprint(network->graph));
}

TEST(PrototxtTest, BatchNormAndScaleAreOne) {
  const auto network = Read(R"(
layer { name: "bn" type: "BatchNorm" bottom: "data" top: "b" batch_norm_param { moving_average_fraction: 0.9 eps: 0.001 } param { lr_mult: 0 } }
layer { name: "sc" type: "Scale" bottom: "b" top: "b" scale_param { bias_term: true filler { value: 0.5 } } param { lr_mult: 3 } param { decay_mult: 0 } })",
                            "b");
  EXPECT_EQ(OpOf<BatchNorm>(network, "bn"), (BatchNorm{0.001, 0.1, true}));
  EXPECT_EQ(Find(*network, "sc"), nullptr);
  EXPECT_EQ(Find(*network, "bn")->weight, (ParameterRule{{FillKind::kConstant, 0.5, 0}, 3, 1}));
  EXPECT_EQ(Find(*network, "bn")->bias.decay_mult, 0);
  EXPECT_EQ(network->names.scales.at("bn").name, "sc");
}

TEST(PrototxtTest, BatchNormByItselfOnlyNormalises) {
  const auto network = Read(R"(layer { name: "x" type: "BatchNorm" bottom: "data" top: "x" })");
  EXPECT_EQ(OpOf<BatchNorm>(network, "x"), (BatchNorm{1e-5, 0.001, false}));
}

TEST(PrototxtTest, AScaleWhoseNormIsReadElsewhereStaysALayer) {
  const auto network = Read(R"(
layer { name: "bn" type: "BatchNorm" bottom: "data" top: "b" }
layer { name: "sc" type: "Scale" bottom: "b" top: "s" }
layer { name: "x" type: "Eltwise" bottom: "b" bottom: "s" top: "x" })");
  EXPECT_FALSE(OpOf<BatchNorm>(network, "bn").affine);
  EXPECT_EQ(OpOf<Scale>(network, "sc"), Scale{false});
}

TEST(PrototxtTest, OnlyTheLayersOfThePhaseAndTheStageCount) {
  const std::string layers = R"(
layer { name: "test" type: "Python" bottom: "data" top: "x" include { phase: TEST } python_param { module: "m" } }
layer { name: "one" type: "Sigmoid" bottom: "data" top: "x" include { stage: "one" } }
layer { name: "two" type: "TanH" bottom: "data" top: "x" exclude { stage: "one" } })";
  OpOf<Tanh>(Read(layers), "two");
  const auto staged = ReadPrototxt(Text(layers, "x"), "net.prototxt", {0, {"one"}});
  OpOf<Sigmoid>(staged, "one");
  EXPECT_EQ(Find(*staged, "two"), nullptr);
  EXPECT_THAT(
      ErrorOf(Read(
          R"(layer { name: "x" type: "TanH" bottom: "data" top: "x" include { phase: TRAIN } exclude { phase: TEST } })")),
      HasSubstr("include and exclude"));
}

TEST(PrototxtTest, ALossThatTestingLeavesOutIsAuxiliary) {
  const auto network = Read(R"(
layer { name: "aux_fc" type: "InnerProduct" bottom: "data" top: "aux_fc" inner_product_param { num_output: 10 } include { phase: TRAIN } }
layer { name: "aux" type: "SoftmaxWithLoss" bottom: "aux_fc" bottom: "label" loss_weight: 0.3 include { phase: TRAIN } })",
                            "data");
  EXPECT_EQ(OpOf<SoftmaxCrossEntropy>(network, "aux"), (SoftmaxCrossEntropy{0.3, true, {}}));
  EXPECT_FALSE(OpOf<SoftmaxCrossEntropy>(network, "loss").auxiliary);
}

TEST(PrototxtTest, AccuracyAndWhatNoLossNeedsAreLeftOutWithANote) {
  const auto network = Read(R"(
layer { name: "spare" type: "ReLU" bottom: "data" top: "spare" }
layer { name: "acc" type: "Accuracy" bottom: "data" bottom: "label" top: "acc" }
layer { name: "x" type: "TanH" bottom: "data" top: "x" })");
  EXPECT_EQ(Find(*network, "spare"), nullptr);
  EXPECT_THAT(network->notes,
              ElementsAre(HasSubstr("'acc' (Accuracy)"), HasSubstr("no loss needs spare")));
}

// Only the head, after another kind of data layer.
Result<CaffeNetwork> ReadWithData(const std::string& data) {
  std::string head = kHead;
  head.replace(head.find("TOP"), 3, "data");
  return ReadPrototxt("name: \"net\"\n" + data + head, "net.prototxt");
}

TEST(PrototxtTest, DataLayersBecomeInputsOfTheirShape) {
  const Input crop =
      OpOf<Input>(ReadWithData(R"(layer { name: "d" type: "Data" top: "data" top: "label"
    transform_param { crop_size: 5 mean_value: 1 mean_value: 2 mean_value: 3 } data_param { source: "nowhere" batch_size: 7 backend: LMDB } })"),
                  "data");
  EXPECT_EQ(crop.shape, (Shape{3, 5, 5}));
  const auto image = ReadWithData(R"(layer { name: "d" type: "ImageData" top: "data" top: "label"
    image_data_param { source: "list" batch_size: 7 new_height: 4 new_width: 6 is_color: false } })");
  EXPECT_EQ(OpOf<Input>(image, "data").shape, (Shape{1, 4, 6}));
  EXPECT_EQ(OpOf<Input>(image, "label"),
            (Input{InputRole::kLabel, {}, {FillKind::kInteger, 0, 10}}));
  EXPECT_EQ(image->batch, 7);
  const auto memory = ReadWithData(R"(layer { name: "d" type: "MemoryData" top: "data" top: "label"
    memory_data_param { batch_size: 2 channels: 3 height: 4 width: 5 } })");
  EXPECT_EQ(OpOf<Input>(memory, "data").shape, (Shape{3, 4, 5}));
  const auto remark = ReadWithData(R"(# tench: data is 2x6x6
layer { name: "d" type: "HDF5Data" top: "data" top: "label" hdf5_data_param { source: "list" batch_size: 3 } })");
  EXPECT_EQ(OpOf<Input>(remark, "data").shape, (Shape{2, 6, 6}));
  const auto old = ReadWithData(
      R"(input: "data" input_dim: 2 input_dim: 3 input_dim: 4 input_dim: 5 input: "label" input_dim: 2 input_dim: 1 input_dim: 1 input_dim: 1)");
  EXPECT_EQ(OpOf<Input>(old, "data").shape, (Shape{3, 4, 5}));
  EXPECT_EQ(old->batch, 2);
}

TEST(PrototxtTest, AShapeThatOnlyTheDataKnowsIsAskedFor) {
  EXPECT_THAT(
      ErrorOf(ReadWithData(
          R"(layer { name: "d" type: "Data" top: "data" top: "label" data_param { source: "x" batch_size: 7 } })")),
      AllOf(HasSubstr("net.prototxt:2: layer 'd': the shape of 'data'"),
            HasSubstr("add a comment to the file: # tench: data is 3x224x224")));
}

TEST(PrototxtTest, ADeployFilesSoftmaxBecomesItsLoss) {
  const auto network = ReadPrototxt(R"(name: "n"
input: "data" input_shape { dim: 10 dim: 3 }
layer { name: "fc" type: "InnerProduct" bottom: "data" top: "fc" inner_product_param { num_output: 4 } }
layer { name: "prob" type: "Softmax" bottom: "fc" top: "prob" })",
                                    "deploy.prototxt");
  ASSERT_TRUE(network.ok()) << network.error().message;
  EXPECT_EQ(network->batch, 10);
  const std::vector<Layer>& layers = network->graph.layers;
  ASSERT_EQ(layers.size(), 4u);
  EXPECT_EQ(layers[2].op, Op(Input{InputRole::kLabel, {}, {FillKind::kInteger, 0, 4}}));
  EXPECT_EQ(layers[3].name, "prob");
  EXPECT_EQ(layers[3].op, Op(SoftmaxCrossEntropy{}));
  EXPECT_EQ(layers[3].inputs, (std::vector<std::string>{"fc", "label"}));
  EXPECT_THAT(network->notes, ElementsAre(HasSubstr("softmax 'prob'")));
}

TEST(PrototxtTest, OutputsOfAnyOtherKindGetAMeanSquaredError) {
  const auto network = ReadPrototxt(R"(name: "n"
layer { name: "in" type: "Input" top: "data" input_param { shape { dim: 2 dim: 3 dim: 8 dim: 8 } } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv" convolution_param { num_output: 4 kernel_size: 3 } }
layer { name: "relu" type: "ReLU" bottom: "conv" top: "relu" }
layer { name: "prob" type: "Softmax" bottom: "conv" top: "prob" }
layer { name: "out" type: "Pooling" bottom: "relu" top: "out" pooling_param { pool: AVE global_pooling: true } }
layer { name: "side" type: "ReLU" bottom: "conv" top: "side" }
layer { name: "quiet" type: "Silence" bottom: "side" })",
                                    "deploy.prototxt");
  ASSERT_TRUE(network.ok()) << network.error().message;
  EXPECT_EQ(OpOf<Input>(network, "prob_target").shape, (Shape{4, 6, 6}));
  EXPECT_EQ(OpOf<Input>(network, "out_target").shape, (Shape{4, 1, 1}));
  EXPECT_EQ(network->graph.layers.back().op, Op(MeanSquaredError{}));
  for (const Layer& layer : network->graph.layers) EXPECT_NE(layer.name, "side");
}

TEST(PrototxtTest, LossesAreDividedAsCaffeDividesThem) {
  const auto loss = [](const std::string& type, const std::string& more) {
    return ReadPrototxt(
        R"(name: "n" layer { name: "d" type: "Input" top: "data" top: "target" input_param { shape { dim: 2 dim: 6 } } }
      layer { name: "fc" type: "InnerProduct" bottom: "data" top: "fc" inner_product_param { num_output: 6 } }
      layer { name: "loss" type: ")" +
            type + R"(" bottom: "fc" bottom: "target" )" + more + "}",
        "n");
  };
  EXPECT_EQ(OpOf<MeanSquaredError>(loss("EuclideanLoss", "loss_weight: 2"), "loss").loss_weight, 6);
  EXPECT_EQ(OpOf<SigmoidCrossEntropy>(loss("SigmoidCrossEntropyLoss", ""), "loss").loss_weight, 1);
  EXPECT_EQ(OpOf<SigmoidCrossEntropy>(loss("SigmoidCrossEntropyLoss",
                                           "loss_weight: 3 loss_param { normalization: FULL }"),
                                      "loss")
                .loss_weight,
            0.5);
  const std::string fc =
      R"(layer { name: "f" type: "InnerProduct" bottom: "data" top: "f" inner_product_param { num_output: 10 } })";
  EXPECT_EQ(
      OpOf<SoftmaxCrossEntropy>(
          ReadPrototxt(
              kData + fc + R"(layer { name: "l" type: "SoftmaxWithLoss" bottom: "f" bottom: "label"
    loss_param { ignore_label: 255 } })",
              "n"),
          "l")
          .ignore_label,
      255);
  EXPECT_THAT(
      ErrorOf(ReadPrototxt(
          kData + fc + R"(layer { name: "l" type: "SoftmaxWithLoss" bottom: "f" bottom: "label"
    loss_param { normalization: NONE } })",
          "n")),
      HasSubstr("layer 'l': the normalization NONE"));
}

struct Refusal {
  const char* layers;
  const char* message;
};

class PrototxtRefusalTest : public testing::TestWithParam<Refusal> {};

TEST_P(PrototxtRefusalTest, IsOneLineWithTheLineAndTheLayer) {
  const std::string error = ErrorOf(Read(GetParam().layers));
  EXPECT_THAT(error, HasSubstr(GetParam().message));
  EXPECT_THAT(error, testing::StartsWith("net.prototxt:"));
  EXPECT_EQ(error.find('\n'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    All, PrototxtRefusalTest,
    testing::Values(
        Refusal{
            R"(layer { name: "p" type: "Python" bottom: "data" top: "x" python_param { module: "m" } })",
            "net.prototxt:5: layer 'p': layers of the type 'Python' are not supported"},
        Refusal{
            R"(layer { name: "x" type: "Deconvolution" bottom: "data" top: "x" convolution_param { num_output: 3 } })",
            "'Deconvolution'"},
        Refusal{R"(layer { name: "x" type: "ReLU" bottom: "dat" top: "x" })",
                "layer 'x': no earlier layer produces the bottom 'dat'; did you mean 'data'?"},
        Refusal{
            R"(layer { name: "x" type: "ReLU" bottom: "data" top: "x" relu_param { slope: 1 } })",
            "layer 'x': Message type"},
        Refusal{"layer { name: \"x\" type: \"Pooling\"\n pooling_param { pool: STOCHASTIC "
                "kernel_size: 2 } bottom: \"data\" top: \"x\" }",
                "layer 'x': stochastic pooling"},
        Refusal{
            R"(layer { name: "x" type: "Pooling" bottom: "data" top: "x" pooling_param { pool: MEDIAN } })",
            "Unknown enumeration value of \"MEDIAN\""},
        Refusal{
            R"(layer { name: "x" type: "Convolution" bottom: "data" top: "x" convolution_param { num_output: 3 kernel_size: 9 } })",
            "layer 'x': a kernel of extent 9"},
        Refusal{
            R"(layer { name: "x" type: "Convolution" bottom: "data" top: "x" convolution_param { num_output: 3 } })",
            "layer 'x': kernel is missing"},
        Refusal{
            R"(layer { name: "x" type: "Convolution" bottom: "data" top: "x" convolution_param { num_output: 3 kernel_size: 1 kernel_size: 1 kernel_size: 1 } })",
            "3 sizes"},
        Refusal{
            R"(layer { name: "x" type: "Convolution" bottom: "data" top: "x" convolution_param { num_output: 1000000000000000000 kernel_size: 1 } })",
            "Integer out of range"},
        Refusal{
            R"(layer { name: "x" type: "Convolution" bottom: "data" top: "x" convolution_param { num_output: -3 kernel_size: 1 } })",
            "net.prototxt:5:"},
        Refusal{
            R"(layer { name: "x" type: "InnerProduct" bottom: "data" top: "x" inner_product_param { num_output: 3 weight_filler { type: "gaussian" std: nan } } })",
            "layer 'x': weight: its fill has the number nan"},
        Refusal{
            R"(layer { name: "x" type: "InnerProduct" bottom: "data" top: "x" inner_product_param { num_output: 3 weight_filler { type: "bilinear" } } })",
            "the filler 'bilinear'"},
        Refusal{
            R"(layer { name: "x" type: "InnerProduct" bottom: "data" top: "x" inner_product_param { num_output: 3 weight_filler { type: "xavir" } } })",
            "Caffe has no filler 'xavir'"},
        Refusal{
            R"(layer { name: "x" type: "Reshape" bottom: "data" top: "x" reshape_param { shape { dim: 0 dim: 1000000000000000000 } } })",
            "layer 'x': a size of its shape"},
        Refusal{
            R"(layer { name: "x" type: "Concat" bottom: "data" bottom: "data" top: "x" concat_param { axis: 2 } })",
            "only axis 1"},
        Refusal{
            R"(layer { name: "x" type: "BatchNorm" bottom: "data" top: "x" batch_norm_param { use_global_stats: true } })",
            "use_global_stats"},
        Refusal{
            R"(layer { name: "a" type: "InnerProduct" bottom: "data" top: "a" inner_product_param { num_output: 3 } param { name: "w" } }
                   layer { name: "x" type: "InnerProduct" bottom: "a" top: "x" inner_product_param { num_output: 3 } param { name: "w" } })",
            "shares the weights 'w' with layer 'a'"},
        Refusal{R"(layers { name: "x" type: RELU bottom: "data" top: "x" })",
                "both `layers` and `layer`"},
        Refusal{R"(layer { name: "x" type: "ReLU" bottom: "data" top: "x")", "net.prototxt:8:"},
        Refusal{"# tench: data are big\n", "net.prototxt:5: a remark to tench"}));

TEST(PrototxtTest, LayersOfTheV1FormatAreTheSameNetwork) {
  constexpr const char* kOld = R"(name: "net"
layers { name: "data" type: DATA top: "data" top: "label"
  data_param { source: "train_lmdb" batch_size: 4 crop_size: 8 mirror: true } }
layers { name: "conv" type: CONVOLUTION bottom: "data" top: "conv" blobs_lr: 1 blobs_lr: 2
  weight_decay: 1 weight_decay: 0 convolution_param { num_output: 2 kernel_size: 3 } }
layers { name: "relu" type: RELU bottom: "conv" top: "conv" }
layers { name: "fc" type: INNER_PRODUCT bottom: "conv" top: "fc" inner_product_param { num_output: 10 } }
layers { name: "accuracy" type: ACCURACY bottom: "fc" bottom: "label" top: "accuracy"
  accuracy_param { top_k: 5 } include: { phase: TEST } }
layers { name: "loss" type: SOFTMAX_LOSS bottom: "fc" bottom: "label" top: "loss" })";
  constexpr const char* kNew = R"(name: "net"
layer { name: "data" type: "Data" top: "data" top: "label"
  data_param { source: "train_lmdb" batch_size: 4 } transform_param { crop_size: 8 mirror: true } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv"
  param { lr_mult: 1 decay_mult: 1 } param { lr_mult: 2 decay_mult: 0 }
  convolution_param { num_output: 2 kernel_size: 3 } }
layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" }
layer { name: "fc" type: "InnerProduct" bottom: "conv" top: "fc" inner_product_param { num_output: 10 } }
layer { name: "accuracy" type: "Accuracy" bottom: "fc" bottom: "label" top: "accuracy"
  accuracy_param { top_k: 5 } include: { phase: TEST } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "fc" bottom: "label" top: "loss" })";
  CaffeState test;
  test.test = true;
  for (const CaffeState& state : {CaffeState{}, test}) {
    const Result<CaffeNetwork> old = ReadPrototxt(kOld, "old.prototxt", state),
                               now = ReadPrototxt(kNew, "new.prototxt", state);
    ASSERT_TRUE(old.ok() && now.ok()) << ErrorOf(old) << ErrorOf(now);
    EXPECT_EQ(Fingerprint(old->graph), Fingerprint(now->graph));
    ASSERT_EQ(old->accuracies.size(), state.test ? 1u : 0u);
    if (!state.test) continue;
    EXPECT_EQ(old->accuracies[0].scores, "fc");
    EXPECT_EQ(old->accuracies[0].top_k, 5);
  }
  EXPECT_THAT(ErrorOf(ReadPrototxt("layers { layer { } }", "v0.prototxt")),
              HasSubstr("v0.prototxt:1: layers in Caffe's V0 format"));
  EXPECT_THAT(
      ErrorOf(ReadPrototxt(
          R"(layers { name: "w" type: WINDOW_DATA top: "data" window_data_param { x: 1 } })",
          "w.prototxt")),
      HasSubstr("layers of the type 'WindowData' are not supported"));
}

TEST(PrototxtTest, NamesWithLineBreaksDoNotBreakALine) {
  const std::string error = ErrorOf(Read(R"(
layer { name: "x" type: "ReLU" bottom: "data" top: "co\nv" }
layer { name: "y" type: "ReLU" bottom: "conv" top: "x" })"));
  EXPECT_THAT(error, HasSubstr("layer 'y': no earlier layer produces the bottom 'conv'"));
  EXPECT_EQ(error.find('\n'), std::string::npos);
  const auto dropped = Read(R"(
layer { name: "a\nb" type: "Accuracy" bottom: "data" bottom: "label" top: "acc" }
layer { name: "x" type: "ReLU" bottom: "data" top: "x" })");
  ASSERT_TRUE(dropped.ok()) << ErrorOf(dropped);
  ASSERT_EQ(dropped->notes.size(), 1u);
  EXPECT_EQ(dropped->notes[0].find('\n'), std::string::npos);
}

TEST(PrototxtTest, AFileIsReadUnderItsOwnName) {
  const TemporaryFolder folder = *TemporaryFolder::Make("tench-prototxt-");
  const std::string file = (folder.path() / "net.prototxt").string();
  ASSERT_TRUE(WriteFileAtomically(
                  file, Text(R"(layer { name: "x" type: "TanH" bottom: "data" top: "x" })", "x"))
                  .ok());
  EXPECT_EQ(ReadPrototxtFile(file)->batch, 4);
  EXPECT_THAT(ErrorOf(ReadPrototxtFile(file + "x")), HasSubstr(file + "x"));
}

TEST(PrototxtTest, NestingWithoutEndIsRefused) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "layer { ";
  EXPECT_THAT(ErrorOf(ReadPrototxt(text, "deep")),
              HasSubstr("deep:1: more than 32 levels of nesting"));
}

TEST(PrototxtTest, AnEmptyFileHasNoNetwork) {
  EXPECT_THAT(ErrorOf(ReadPrototxt("", "e.prototxt")),
              HasSubstr("e.prototxt: e: the network has no layers"));
}

}  // namespace
}  // namespace tench::prototxt_test
