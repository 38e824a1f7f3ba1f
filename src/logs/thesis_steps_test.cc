// SPDX-License-Identifier: Apache-2.0
#include "logs/thesis_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace tench::thesis_steps_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string ErrorOf(const auto& result) {
  return result.ok() ? "no error" : result.error().message;
}

TEST(ThesisStepsTest, EveryNetworkModeAndBatchIsATraining) {
  const auto read = ReadThesisSteps(
      "#network,mode,batch,step,loss,time\r\n"
      "alexnet,CPU,001,0,6.91,0.5\r\nalexnet,CPU,001,1,nan,0.25\r\n"
      "alexnet,GPU,001,1,6.5,0.125\r\n",
      "loss_lsc5_caffe.csv");
  ASSERT_TRUE(read.ok()) << ErrorOf(read);
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ((*read)[0].network, "alexnet");
  EXPECT_EQ((*read)[0].batch, 1);
  EXPECT_THAT((*read)[0].log.step_ns, ElementsAre(500'000'000, 250'000'000));
  EXPECT_TRUE(std::isnan((*read)[0].log.loss[1]));
  EXPECT_EQ((*read)[1].mode, "GPU");
  EXPECT_EQ((*read)[1].log.first_step, 1);
}

TEST(ThesisStepsTest, MistakesNameTheLine) {
  const auto error = [](const char* text) { return ErrorOf(ReadThesisSteps(text, "x.csv")); };
  EXPECT_THAT(error("alexnet,CPU,001,0.45\n"), HasSubstr("x.csv:1: 4 columns"));
  EXPECT_THAT(error("a,TPU,1,0,1,1\n"), HasSubstr("a mode other than CPU and GPU"));
  EXPECT_THAT(error("a,CPU,0,0,1,1\n"), HasSubstr("no batch size"));
  EXPECT_THAT(error("a,CPU,1,0,1,-1\n"), HasSubstr("no time"));
  EXPECT_THAT(error("a,CPU,1,1,1,1\na,CPU,1,1,1,1\n"), HasSubstr("x.csv:2: step 1 after step 1"));
  EXPECT_THAT(error("a,CPU,1,0,1,1\nb,CPU,1,0,1,1\na,CPU,1,5,1,1\n"),
              HasSubstr("x.csv:3: a CPU batch 1 occurs twice"));
  EXPECT_THAT(error("#network,mode,batch,avg_time\n"), HasSubstr("times_*.csv has not"));
}

TEST(ThesisStepsTest, ANameHasTheMachineAndTheLibrary) {
  const auto name = ParseThesisName("loss_my_box_caffe.csv");
  ASSERT_TRUE(name.ok());
  EXPECT_EQ(name->machine, "my_box");
  EXPECT_EQ(name->library, "caffe");
  for (const char* wrong :
       {"times_a_b.csv", "loss_a.csv", "loss__b.csv", "loss_a_.csv", "loss_a_b.txt"})
    EXPECT_FALSE(ParseThesisName(wrong).ok()) << wrong;
}

}  // namespace
}  // namespace tench::thesis_steps_test
