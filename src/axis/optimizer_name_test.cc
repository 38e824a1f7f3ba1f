// SPDX-License-Identifier: Apache-2.0
#include "axis/optimizer_name.h"

#include <gtest/gtest.h>

namespace tench::optimizer_name_test {
namespace {

std::string ErrorOf(std::string_view text) {
  const auto optimizer = ParseOptimizer(text);
  EXPECT_FALSE(optimizer.ok()) << text;
  return optimizer.ok() ? "" : optimizer.error().message;
}

TEST(OptimizerNameTest, ANameWithoutSettingsHasTheDefaults) {
  for (const std::string& type : OptimizerTypes()) {
    OptimizerName expected;
    expected.type = type;
    EXPECT_EQ(*ParseOptimizer(type), expected);
    EXPECT_EQ(ToString(expected), type);
  }
}

TEST(OptimizerNameTest, EverySettingIsReadAndPrintedInOneOrder) {
  const OptimizerName adam =
      *ParseOptimizer("adam,regularization=l1,clip_gradients=35,delta=1e-4,momentum2=0.99");
  EXPECT_EQ(adam.momentum2, 0.99);
  EXPECT_EQ(adam.delta, 1e-4);
  EXPECT_EQ(adam.clip_gradients, 35);
  EXPECT_TRUE(adam.l1);
  EXPECT_EQ(ToString(adam), "adam,momentum2=0.99,delta=0.0001,clip_gradients=35,regularization=l1");
  EXPECT_EQ(*ParseOptimizer(ToString(adam)), adam);
  EXPECT_EQ(ParseOptimizer("rmsprop,rms_decay=0.9")->rms_decay, 0.9);
}

TEST(OptimizerNameTest, SettingsAtTheirDefaultAreNotPartOfTheName) {
  EXPECT_EQ(ToString(*ParseOptimizer("adam,momentum2=0.999,clip_gradients=-0,regularization=l2")),
            "adam");
}

TEST(OptimizerNameTest, WrongNamesAreErrorsThatNameThePart) {
  EXPECT_EQ(ErrorOf("adagard"),
            "'adagard' is not one of sgd, nesterov, adam, rmsprop, adagrad, adadelta; did you mean "
            "'adagrad'?");
  EXPECT_EQ(ErrorOf("sgd,delta=0.1"), "sgd has no delta");
  EXPECT_EQ(ErrorOf("rmsprop,momentum2=0.1"), "rmsprop has no momentum2");
  EXPECT_EQ(ErrorOf("adam,momentum3=0.1"),
            "unknown setting 'momentum3'; did you mean 'momentum2'?");
  EXPECT_EQ(ErrorOf("adam,delta=0"), "delta: '0' is not a number from 1e-30 to 1");
  EXPECT_EQ(ErrorOf("adam,momentum2=nan"), "momentum2: 'nan' is not a number from 0 to 1");
  EXPECT_EQ(ErrorOf("sgd,regularization=l3"), "regularization: 'l3' is neither l1 nor l2");
  EXPECT_EQ(ErrorOf("sgd,l1"), "'l1' is not of the form KEY=VALUE");
  ErrorOf("");
  ErrorOf("SGD");
}

}  // namespace
}  // namespace tench::optimizer_name_test
