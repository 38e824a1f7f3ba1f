// SPDX-License-Identifier: Apache-2.0
#include "workers/tensorflow/adapter.h"
#include "worker/adapter_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"
#include "net/builder.h"
#include "workers/tensorflow/c_api.h"

namespace tench::tensorflow::adapter_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Graph SmallNetwork() {
  GraphBuilder b("small");
  b.Append("data", Input{InputRole::kData, {1, 8, 8}, {FillKind::kGaussian, 0, 1}}, {});
  b.Append("label", Input{InputRole::kLabel, {}, {FillKind::kInteger, 0, 3}}, {});
  b.Append("conv1", Convolution{4, {3, 3}}, {"data"}, {{FillKind::kXavier, 0, 0}});
  b.Append("relu1", Relu{}, {"conv1"});
  b.Append("conv2", Convolution{4, {3, 3}}, {"relu1"}, {{FillKind::kXavier, 0, 0}});
  b.Append("flat", Flatten{}, {"conv2"});
  b.Append("drop", Dropout{0.25}, {"flat"});
  b.Append("fc", FullyConnected{3}, {"drop"}, {{FillKind::kXavier, 0, 0}});
  b.Append("loss", SoftmaxCrossEntropy{}, {"fc", "label"});
  return b.Take();
}

BuildOptions Options(Phase phase) {
  BuildOptions options;
  options.phase = phase;
  return options;
}

bool HasKernel(const std::vector<ProfileRow>& rows, const std::string& layer,
               const std::string& part) {
  return std::any_of(rows.begin(), rows.end(), [&](const ProfileRow& row) {
    return row.layer == layer && row.kernel.find(part) != std::string::npos;
  });
}

bool HasDirection(const std::vector<ProfileRow>& rows, const std::string& layer,
                  const std::string& direction) {
  return std::any_of(rows.begin(), rows.end(), [&](const ProfileRow& row) {
    return row.layer == layer && row.direction == direction;
  });
}

// No node reads the gradients in this phase, so that Grappler would prune the backward pass.
TEST(TensorFlowAdapterTest, RunsTheWholeBackwardPassInPhaseGradient) {
  const std::unique_ptr<Adapter> adapter = MakeTensorFlowAdapter();
  BuildOptions options = Options(Phase::kGradient);
  options.profile = true;
  ASSERT_TRUE(RunGraph(*adapter, SmallNetwork(), 4, options, 3).ok());
  const std::vector<ProfileRow> rows = *adapter->Profile();
  EXPECT_TRUE(HasKernel(rows, "conv1", "BackpropFilter"));
  EXPECT_TRUE(HasKernel(rows, "conv2", "BackpropFilter"));
  EXPECT_TRUE(HasKernel(rows, "conv2", "BackpropInput"));
  EXPECT_FALSE(HasKernel(rows, "conv1", "BackpropInput"))
      << "nobody needs the gradient by the data";
  EXPECT_FALSE(HasKernel(rows, "conv1", "Momentum"));
  EXPECT_TRUE(HasKernel(rows, "fc", "BiasAddGrad"));
  EXPECT_TRUE(HasDirection(rows, "fc", "backward_weights"));
  options.profile = false;
  EXPECT_TRUE(adapter->Build(*Infer(SmallNetwork(), 4), options)->gradients_materialized);
  EXPECT_FALSE(
      adapter->Build(*Infer(SmallNetwork(), 4), Options(Phase::kTrain))->gradients_materialized);
}

TEST(TensorFlowAdapterTest, ProfilesEveryDirectionOfATrainingStep) {
  const std::unique_ptr<Adapter> adapter = MakeTensorFlowAdapter();
  BuildOptions options = Options(Phase::kTrain);
  options.profile = true;
  ASSERT_TRUE(RunGraph(*adapter, SmallNetwork(), 4, options, 3).ok());
  std::map<std::string, int64_t> calls;
  const std::vector<ProfileRow> rows = *adapter->Profile();
  for (const ProfileRow& row : rows) {
    EXPECT_GE(row.time_ns, 0);
    if (row.layer == "conv2" && row.kernel.find("Conv2D") != std::string::npos) {
      calls[row.direction] += row.calls;
      EXPECT_GT(row.flops, 0);
    }
    if (row.layer == "conv2" && row.kernel == "ResourceApplyKerasMomentum")
      calls[row.direction] = std::max(calls[row.direction], row.calls);
  }
  EXPECT_EQ(calls,
            (std::map<std::string, int64_t>{
                {"forward", 3}, {"backward_data", 3}, {"backward_weights", 3}, {"update", 3}}));
}

TEST(TensorFlowAdapterTest, HasNoProfileUnlessItWasAskedFor) {
  const std::unique_ptr<Adapter> adapter = MakeTensorFlowAdapter();
  ASSERT_TRUE(RunGraph(*adapter, SmallNetwork(), 4, Options(Phase::kForward), 1).ok());
  EXPECT_FALSE(adapter->Profile().ok());
}

TEST(TensorFlowAdapterTest, TakesInterOpThreadsAsAnOption) {
  const std::unique_ptr<Adapter> adapter = MakeTensorFlowAdapter();
  const TypedGraph graph = *Infer(SmallNetwork(), 4);
  BuildOptions options = Options(Phase::kTrain);
  options.threads = 2;
  EXPECT_EQ(adapter->Build(graph, options)->choices.at("inter_op"), "2");
  options.options = {{"inter_op", "caller"}};
  EXPECT_EQ(adapter->Build(graph, options)->choices.at("inter_op"), "caller");
  options.options = {{"inter_op", "none"}};
  const auto refused = adapter->Build(graph, options);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kUnsupported);
  EXPECT_THAT(refused.error().message, HasSubstr("inter_op"));
}

