// SPDX-License-Identifier: Apache-2.0
#include "workers/mxnet/array.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workers/mxnet/symbol.h"
#include "workers/mxnet/update.h"

namespace tench::mxnet::array_test {
namespace {

using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;
using testing::Pointwise;

class MxnetArrayTest : public testing::Test {
 protected:
  Array Of(std::vector<float> values) {
    Array array = *Array::Create(library, {static_cast<int64_t>(values.size())}, {});
    EXPECT_TRUE(array.Write(values).ok());
    return array;
  }
  std::vector<float> Read(const Array& array, size_t size) {
    std::vector<float> values(size);
    EXPECT_TRUE(array.Read(values).ok());
    return values;
  }
  // An update's view of `array`: a second handle of the same memory.
  Array View(const Array& array, int64_t size) { return *array.Slice(0, size); }

  const Library library = *Library::Open(Library::DefaultFile());
};

TEST_F(MxnetArrayTest, ASliceIsAViewOfTheSameMemory) {
  Array whole = Of({1, 2, 3, 4});
  Array part = *whole.Slice(1, 3);
  EXPECT_THAT(Read(part, 2), ElementsAre(2, 3));
  ASSERT_TRUE(part.Write(std::vector<float>{7, 8}).ok());
  EXPECT_THAT(Read(whole, 4), ElementsAre(1, 7, 8, 4));
}

TEST_F(MxnetArrayTest, ACopyOfTheWrongSizeIsAnErrorOfOneLine) {
  const Array array = Of({1, 2, 3});
  std::vector<float> two(2);
  const Status read = array.Read(two);
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.error().message, HasSubstr("reading an array: MXNet says: "));
  EXPECT_EQ(read.error().message.find('\n'), std::string::npos);
}

TEST_F(MxnetArrayTest, AnUnknownOperatorAndAWrongAttributeAreRefused) {
  EXPECT_EQ(library.Op("no_such_op").error().kind, ErrorKind::kUnsupported);
  SymbolMaker maker(library);
  const Symbol data = *maker.Variable("data");
  const auto made = maker.Apply("Activation", "layer7", {{"act_type", "bend"}}, {data});
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.error().message, HasSubstr("layer7: MXNet says: "));
}

TEST_F(MxnetArrayTest, ASymbolListsItsArgumentsInOrder) {
  SymbolMaker maker(library);
  const Symbol data = *maker.Variable("data"), weight = *maker.Variable("weight");
  const Symbol dense = *maker.Apply("FullyConnected", "dense",
                                    {{"num_hidden", "3"}, {"no_bias", "true"}}, {data, weight});
  EXPECT_THAT(*maker.Arguments(dense), ElementsAre("data", "weight"));
  EXPECT_THAT(*maker.AuxiliaryStates(dense), ElementsAre());
}

// m = momentum * m - lr * (g + decay * w); w += m, with MXNet's sign of the momentum.
TEST_F(MxnetArrayTest, SgdIsTheUpdateOfTheSolverAloneAndAggregated) {
  for (const int64_t aggregate : {0, 4}) {
    SCOPED_TRACE(aggregate);
    const Array weight = Of({1, 2}), gradient = Of({0.5, -1}), momentum = Of({0.1f, 0});
    std::vector<Update::Item> items(1);
    items[0].weight = View(weight, 2);
    items[0].gradient = View(gradient, 2);
    items[0].momentum = View(momentum, 2);
    items[0].lr_mult = 2;
    items[0].weight_decay = 0.1;
    Update update = *Update::Make(library, std::move(items), {.lr = 0, .momentum = 0.9}, aggregate);
    update.SetLearningRate(0.05);
    ASSERT_TRUE(update.Apply().ok());
    // Rate 0.1: m = 0.9 * 0.1 - 0.1 * (0.5 + 0.1) = 0.03 and 0 - 0.1 * (-1 + 0.2) = 0.08.
    EXPECT_THAT(Read(momentum, 2), Pointwise(FloatNear(1e-6f), {0.03f, 0.08f}));
    EXPECT_THAT(Read(weight, 2), Pointwise(FloatNear(1e-6f), {1.03f, 2.08f}));
  }
}

TEST_F(MxnetArrayTest, ClippingScalesByTheNormOfAllLearningGradients) {
  const Array weight = Of({0}), gradient = Of({3}), momentum = Of({0});
  const Array frozen = Of({0}), frozen_gradient = Of({400}), frozen_momentum = Of({0});
  std::vector<Update::Item> items(2);
  items[0].weight = View(weight, 1);
  items[0].gradient = View(gradient, 1);
  items[0].momentum = View(momentum, 1);
  items[1].weight = View(frozen, 1);
  items[1].gradient = View(frozen_gradient, 1);
  items[1].momentum = View(frozen_momentum, 1);
  items[1].lr_mult = 0;
  Solver solver;
  solver.momentum = 0;
  solver.clip_gradients = 1.5;
  Update update = *Update::Make(library, std::move(items), solver, 0);
  update.SetLearningRate(1);
  ASSERT_TRUE(update.Apply().ok());
  EXPECT_THAT(Read(weight, 1), Pointwise(FloatNear(1e-5f), {-1.5f}));
  EXPECT_THAT(Read(frozen, 1), ElementsAre(0));
}

TEST_F(MxnetArrayTest, AdamCorrectsItsFirstStepToTheFullRate) {
  const Array weight = Of({0}), gradient = Of({4}), momentum = Of({0}), momentum2 = Of({0});
  std::vector<Update::Item> items(1);
  items[0].weight = View(weight, 1);
  items[0].gradient = View(gradient, 1);
  items[0].momentum = View(momentum, 1);
  items[0].momentum2 = View(momentum2, 1);
  Solver solver;
  solver.type = SolverType::kAdam;
  solver.momentum = 0.9;
  solver.momentum2 = 0.999;
  solver.delta = 1e-8;
  Update update = *Update::Make(library, std::move(items), solver, 0);
  update.SetLearningRate(0.1);
  ASSERT_TRUE(update.Apply().ok());
  // The bias-corrected first step is lr whatever the gradient's size.
  EXPECT_THAT(Read(weight, 1), Pointwise(FloatNear(1e-5f), {-0.1f}));
  EXPECT_THAT(Read(momentum, 1), Pointwise(FloatNear(1e-5f), {0.4f}));
  EXPECT_THAT(Read(momentum2, 1), Pointwise(FloatNear(1e-5f), {0.016f}));
  EXPECT_EQ(Update::MomentumSign(solver), 1);
  EXPECT_EQ(Update::MomentumSign({}), -1);
}

}  // namespace
}  // namespace tench::mxnet::array_test
