// SPDX-License-Identifier: Apache-2.0
#include "worker/job_input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "net/builder.h"
#include "net/fill.h"

namespace tench {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

class JobInputTest : public testing::Test {
 protected:
  JobInputTest() {
    GraphBuilder b("small");
    b.Append("data", Input{InputRole::kData, {2}, {FillKind::kGaussian, 0, 1}}, {});
    b.Append("label", Input{InputRole::kLabel, {}, {FillKind::kInteger, 0, 3}}, {});
    b.Append("fc", FullyConnected{3}, {"data"}, {{FillKind::kGaussian, 0, 1}});
    b.Append("norm", BatchNorm{}, {"fc"}, {{FillKind::kConstant, 1, 0}});
    b.Append("loss", SoftmaxCrossEntropy{}, {"norm", "label"});
    job.network = b.Take();
    job.batch = 2;
    job.images = 5;
    job.seed = 9;
    graph = *Infer(job.network, job.batch);
  }

  std::string File(std::string_view name) const { return (folder.path() / name).string(); }

  Job job;
  TypedGraph graph;
  TemporaryFolder folder = *TemporaryFolder::Make("job-input-test");
};

TEST_F(JobInputTest, FillsParametersFromTheGeneratorAndMomentaWithZero) {
  const JobInput input = *JobInput::Open(job, graph);
  std::vector<float> expected(6), weight(6), momentum(6, 1.0f), running(3);
  FillTensor(9, "fc.weight", {FillKind::kGaussian, 0, 1}, 0, std::span<float>(expected));
  ASSERT_TRUE(input.Fill("fc.weight", weight).ok());
  EXPECT_EQ(weight, expected);
  ASSERT_TRUE(input.Fill("fc.weight.momentum", momentum).ok());
  EXPECT_THAT(momentum, Each(0.0f));
  ASSERT_TRUE(input.Fill("norm.running_var", running).ok());
  EXPECT_THAT(running, Each(1.0f));
  EXPECT_FALSE(input.Fill("fc.velocity", momentum).ok());
}

TEST_F(JobInputTest, KnowsASecondMomentumOnlyOfAdam) {
  const std::vector<float> zeros(3);
  ASSERT_TRUE(WriteRaw(File("m2.bin"), std::span<const float>(zeros)).ok());
  job.tensors.load = {{"fc.bias.momentum2", File("m2.bin")}};
  EXPECT_FALSE(JobInput::Open(job, graph).ok());
  job.solver.type = SolverType::kAdam;
  EXPECT_TRUE(JobInput::Open(job, graph).ok());
}

TEST_F(JobInputTest, TakesAnIgnoredLabelFromAFileAlthoughItIsNoClass) {
  const std::vector<int32_t> labels = {255, 1};
  ASSERT_TRUE(WriteRaw(File("label.bin"), std::span<const int32_t>(labels)).ok());
  job.tensors.load = {{"label", File("label.bin")}};
  EXPECT_FALSE(JobInput::Open(job, graph).ok());
  std::get<SoftmaxCrossEntropy>(job.network.layers.back().op).ignore_label = 255;
  graph = *Infer(job.network, job.batch);
  EXPECT_TRUE(JobInput::Open(job, graph).ok());
}

TEST_F(JobInputTest, PrefersTheFileThatTheJobNames) {
  const std::vector<float> bias = {1, 2, 3};
  ASSERT_TRUE(WriteRaw(File("bias.bin"), std::span<const float>(bias)).ok());
  job.tensors.load = {{"fc.bias", File("bias.bin")}};
  const JobInput input = *JobInput::Open(job, graph);
  std::vector<float> values(3);
  ASSERT_TRUE(input.Fill("fc.bias", values).ok());
  EXPECT_EQ(values, bias);
}

TEST_F(JobInputTest, RefusesAFileForATensorThatDoesNotExist) {
  job.tensors.load = {{"fc.wieght", File("x")}};
  EXPECT_THAT(JobInput::Open(job, graph).error().message, HasSubstr("did you mean 'fc.weight'?"));
}

TEST_F(JobInputTest, RefusesAFileOfAnotherSize) {
  ASSERT_TRUE(WriteRaw(File("data.bin"), std::span<const float>(std::vector<float>(3))).ok());
  job.tensors.load = {{"data", File("data.bin")}};
  EXPECT_THAT(JobInput::Open(job, graph).error().message, HasSubstr("data.bin"));
}

TEST_F(JobInputTest, RefusesLabelsThatTheNetworkDoesNotHave) {
  const std::vector<int32_t> labels = {2, 3};
  ASSERT_TRUE(WriteRaw(File("label.bin"), std::span<const int32_t>(labels)).ok());
  job.tensors.load = {{"label", File("label.bin")}};
  EXPECT_THAT(JobInput::Open(job, graph).error().message,
              HasSubstr("input 'label' has the value 3; it must be from 0 to 2"));
}

TEST_F(JobInputTest, RepeatsAFixedBatchAndCyclesThroughTheSet) {
  JobInput fixed = *JobInput::Open(job, graph);
  fixed.MakeBatchOf(0);
  const std::vector<float> first = fixed.batch()[0].f32;
  fixed.MakeBatchOf(1);
  EXPECT_EQ(fixed.batch()[0].f32, first);

  job.cycled = true;
  JobInput cycled = *JobInput::Open(job, graph);
  std::vector<std::vector<float>> batches;
  for (int64_t step = 0; step < 6; ++step) {
    cycled.MakeBatchOf(step);
    batches.push_back(cycled.batch()[0].f32);
  }
  EXPECT_EQ(batches[0], first);
  EXPECT_NE(batches[1], first);
  // Steps start at samples 0, 2, 4, 1, 3, 0 of 5.
  EXPECT_EQ(batches[5], first);
  EXPECT_EQ(batches[2][2], first[0]);
  EXPECT_EQ(batches[3][0], first[2]);
}

TEST_F(JobInputTest, PutsLoadedInputsIntoEveryBatch) {
  const std::vector<int32_t> labels = {1, 1};
  ASSERT_TRUE(WriteRaw(File("label.bin"), std::span<const int32_t>(labels)).ok());
  job.tensors.load = {{"label", File("label.bin")}};
  job.cycled = true;
  JobInput input = *JobInput::Open(job, graph);
  for (int64_t step = 0; step < 3; ++step) {
    input.MakeBatchOf(step);
    EXPECT_THAT(input.batch()[1].i32, ElementsAre(1, 1));
  }
}

}  // namespace
}  // namespace tench
