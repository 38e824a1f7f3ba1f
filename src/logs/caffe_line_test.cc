// SPDX-License-Identifier: Apache-2.0
#include "logs/caffe_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace tench::caffe_line_test {
namespace {

using Kind = CaffeLine::Kind;

CaffeLine Parse(const std::string& message,
                const std::string& prefix = "I1115 23:02:19.619979 29467 solver.cpp:239] ") {
  const auto line = ParseCaffeLine(prefix + message);
  EXPECT_TRUE(line.ok() && line->has_value()) << message;
  CaffeLine parsed = **line;
  parsed.text = {};  // a view of the temporary text
  return parsed;
}

TEST(CaffeLineTest, ReadsTheLinesOfATraining) {
  const CaffeLine iteration =
      Parse("Iteration 20 (0.684932 iter/s, 29.2s/20 iters), loss = 6.02856");
  EXPECT_EQ(iteration.kind, Kind::kIteration);
  EXPECT_EQ(iteration.number, 20);
  EXPECT_EQ(iteration.iterations, 20);
  EXPECT_DOUBLE_EQ(*iteration.seconds, 29.2);
  EXPECT_DOUBLE_EQ(iteration.value, 6.02856);
  EXPECT_EQ(Parse("Iteration 5, loss = 0.00513947").kind, Kind::kBareIteration);
  EXPECT_EQ(Parse("Iteration 0, lr = 0.01").kind, Kind::kRate);
  EXPECT_EQ(Parse("Iteration 0, Testing net (#0)").kind, Kind::kTestBegin);
  EXPECT_EQ(Parse("    Test net output #0: accuracy = 0.1").kind, Kind::kTestOutput);
  EXPECT_EQ(Parse("Solving AlexNet").kind, Kind::kStart);
  EXPECT_EQ(Parse("Creating training net from net file: a").kind, Kind::kOther);
}

TEST(CaffeLineTest, ForgivesTheFirstRateThatIsGarbage) {
  EXPECT_EQ(Parse("Iteration 0 (-3.32108e-43 iter/s, 1.221s/1 iters), loss = 6.75805").kind,
            Kind::kIteration);
  EXPECT_EQ(Parse("Iteration 0 (-9.1e-400 iter/s, 1.221s/1 iters), loss = 6.75805").kind,
            Kind::kIteration);
  EXPECT_EQ(Parse("Iteration 0 (-nan iter/s, 0s/1 iters), loss = 6.75805").kind, Kind::kIteration);
}

TEST(CaffeLineTest, ReadsALossThatIsNoNumber) {
  EXPECT_TRUE(std::isnan(Parse("Iteration 3 (1 iter/s, 1s/1 iters), loss = nan").value));
  EXPECT_TRUE(std::isnan(Parse("Iteration 3 (1 iter/s, 1s/1 iters), loss = -nan").value));
  EXPECT_EQ(Parse("Iteration 3 (1 iter/s, 1s/1 iters), loss = inf").value, INFINITY);
}

TEST(CaffeLineTest, ReadsTheLinesOfTestAndTime) {
  const auto score =
      ParseCaffeLine("I20261115 22:57:49.957798 28018 caffe.cpp:312] Batch 7, loss/a = 2.30259");
  ASSERT_TRUE(score.ok() && *score);
  EXPECT_EQ((*score)->kind, Kind::kScore);
  EXPECT_EQ((*score)->number, 7);
  EXPECT_EQ((*score)->text, "loss/a");
  EXPECT_DOUBLE_EQ((*score)->value, 2.30259);
  const CaffeLine timed = Parse("Iteration: 2 forward-backward time: 1078 ms.");
  EXPECT_EQ(timed.kind, Kind::kTimed);
  EXPECT_EQ(timed.number, 2);
  EXPECT_EQ(timed.value, 1078);
}

TEST(CaffeLineTest, KnowsTheLastWordsOfCaffe) {
  const auto line = ParseCaffeLine(
      "F1115 22:57:49.957798 28018 syncedmem.cpp:71] Check failed: error == cudaSuccess (2 vs. 0)  "
      "out of memory");
  ASSERT_TRUE(line.ok() && *line);
  EXPECT_EQ((*line)->kind, Kind::kFatal);
  EXPECT_EQ((*line)->text, "Check failed: error == cudaSuccess (2 vs. 0)  out of memory");
}

TEST(CaffeLineTest, ComplainsOfALineThatGoesOnOtherwise) {
  for (const char* message :
       {"Iteration x, loss = 1", "Iteration 3 (1 iter/s, 1s/0 iters), loss = 1",
        "Iteration 3 (1 iter/s, 1s/1 iters), loss = 1x",
        "Iteration 3, loss = ", "Iteration: 1 forward-backward time: ms.", "Batch 1, x"}) {
    const auto line =
        ParseCaffeLine(std::string("I1115 23:02:19.619979 29467 solver.cpp:239] ") + message);
    ASSERT_FALSE(line.ok()) << message;
    EXPECT_THAT(line.error().message, testing::HasSubstr("unexpected form of a Caffe log line"));
  }
}

}  // namespace
}  // namespace tench::caffe_line_test
