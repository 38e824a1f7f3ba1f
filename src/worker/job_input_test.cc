// SPDX-License-Identifier: Apache-2.0
#include "worker/job_input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/file.h"
#include "net/builder.h"
#include "net/fill.h"

namespace tench::job_input_test {
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
  ASSERT_TRUE(fixed.MakeBatchOf(0).ok());
  const std::vector<float> first = fixed.batch()[0].f32;
  ASSERT_TRUE(fixed.MakeBatchOf(1).ok());
  EXPECT_EQ(fixed.batch()[0].f32, first);

  job.cycled = true;
  JobInput cycled = *JobInput::Open(job, graph);
  std::vector<std::vector<float>> batches;
  for (int64_t step = 0; step < 6; ++step) {
    ASSERT_TRUE(cycled.MakeBatchOf(step).ok());
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
    ASSERT_TRUE(input.MakeBatchOf(step).ok());
    EXPECT_THAT(input.batch()[1].i32, ElementsAre(1, 1));
  }
}

// Samples 0 … 4 of 1x1x2 with the labels 0, 1, 2, 0, 1; sample n is {10 · n, 10 · n + 1}.
class RealJobInputTest : public JobInputTest {
 protected:
  RealJobInputTest() {
    std::string table;
    for (int n = 0; n < 5; ++n) table += fmt::format("{},{},{}\n", 10 * n, 10 * n + 1, n % 3);
    Check(WriteFileAtomically(File("table.csv"), table).ok(), "the table cannot be written");
    job.data = "csv:" + File("table.csv") + ",shuffle=no";
  }
};

TEST_F(RealJobInputTest, BatchesAreTheSamplesOfTheFiles) {
  JobInput fixed = *JobInput::Open(job, graph);
  ASSERT_TRUE(fixed.MakeBatchOf(3).ok());
  EXPECT_THAT(fixed.batch()[0].f32, ElementsAre(0, 1, 10, 11));
  EXPECT_THAT(fixed.batch()[1].i32, ElementsAre(0, 1));
  job.cycled = true;
  JobInput cycled = *JobInput::Open(job, graph);
  ASSERT_TRUE(cycled.MakeBatchOf(2).ok());
  EXPECT_THAT(cycled.batch()[0].f32, ElementsAre(40, 41, 0, 1));
  EXPECT_THAT(cycled.batch()[1].i32, ElementsAre(1, 0));
  job.images = 3;
  JobInput few = *JobInput::Open(job, graph);
  ASSERT_TRUE(few.MakeBatchOf(1).ok());
  EXPECT_THAT(few.batch()[1].i32, ElementsAre(2, 0));
}

TEST_F(RealJobInputTest, EveryEpochHasAnOrderOfItsOwn) {
  job.data = "csv:" + File("table.csv");
  job.cycled = true;
  job.batch = 5;
  graph = *Infer(job.network, job.batch);
  JobInput input = *JobInput::Open(job, graph);
  std::set<std::vector<float>> orders;
  for (int64_t step = 0; step < 6; ++step) {
    ASSERT_TRUE(input.MakeBatchOf(step).ok());
    orders.insert(input.batch()[0].f32);
  }
  EXPECT_GT(orders.size(), 3u);
}

TEST_F(RealJobInputTest, RefusesDataThatChangedOrDoesNotFit) {
  job.data += ",fingerprint=0123456789abcdef";
  EXPECT_THAT(JobInput::Open(job, graph).error().message, HasSubstr("its files have changed"));
  job.data = "csv:" + File("absent.csv");
  EXPECT_THAT(JobInput::Open(job, graph).error().message, HasSubstr("absent.csv"));
  ASSERT_TRUE(WriteFileAtomically(File("table.csv"), "1,2,3\n4,5,6\n").ok());
  job.data = "csv:" + File("table.csv") + ",shuffle=no";
  JobInput input = *JobInput::Open(job, graph);
  EXPECT_THAT(input.MakeBatchOf(0).error().message,
              HasSubstr("table.csv: offset 0: the label 3 is not from 0 to 2"));
  job.labels = 2;
  EXPECT_THAT(JobInput::Open(job, graph).error().message, HasSubstr("synthetic data only"));
}

}  // namespace
}  // namespace tench::job_input_test
