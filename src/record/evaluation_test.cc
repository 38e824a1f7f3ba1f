// SPDX-License-Identifier: Apache-2.0
#include "record/evaluation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "record/target.h"

namespace tench::evaluation_test {
namespace {

Evaluation At(int64_t step, double loss, std::optional<double> top1) {
  return {step, 1000, loss, top1, top1, 5'000, step * 1'000};
}

TEST(EvaluationTest, AListComesBackWhole) {
  const std::vector<Evaluation> list = {At(0, 2.302585092994046, 0.1),
                                        At(62, std::numeric_limits<double>::infinity(), {})};
  const auto decoded = DecodeEvaluations(EncodeEvaluations(list));
  ASSERT_TRUE(decoded.ok()) << decoded.error().message;
  EXPECT_EQ(*decoded, list);
  EXPECT_EQ(EncodeEvaluations({}), "");
  EXPECT_TRUE(DecodeEvaluations("")->empty());
}

TEST(EvaluationTest, RefusesAnythingElse) {
  for (const char* text :
       {"{}", "[1]", "[[1,2]]", "[[1,2,3,4,\"x\",0,0,0]]", "[[1.5,2,3,4,1,0,0,0]]"})
    EXPECT_FALSE(DecodeEvaluations(text).ok()) << text;
}

TEST(TargetTest, ReadsAccuracyAndLoss) {
  EXPECT_EQ(ToString(*ParseTarget("accuracy>=98%")), "accuracy >= 0.98");
  EXPECT_EQ(ToString(*ParseTarget(" loss <= 0.1 ")), "loss <= 0.1");
  EXPECT_FALSE(ParseTarget("")->any());
  for (const char* text :
       {"accuracy", "accuracy <= 0.9", "loss >= 1", "accuracy >= 98", "loss <= 0", "loss <= x",
        "top1 >= 0.5", "accuracy >= 0", "accuracy >= nan"})
    EXPECT_FALSE(ParseTarget(text).ok()) << text;
}

TEST(TargetTest, IsReachedAtItsValue) {
  const Target accuracy = *ParseTarget("accuracy >= 0.98"), loss = *ParseTarget("loss <= 0.1");
  EXPECT_TRUE(accuracy.ReachedBy(At(1, 9, 0.98)));
  EXPECT_FALSE(accuracy.ReachedBy(At(1, 0, 0.979)));
  EXPECT_FALSE(accuracy.ReachedBy(At(1, 0, {})));
  EXPECT_TRUE(loss.ReachedBy(At(1, 0.1, {})));
  EXPECT_FALSE(loss.ReachedBy(At(1, std::nan(""), {})));
  EXPECT_FALSE(Target().ReachedBy(At(1, 0, 1.0)));
}

}  // namespace
}  // namespace tench::evaluation_test
