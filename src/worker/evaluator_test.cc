// SPDX-License-Identifier: Apache-2.0
#include "worker/evaluator.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/file.h"
#include "net/builder.h"
#include "worker/fake_adapter.h"

namespace tench::evaluator_test {
namespace {

// Its logits are its parameter, which a training changes.
class LogitAdapter final : public FakeAdapter {
 public:
  Status Outputs(std::span<const std::string> layers, const TensorSink& sink) override {
    std::vector<float> logits;
    for (int row = 0; row < 4; ++row)
      logits.insert(logits.end(), values["fc.bias"].begin(), values["fc.bias"].end());
    return sink(layers[0], logits);
  }
};

class EvaluatorTest : public testing::Test {
 protected:
  // Five rows of labels 0, 0, 0, 1, 2: the batch of four leaves an incomplete one.
  EvaluatorTest() {
    EXPECT_TRUE(
        WriteFileAtomically(folder.path() / "test.csv", "1,2,0\n3,4,0\n5,6,0\n7,8,1\n9,10,2\n")
            .ok());
    GraphBuilder b("small");
    b.Append("data", Input{InputRole::kData, {2}, {FillKind::kGaussian, 0, 1}}, {});
    b.Append("label", Input{InputRole::kLabel, {}, {FillKind::kInteger, 0, 3}}, {});
    b.Append("fc", FullyConnected{3}, {"data"}, {{FillKind::kGaussian, 0, 1}});
    b.Append("loss", SoftmaxCrossEntropy{}, {"fc", "label"});
    job.network = b.Take();
    job.batch = 4;
    job.evaluation.data = "csv:" + (folder.path() / "test.csv").string();
  }
  TemporaryFolder folder = *TemporaryFolder::Make("evaluator-test-");
  Job job;
};

TEST_F(EvaluatorTest, EverySampleCountsOnceAndTheTrainingsParametersDecide) {
  auto evaluator = Evaluator::Make(job, std::make_unique<LogitAdapter>());
  ASSERT_TRUE(evaluator.ok()) << evaluator.error().message;
  FakeAdapter training;
  training.values["fc.weight"].assign(6, 0);
  training.values["fc.bias"] = {9, 5, 1};
  const auto first = evaluator->Run(training, 7);
  ASSERT_TRUE(first.ok()) << first.error().message;
  EXPECT_EQ(first->step, 7);
  EXPECT_EQ(first->samples, 5);
  EXPECT_DOUBLE_EQ(*first->top1, 0.6);
  EXPECT_FALSE(first->top5.has_value());  // of three classes
  training.values["fc.bias"] = {1, 5, 9};
  EXPECT_DOUBLE_EQ(*evaluator->Run(training, 8)->top1, 0.2);
}

TEST_F(EvaluatorTest, RefusesASplitThatDoesNotFit) {
  ASSERT_TRUE(WriteFileAtomically(folder.path() / "test.csv", "1,2,3,0\n").ok());
  EXPECT_FALSE(Evaluator::Make(job, std::make_unique<LogitAdapter>()).ok());
}

}  // namespace
}  // namespace tench::evaluator_test
