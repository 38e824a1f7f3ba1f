// SPDX-License-Identifier: Apache-2.0
#include "workers/caffe/net_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/builder.h"

namespace tench::caffe_worker::net_text_test {
namespace {

using testing::HasSubstr;
using testing::Not;

TypedGraph Small() {
  GraphBuilder b("small");
  b.Append("in/data", Input{InputRole::kData, {1, 4, 4}, {FillKind::kGaussian, 0, 1}}, {});
  b.Append("label", Input{InputRole::kLabel, {}, {FillKind::kInteger, 0, 2}}, {});
  b.Append("conv", Convolution{2, {3, 3}}, {"in/data"});
  b.Append("bn", BatchNorm{}, {"conv"});
  b.Append("relu", Relu{}, {"bn"});
  b.Append("flat", Flatten{}, {"relu"});
  b.Append("drop", Dropout{0.5}, {"flat"});
  b.Append("aux_fc", FullyConnected{2}, {"drop"});
  b.Append("aux", SoftmaxCrossEntropy{0.25, true}, {"aux_fc", "label"});
  b.Append("fc", FullyConnected{2}, {"drop"});
  b.Append("loss", SoftmaxCrossEntropy{}, {"fc", "label"});
  return *Infer(b.Take(), 2);
}

NetText Write(const NetForm& form) {
  auto net = WriteNet(Small(), "list.txt", form);
  EXPECT_TRUE(net.ok()) << net.error().message;
  return *std::move(net);
}

size_t Count(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

TEST(NetTextTest, GivesInputsNamesThatHdf5Allows) {
  const NetText net = Write({});
  EXPECT_THAT(net.text, HasSubstr("top: \"input0\""));
  EXPECT_THAT(net.text, HasSubstr("bottom: \"input1\""));
  EXPECT_THAT(net.text, HasSubstr("source: \"list.txt\""));
  EXPECT_THAT(net.text, Not(HasSubstr("bottom: \"in/data\"")));
}

TEST(NetTextTest, KnowsTheLossesAndTheirWeights) {
  const NetText net = Write({});
  ASSERT_EQ(net.losses.size(), 2u);
  EXPECT_EQ(net.losses[0].blob, "aux");
  EXPECT_EQ(net.losses[0].weight, 0.25);
  EXPECT_EQ(net.losses[1].blob, "loss");
  EXPECT_EQ(net.losses[1].weight, 1);
}

TEST(NetTextTest, NumbersBlobsAsCaffesSolverDoes) {
  const TypedGraph graph = Small();
  const NetText net = Write({});
  std::vector<std::string> names;
  for (const BlobSlot& slot : net.slots)
    names.push_back(slot.parameter ? graph.parameters[*slot.parameter].name : "factor");
  EXPECT_THAT(names, testing::ElementsAre("conv.weight", "conv.bias", "bn.running_mean",
                                          "bn.running_var", "factor", "bn.weight", "bn.bias",
                                          "aux_fc.weight", "aux_fc.bias", "fc.weight", "fc.bias"));
}

TEST(NetTextTest, LeavesDropoutOutWhereItIsToBeTheIdentity) {
  NetForm form;
  EXPECT_EQ(Count(Write(form).text, "\"Dropout\""), 1u);
  form.dropout = false;
  const NetText net = Write(form);
  EXPECT_EQ(Count(net.text, "\"Dropout\""), 0u);
  EXPECT_EQ(Count(net.text, "bottom: \"flat\""), 2u);
}

TEST(NetTextTest, KeepsEveryOutputApartWhereTheyAreLookedAt) {
  NetForm form;
  form.apart = true;
  form.outputs = {"bn", "relu", "in/data"};
  const NetText net = Write(form);
  EXPECT_THAT(net.text, HasSubstr("top: \"relu\""));
  EXPECT_THAT(net.text, HasSubstr("top: \"bn_scale\""));
  EXPECT_EQ(Count(net.text, "\"HDF5Output\""), 5u);  // and both losses
  EXPECT_EQ(net.files.count("bn"), 1u);
  EXPECT_NE(net.files.at("bn"), net.files.at("relu"));
  EXPECT_EQ(net.factors.at("aux"), 0.25);
  // No layer reads the losses themselves, because Caffe would count them twice.
  EXPECT_EQ(Count(net.text, "\"SoftmaxWithLoss\""), 4u);
  EXPECT_EQ(Count(net.text, "loss_weight: 0\n"), 2u);
  EXPECT_EQ(Count(net.text, "bottom: \"loss\""), 0u);
}

TEST(NetTextTest, ComputesTheTrainingsLossInThePhaseTest) {
  NetForm form;
  EXPECT_THAT(Write(form).text, HasSubstr("phase: TRAIN"));
  form.as_training = true;
  EXPECT_THAT(Write(form).text, Not(HasSubstr("phase: TRAIN")));
  EXPECT_THAT(Write(form).text, HasSubstr("use_global_stats: false"));
}

TEST(NetTextTest, NamesTheLayerThatCaffeDoesNotHave) {
  GraphBuilder b("sequence");
  b.Append("tokens", Input{InputRole::kTokens, {3}, {FillKind::kInteger, 0, 5}}, {});
  b.Append("embedding", Embedding{5, 2}, {"tokens"});
  b.Append("flat", Flatten{}, {"embedding"});
  b.Append("data", Input{InputRole::kData, {6}, {FillKind::kGaussian, 0, 1}}, {});
  b.Append("loss", MeanSquaredError{}, {"flat", "data"});
  const auto net = WriteNet(*Infer(b.Take(), 2), "l", {});
  ASSERT_FALSE(net.ok());
  EXPECT_EQ(net.error().kind, ErrorKind::kUnsupported);
  EXPECT_THAT(net.error().message, HasSubstr("layer '"));
}

}  // namespace
}  // namespace tench::caffe_worker::net_text_test