TEST(TensorFlowAdapterTest, ConstantWeightsComputeTheSameAndFollowNewWeights) {
  const std::unique_ptr<Adapter> adapter = MakeTensorFlowAdapter();
  BuildOptions options = Options(Phase::kForward);
  const AdapterRun plain = *RunGraph(*adapter, SmallNetwork(), 4, options, 3);
  options.options = {{"weights", "constants"}};
  const Result<AdapterRun> constant = RunGraph(*adapter, SmallNetwork(), 4, options, 3);
  ASSERT_TRUE(constant.ok()) << constant.error().message;
  for (size_t i = 0; i < plain.losses.size(); ++i)
    EXPECT_NEAR(constant->losses[i], plain.losses[i], 1e-6 * std::abs(plain.losses[i]));
  for (const auto& [name, values] : plain.parameters)
    EXPECT_EQ(constant->parameters.at(name), values) << "and they can be read: " << name;
  options.phase = Phase::kTrain;
  EXPECT_EQ(adapter->Build(*Infer(SmallNetwork(), 4), options).error().kind,
            ErrorKind::kUnsupported);
  options.observe = true;
  EXPECT_TRUE(adapter->Build(*Infer(SmallNetwork(), 4), options).ok()) << "as parity builds it";
}

TEST(TensorFlowAdapterTest, DropsOutAnewInEveryStepAndTheSameForOneSeed) {
  const std::unique_ptr<Adapter> adapter = MakeTensorFlowAdapter();
  const std::vector<double> losses =
      RunGraph(*adapter, SmallNetwork(), 4, Options(Phase::kGradient), 3)->losses;
  EXPECT_NE(losses[0], losses[1]);
  EXPECT_EQ(losses, RunGraph(*adapter, SmallNetwork(), 4, Options(Phase::kGradient), 3)->losses);
}

// Each of three errors is one line with the file, the reason and the fix.
TEST(TensorFlowAdapterTest, RefusesAMissingLibraryButStillDescribesItself) {
  const std::unique_ptr<Adapter> adapter = MakeTensorFlowAdapter({"/no/such/place", "on"});
  const Description description = adapter->Describe();
  EXPECT_EQ(description.name, "tensorflow");
  EXPECT_THAT(description.facts.at("problem"), HasSubstr("/no/such/place"));
  const auto built = adapter->Build(*Infer(SmallNetwork(), 4), Options(Phase::kTrain));
  ASSERT_FALSE(built.ok());
  EXPECT_EQ(built.error().kind, ErrorKind::kUnsupported);
  EXPECT_THAT(built.error().message,
              AllOf(HasSubstr("/no/such/place/tensorflow/libtensorflow_cc.so.2 is missing"),
                    HasSubstr("deps/fetch")));
}

TEST(TensorFlowLibraryTest, NamesAFileThatIsNoLibrary) {
  const TemporaryFolder folder = *TemporaryFolder::Make("tench-tensorflow");
  std::ofstream(folder.path() / "libtensorflow_cc.so.2") << "nothing of the kind";
  const auto api = OpenTensorFlow(folder.path());
  ASSERT_FALSE(api.ok());
  EXPECT_EQ(api.error().kind, ErrorKind::kUnsupported);
  EXPECT_THAT(api.error().message,
              AllOf(HasSubstr("libtensorflow_cc.so.2 is no shared library of this machine"),
                    HasSubstr("TENCH_TENSORFLOW_ROOT")));
}

TEST(TensorFlowLibraryTest, NamesALibraryThatWasCutOff) {
  const TemporaryFolder folder = *TemporaryFolder::Make("tench-tensorflow");
  const std::string whole = *ReadFile("/lib/x86_64-linux-gnu/libm.so.6");
  std::ofstream(folder.path() / "libtensorflow_cc.so.2", std::ios::binary)
      << whole.substr(0, whole.size() / 2);
  const auto api = OpenTensorFlow(folder.path());
  ASSERT_FALSE(api.ok());
  EXPECT_EQ(api.error().kind, ErrorKind::kUnsupported);
  EXPECT_THAT(api.error().message,
              AllOf(HasSubstr("libtensorflow_cc.so.2 is cut off"), HasSubstr("deps/fetch")));
}

TEST(TensorFlowLibraryTest, NamesTheSymbolThatALibraryLacks) {
  const TemporaryFolder folder = *TemporaryFolder::Make("tench-tensorflow");
  std::filesystem::create_directories(folder.path() / "lib");
  std::filesystem::create_symlink("/lib/x86_64-linux-gnu/libm.so.6",
                                  folder.path() / "lib/libtensorflow.so.2");
  const auto api = OpenTensorFlow(folder.path());
  ASSERT_FALSE(api.ok());
  EXPECT_EQ(api.error().kind, ErrorKind::kUnsupported);
  EXPECT_THAT(
      api.error().message,
      AllOf(HasSubstr("lib/libtensorflow.so.2 has no symbol TF_Version"), HasSubstr("deps/fetch")));
}

TEST(TensorFlowLibraryTest, IsTheOneThatTheEnvironmentNames) {
  EXPECT_EQ(
      TensorFlowRoot({{"TENCH_TENSORFLOW_ROOT", "/opt/tf"}, {"TENCH_WORKER_VERSION", "2.15"}}),
      "/opt/tf");
  EXPECT_TRUE(TensorFlowRoot({}).string().ends_with("deps/fetched/tensorflow"));
}

}  // namespace
}  // namespace tench::tensorflow::adapter_test
