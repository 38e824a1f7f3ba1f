// SPDX-License-Identifier: Apache-2.0
#include "net/op_traits.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace tench::op_traits_test {
namespace {

using Names = std::set<std::string>;

template <size_t... Alternatives>
std::vector<Op> EveryOp(std::index_sequence<Alternatives...>) {
  return {Op(std::in_place_index<Alternatives>)...};
}

// The names of the ops, at their default values, for which `holds` is true.
Names OpsWith(bool (*holds)(const Op&)) {
  Names names;
  for (const Op& op : EveryOp(std::make_index_sequence<std::variant_size_v<Op>>())) {
    if (holds(op)) names.emplace(OpName(op));
  }
  return names;
}

template <class T>
constexpr bool InOneOfEachPair() {
  return LossOp<T> != NonLossOp<T> && ParameterOp<T> != ParameterlessOp<T> &&
         ActivationOp<T> != NonActivationOp<T> && IntegerInputOp<T> != RealInputOp<T>;
}
template <class... Ops>
constexpr bool AllInOneOfEachPair(const std::variant<Ops...>*) {
  return (InOneOfEachPair<Ops>() && ...);
}
static_assert(AllInOneOfEachPair(static_cast<const Op*>(nullptr)));
static_assert(!AnyOf<int, Relu, Tanh>);

TEST(OpTraitsTest, OnlyLossesHaveALossWeight) {
  EXPECT_EQ(OpsWith(IsLoss),
            (Names{"softmax_cross_entropy", "sigmoid_cross_entropy", "mean_squared_error"}));
  EXPECT_EQ(LossWeight(SoftmaxCrossEntropy{0.3, true}), 0.3);
  EXPECT_EQ(LossWeight(SigmoidCrossEntropy{2}), 2);
  EXPECT_EQ(LossWeight(MeanSquaredError{}), 1);
  EXPECT_EQ(LossWeight(Relu{}), 0);
}

TEST(OpTraitsTest, OnlyASoftmaxLossCanBeAuxiliary) {
  EXPECT_TRUE(IsAuxiliary(SoftmaxCrossEntropy{1, true}));
  EXPECT_EQ(OpsWith(IsAuxiliary), Names{});
}

TEST(OpTraitsTest, ActivationsAreThoseThatFrameworksFuse) {
  EXPECT_EQ(OpsWith(IsActivation), (Names{"relu", "sigmoid", "tanh"}));
  EXPECT_TRUE(IsActivation(Relu{0.1}));
}

TEST(OpTraitsTest, ANegativeSlopeMakesNoPlainRelu) {
  EXPECT_EQ(OpsWith(IsPlainRelu), Names{"relu"});
  EXPECT_FALSE(IsPlainRelu(Relu{0.1}));
}

TEST(OpTraitsTest, ExactOpsSelectOrCopyValues) {
  EXPECT_EQ(OpsWith(IsExact), (Names{"pool", "relu", "dropout", "concat", "slice", "maximum",
                                     "flatten", "reshape", "embedding"}));
  EXPECT_FALSE(IsExact(Pooling{PoolMode::kAvg}));
  EXPECT_FALSE(IsExact(Relu{0.1}));
}

TEST(OpTraitsTest, TheGradientsOfFiveOpsReadTheOutput) {
  EXPECT_EQ(OpsWith(ReadsOutput), (Names{"relu", "sigmoid", "tanh", "softmax", "lstm"}));
}

}  // namespace
}  // namespace tench::op_traits_test
