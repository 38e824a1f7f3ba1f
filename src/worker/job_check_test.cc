// SPDX-License-Identifier: Apache-2.0
#include "worker/job_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/builder.h"
#include "worker/fake_adapter.h"
#include "worker/tensor_output.h"

namespace tench::job_check_test {
namespace {

using testing::HasSubstr;

Graph WithTanh(bool tanh) {
  GraphBuilder b("small");
  b.Append("data", Input{InputRole::kData, {3}, {FillKind::kGaussian, 0, 1}}, {});
  b.Append("target", Input{InputRole::kData, {2}, {FillKind::kGaussian, 0, 1}}, {});
  b.Append("fc", FullyConnected{2}, {"data"});
  if (tanh) b.Append("squash", Tanh{}, {"fc"});
  b.Append("loss", MeanSquaredError{}, {tanh ? "squash" : "fc", "target"});
  return b.Take();
}

class JobCheckTest : public testing::Test {
 protected:
  JobCheckTest() {
    job.network = WithTanh(false);
    job.batch = 4;
  }
  Status Check() { return CheckJob(job, *Infer(job.network, job.batch), FakeAdapter().Describe()); }
  void ExpectUnsupported(std::string_view part) {
    const Status status = Check();
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().kind, ErrorKind::kUnsupported);
    EXPECT_THAT(status.error().message, HasSubstr(part));
  }
  Job job;
};

TEST_F(JobCheckTest, AcceptsWhatTheWorkerDescribes) {
  job.options = {{"layout", "nhwc"}, {"note", "free text"}};
  EXPECT_TRUE(Check().ok());
}

TEST_F(JobCheckTest, NamesTheLayerWhoseOpIsMissing) {
  job.network = WithTanh(true);
  ExpectUnsupported("layer 'squash': fake has no tanh");
}

TEST_F(JobCheckTest, NamesTheLayerThatUsesAFieldWhichTheWorkerDoesNotKnow) {
  GraphBuilder b("small");
  b.Append("data", Input{InputRole::kData, {2}, {FillKind::kGaussian, 0, 1}}, {});
  b.Append("fc", FullyConnected{2}, {"data"});
  b.Append("leaky", Relu{0.1}, {"fc"});
  b.Append("loss", MeanSquaredError{}, {"leaky", "data"});
  job.network = b.Take();
  ExpectUnsupported("layer 'leaky': fake has no relu.negative_slope");
}

TEST_F(JobCheckTest, RefusesAnUpdateThatTheWorkerLacksOnlyWhereOneIsMade) {
  job.solver.type = SolverType::kAdam;
  ExpectUnsupported("fake has no update 'adam' (it has: sgd)");
  job.solver = {};
  job.solver.clip_gradients = 1;
  ExpectUnsupported("fake has no update 'clip_gradients'");
  job.phase = Phase::kGradient;
  EXPECT_TRUE(Check().ok());
}

TEST_F(JobCheckTest, RefusesUnknownDeviceAndPrecision) {
  job.device = "gpu";
  ExpectUnsupported("fake has no device 'gpu:0' (it has: cpu)");
  job.device = "cpu";
  job.precision = "bf16";
  ExpectUnsupported("precision 'bf16'");
}

TEST_F(JobCheckTest, NamesTheNearestOptionAndChoice) {
  job.options = {{"layuot", "nchw"}};
  ExpectUnsupported("did you mean 'layout'?");
  job.options = {{"layout", "nhw"}};
  ExpectUnsupported("choices: nchw, nhwc");
}

TEST_F(JobCheckTest, RefusesTensorsWithoutAFolderAndGradientsWithoutBackward) {
  job.tensors.gradients = true;
  EXPECT_THAT(Check().error().message, HasSubstr("'folder' is empty"));
  job.tensors.folder = "/tmp/x";
  EXPECT_TRUE(Check().ok());
  job.phase = Phase::kForward;
  EXPECT_THAT(Check().error().message, HasSubstr("no gradients"));
}

TEST_F(JobCheckTest, OfATimedBuildOnlyPhaseGradientHasGradientsAndNoneHasOutputs) {
  job.tensors.folder = "/tmp/x";
  job.tensors.observe = false;
  job.tensors.parameters = job.tensors.state = true;
  EXPECT_TRUE(Check().ok());
  job.tensors.gradients = true;
  job.phase = Phase::kTrain;
  EXPECT_THAT(Check().error().message, HasSubstr("in phase gradient only"));
  job.phase = Phase::kGradient;
  EXPECT_TRUE(Check().ok());
  job.tensors.outputs = {"fc"};
  EXPECT_THAT(Check().error().message, HasSubstr("an observing build only"));
}

TEST_F(JobCheckTest, TurnsEpochsIntoWholeBatches) {
  job.budget.epochs = 10;
  job.images = 1024;
  job.batch = 100;
  EXPECT_EQ(ResolveBudget(job)->fixed_steps, 100);
  job.batch = 1024;
  EXPECT_EQ(ResolveBudget(job)->fixed_steps, 10);
  job.batch = 1025;
  EXPECT_THAT(ResolveBudget(job).error().message,
              HasSubstr("an epoch of 1024 images has no whole batch of 1025"));
  job.budget.fixed_steps = 5;
  EXPECT_FALSE(ResolveBudget(job).ok());
}

TEST_F(JobCheckTest, ResolvesTheLayersWhoseOutputIsWanted) {
  const TypedGraph graph = *Infer(job.network, job.batch);
  EXPECT_THAT(*ResolveOutputs(graph, {"*"}), testing::ElementsAre("fc", "loss"));
  EXPECT_THAT(*ResolveOutputs(graph, {"data", "fc"}), testing::ElementsAre("data", "fc"));
  EXPECT_THAT(ResolveOutputs(graph, {"fcc"}).error().message, HasSubstr("did you mean 'fc'?"));
}

}  // namespace
}  // namespace tench::job_check_test
