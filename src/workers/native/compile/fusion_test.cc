// SPDX-License-Identifier: Apache-2.0
#include "workers/native/compile/fusion.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "net/builder.h"

namespace tench::native::fusion_test {
namespace {

struct Chain {
  GraphBuilder builder{"net"};
  std::string top = "data";
  std::set<std::string> unread;  // a graph must use every output

  Chain() {
    builder.Append("data", Input{InputRole::kData, {16, 8, 8}, {FillKind::kUniform, -1, 1}}, {});
  }
  Chain& Then(const std::string& name, Op op, std::vector<std::string> inputs = {}) {
    if (inputs.empty()) inputs = {top};
    for (const std::string& input : inputs) unread.erase(input);
    top = builder.Append(name, std::move(op), inputs);
    unread.insert(name);
    return *this;
  }
  // Ends every branch in a loss; the layers so far keep their indices.
  TypedGraph Typed() {
    builder.Append("label", Input{InputRole::kLabel, {}, {FillKind::kInteger, 0, 2}}, {});
    for (const std::string& name : unread) {
      const std::string flat = builder.Append(name + "_flat", Flatten{}, {name}),
                        scores = builder.Append(name + "_scores", FullyConnected{2, false}, {flat});
      builder.Append(name + "_loss", SoftmaxCrossEntropy{}, {scores, "label"});
    }
    return *Infer(builder.Take(), 2);
  }
};

Op Conv() { return Convolution{16, {1, 1}}; }
Op MaxPool() { return Pooling{PoolMode::kMax, {2, 2}, {2, 2}}; }

TEST(FusionTest, OnlyAReluWithoutSlopeIsPlain) {
  EXPECT_TRUE(IsPlainRelu(Relu{}));
  EXPECT_FALSE(IsPlainRelu(Relu{0.1}));
  EXPECT_FALSE(IsPlainRelu(Sigmoid{}));
}

TEST(FusionTest, AConvolutionAbsorbsEveryActivation) {
  for (const auto& [op, activation] :
       std::vector<std::pair<Op, Activation>>{{Relu{}, Activation::kRelu},
                                              {Sigmoid{}, Activation::kSigmoid},
                                              {Tanh{}, Activation::kTanh}}) {
    const Fusion fusion = PlanFusion(Chain().Then("conv", Conv()).Then("act", op).Typed(), true);
    EXPECT_EQ(fusion.activation[1], activation);
    EXPECT_EQ(fusion.derivative[1], activation);
    EXPECT_TRUE(fusion.absorbed[2]);
    EXPECT_FALSE(fusion.absorbed[1]);
  }
}

TEST(FusionTest, ALeakyReluStaysALayer) {
  const Fusion fusion =
      PlanFusion(Chain().Then("conv", Conv()).Then("act", Relu{0.1}).Typed(), true);
  EXPECT_EQ(fusion.activation[1], Activation::kNone);
  EXPECT_FALSE(fusion.absorbed[2]);
}

TEST(FusionTest, BatchNormAbsorbsReluOnlyAndKeepsAMaskInsteadOfADerivative) {
  const Fusion relu = PlanFusion(Chain().Then("bn", BatchNorm{}).Then("act", Relu{}).Typed(), true);
  EXPECT_EQ(relu.activation[1], Activation::kRelu);
  EXPECT_EQ(relu.derivative[1], Activation::kNone);
  EXPECT_TRUE(relu.absorbed[2]);
  const Fusion tanh = PlanFusion(Chain().Then("bn", BatchNorm{}).Then("act", Tanh{}).Typed(), true);
  EXPECT_FALSE(tanh.absorbed[2]);
}

TEST(FusionTest, APlainSumAbsorbsReluAndAWeightedOneDoesNot) {
  const auto sum = [](const Add& add) {
    return PlanFusion(Chain()
                          .Then("a", Conv())
                          .Then("b", Conv(), {"data"})
                          .Then("sum", add, {"a", "b"})
                          .Then("relu", Relu{})
                          .Typed(),
                      true);
  };
  EXPECT_EQ(sum(Add{}).activation[3], Activation::kRelu);
  EXPECT_EQ(sum(Add{}).derivative[3], Activation::kRelu);
  EXPECT_FALSE(sum(Add{{0.5, 2}}).absorbed[4]);
}

TEST(FusionTest, ALayerWithAnotherReaderAbsorbsNothing) {
  const Fusion fusion = PlanFusion(
      Chain().Then("conv", Conv()).Then("relu", Relu{}).Then("other", Conv(), {"conv"}).Typed(),
      true);
  EXPECT_EQ(fusion.readers[1], 2);
  EXPECT_FALSE(fusion.absorbed[2]);
  EXPECT_EQ(fusion.activation[1], Activation::kNone);
}

TEST(FusionTest, AMaxPoolTakesTheDerivativeOfTheReluThatItAloneReads) {
  const Fusion alone = PlanFusion(
      Chain().Then("conv", Conv()).Then("relu", Relu{}).Then("pool", MaxPool()).Typed(), true);
  EXPECT_EQ(alone.derivative[1], Activation::kNone);
  EXPECT_EQ(alone.derivative[3], Activation::kRelu);
  EXPECT_EQ(alone.activation[1], Activation::kRelu);

  const Fusion shared = PlanFusion(Chain()
                                       .Then("conv", Conv())
                                       .Then("relu", Relu{})
                                       .Then("pool", MaxPool())
                                       .Then("other", Conv(), {"relu"})
                                       .Typed(),
                                   true);
  EXPECT_EQ(shared.derivative[1], Activation::kRelu);
  EXPECT_EQ(shared.derivative[3], Activation::kNone);

  const Fusion tanh = PlanFusion(
      Chain().Then("conv", Conv()).Then("tanh", Tanh{}).Then("pool", MaxPool()).Typed(), true);
  EXPECT_EQ(tanh.derivative[1], Activation::kTanh);
  const Fusion average = PlanFusion(Chain()
                                        .Then("conv", Conv())
                                        .Then("relu", Relu{})
                                        .Then("pool", Pooling{PoolMode::kAvg, {2, 2}, {2, 2}})
                                        .Typed(),
                                    true);
  EXPECT_EQ(average.derivative[1], Activation::kRelu);
}

TEST(FusionTest, AnObservingBuildCountsReadersOnly) {
  const Fusion fusion =
      PlanFusion(Chain().Then("conv", Conv()).Then("relu", Relu{}).Typed(), false);
  // Of data, conv, relu, label, relu_flat, relu_scores and relu_loss.
  EXPECT_EQ(fusion.readers, (std::vector<int>{1, 1, 1, 1, 1, 1, 0}));
  EXPECT_EQ(fusion.activation[1], Activation::kNone);
  EXPECT_EQ(fusion.derivative[1], Activation::kNone);
  EXPECT_FALSE(fusion.absorbed[2]);
}

}  // namespace
}  // namespace tench::native::fusion_test
