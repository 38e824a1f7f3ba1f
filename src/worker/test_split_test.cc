// SPDX-License-Identifier: Apache-2.0
#include "worker/test_split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/file.h"
#include "net/builder.h"

namespace tench::test_split_test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(TestSplitTest, ScoresASampleByTheClassesThatAreNotBelowItsLabel) {
  // Six classes; the label of every row is 0.
  const std::vector<float> logits = {
      5,    1,    1,    1, 1, 1,  // the largest
      1,    5,    0,    0, 0, 0,  // the second
      2,    2,    0,    0, 0, 0,  // equal to another class
      0,    1,    2,    3, 4, 5,  // the last
      kNan, 0,    0,    0, 0, 0,  // undefined
      kNan, kNan, kNan, 0, 0, 0,  // beyond `samples`
  };
  const std::vector<int32_t> labels(6, 0);
  ClassScore score;
  AddScores(logits, 6, labels, 5, {}, score);
  EXPECT_EQ(score.counted, 5);
  EXPECT_EQ(score.top1, 1);
  EXPECT_EQ(score.top5, 3);
  EXPECT_TRUE(std::isnan(score.loss));
}

TEST(TestSplitTest, TheLossIsTheMeanCrossEntropyAndDoesNotOverflow) {
  const std::vector<float> logits = {0, 0, 1000, 0, 0, 1000};
  const std::vector<int32_t> labels = {1, 0, 1};
  ClassScore score;
  AddScores(logits, 2, labels, 3, {}, score);
  EXPECT_EQ(score.counted, 3);
  EXPECT_NEAR(score.loss, std::log(2), 1e-12);
  ClassScore without_ones;
  AddScores(logits, 2, labels, 3, 1, without_ones);
  EXPECT_EQ(without_ones.counted, 1);
}

// Five rows of labels 0, 0, 0, 1, 2.
Job MakeJob(const TemporaryFolder& folder) {
  EXPECT_TRUE(
      WriteFileAtomically(folder.path() / "test.csv", "1,2,0\n3,4,0\n5,6,0\n7,8,1\n9,10,2\n").ok());
  Job job;
  job.batch = 4;
  job.evaluation.data = "csv:" + (folder.path() / "test.csv").string();
  return job;
}

Input TwoNumbers() { return {InputRole::kData, {2}, {FillKind::kGaussian, 0, 1}}; }

TEST(TestSplitTest, TheIncompleteLastBatchCountsItsSamplesOnly) {
  const TemporaryFolder folder = *TemporaryFolder::Make("test-split-");
  Job job = MakeJob(folder);
  GraphBuilder b("small");
  b.Append("data", TwoNumbers(), {});
  b.Append("label", Input{InputRole::kLabel, {}, {FillKind::kInteger, 0, 3}}, {});
  b.Append("fc", FullyConnected{3}, {"data"}, {{FillKind::kGaussian, 0, 1}});
  b.Append("loss", SoftmaxCrossEntropy{}, {"fc", "label"});
  job.network = b.Take();
  auto split = TestSplit::Open(job);
  ASSERT_TRUE(split.ok()) << split.error().message;
  EXPECT_EQ(split->logits(), "fc");
  ASSERT_EQ(split->batches(), 2);
  const std::vector<float> all_zero_class = {9, 0, 0, 9, 0, 0, 9, 0, 0, 9, 0, 0};
  for (int pass = 0; pass < 2; ++pass) {  // Begin forgets the first
    split->Begin();
    for (int64_t index = 0; index < 2; ++index) {
      ASSERT_TRUE(split->Read(index).ok());
      ASSERT_TRUE(split->Add(1, all_zero_class).ok());
    }
    EXPECT_EQ(split->Scores().samples, 5);
    EXPECT_DOUBLE_EQ(*split->Scores().top1, 0.6);
    EXPECT_FALSE(split->Scores().top5.has_value());  // of three classes
  }
  EXPECT_THAT(split->Add(1, std::vector<float>(3)).error().message,
              testing::HasSubstr("'fc' has 3 values"));
}

TEST(TestSplitTest, WithoutASoftmaxLossTheMeanOfTheBatchesCounts) {
  const TemporaryFolder folder = *TemporaryFolder::Make("test-split-");
  Job job = MakeJob(folder);
  ASSERT_TRUE(
      WriteFileAtomically(folder.path() / "test.csv", "1,2,0\n3,4,0\n5,6,0\n7,8,0\n9,1,0\n").ok());
  GraphBuilder b("code");
  b.Append("data", TwoNumbers(), {});
  b.Append("fc", FullyConnected{2}, {"data"}, {{FillKind::kGaussian, 0, 1}});
  b.Append("loss", MeanSquaredError{}, {"fc", "data"});
  job.network = b.Take();
  auto split = TestSplit::Open(job);
  ASSERT_TRUE(split.ok()) << split.error().message;
  EXPECT_EQ(split->logits(), "");
  split->Begin();
  ASSERT_TRUE(split->Add(3, {}).ok());
  ASSERT_TRUE(split->Add(1, {}).ok());
  EXPECT_DOUBLE_EQ(split->Scores().loss, 2);
  EXPECT_FALSE(split->Scores().top1.has_value());
}

}  // namespace
}  // namespace tench::test_split_test
