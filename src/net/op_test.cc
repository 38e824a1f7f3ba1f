// SPDX-License-Identifier: Apache-2.0
#include "net/op.h"

#include <gtest/gtest.h>

#include <set>

namespace tench::op_test {
namespace {

TEST(OpTest, EveryAlternativeHasAUniqueName) {
  EXPECT_EQ(OpNames().size(), std::variant_size_v<Op>);
  EXPECT_EQ(std::set<std::string>(OpNames().begin(), OpNames().end()).size(), OpNames().size());
}

TEST(OpTest, NamesAreInTheOrderOfTheVariant) {
  EXPECT_EQ(OpName(Input{}), "input");
  EXPECT_EQ(OpName(Convolution{}), "conv");
  EXPECT_EQ(OpName(Pooling{}), "pool");
  EXPECT_EQ(OpName(Lrn{}), "lrn");
  EXPECT_EQ(OpName(Relu{}), "relu");
  EXPECT_EQ(OpName(Sigmoid{}), "sigmoid");
  EXPECT_EQ(OpName(Tanh{}), "tanh");
  EXPECT_EQ(OpName(Power{}), "power");
  EXPECT_EQ(OpName(FullyConnected{}), "fc");
  EXPECT_EQ(OpName(Dropout{}), "dropout");
  EXPECT_EQ(OpName(Concat{}), "concat");
  EXPECT_EQ(OpName(Slice{}), "slice");
  EXPECT_EQ(OpName(Add{}), "add");
  EXPECT_EQ(OpName(Multiply{}), "multiply");
  EXPECT_EQ(OpName(Maximum{}), "maximum");
  EXPECT_EQ(OpName(Flatten{}), "flatten");
  EXPECT_EQ(OpName(Reshape{}), "reshape");
  EXPECT_EQ(OpName(BatchNorm{}), "batch_norm");
  EXPECT_EQ(OpName(Scale{}), "scale");
  EXPECT_EQ(OpName(Softmax{}), "softmax");
  EXPECT_EQ(OpName(Embedding{}), "embedding");
  EXPECT_EQ(OpName(Lstm{}), "lstm");
  EXPECT_EQ(OpName(MeanOverTime{}), "mean_over_time");
  EXPECT_EQ(OpName(SoftmaxCrossEntropy{}), "softmax_cross_entropy");
  EXPECT_EQ(OpName(SigmoidCrossEntropy{}), "sigmoid_cross_entropy");
  EXPECT_EQ(OpName(MeanSquaredError{}), "mean_squared_error");
}

TEST(OpTest, AFieldThatWasAddedLaterIsAnAbilityOfItsOwn) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(OpNeeds(Relu{}), Words{"relu"});
  EXPECT_EQ(OpNeeds(Relu{0.1}), (Words{"relu", "relu.negative_slope"}));
  EXPECT_EQ(OpNeeds(Lrn{}), Words{"lrn"});
  EXPECT_EQ(OpNeeds(Lrn{5, 1, 1, 1, LrnRegion::kWithinChannel}), (Words{"lrn", "lrn.region"}));
  EXPECT_EQ(OpNeeds(Add{}), Words{"add"});
  EXPECT_EQ(OpNeeds(Add{{1, 2}}), (Words{"add", "add.coefficients"}));
  EXPECT_EQ(OpNeeds(BatchNorm{1e-5, 0.1, false}), (Words{"batch_norm", "batch_norm.affine"}));
  EXPECT_EQ(OpNeeds(SoftmaxCrossEntropy{1, true}), Words{"softmax_cross_entropy"});
  EXPECT_EQ(OpNeeds(SoftmaxCrossEntropy{1, false, 0}),
            (Words{"softmax_cross_entropy", "softmax_cross_entropy.ignore_label"}));
  EXPECT_EQ(OpAbilities().size(), OpNames().size() + 5);
}

}  // namespace
}  // namespace tench::op_test
