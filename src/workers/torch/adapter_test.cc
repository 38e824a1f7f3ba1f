// SPDX-License-Identifier: Apache-2.0
#include "workers/torch/adapter.h"
#include "worker/adapter_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/file.h"
#include "net/builder.h"
#include "worker/job_check.h"
#include "workers/reference/adapter.h"
#include "workers/torch/device.h"

namespace tench::pytorch::adapter_test {
namespace {

constexpr double kNothing = 1e-15;  // next to any norm: every tensor is judged by its own

BuildOptions Quiet() {
  BuildOptions options;
  options.threads = 2;
  options.dropout = false;
  return options;
}

using testing::HasSubstr;

Graph Zoo(const std::string& name) { return *LoadNetwork(name, "", name == "lstm" ? 12 : 0); }

// Every case in which a layer may run in place, or must not: a sum of two normalised branches whose
// input is read twice, a ReLU after each op, a ReLU over a tensor with other readers, an op whose
// backward pass reads its output.
Graph Overwriting() {
  const ParameterRule msra{{FillKind::kMsra, 0, 0}}, ones{{FillKind::kConstant, 1, 0}};
  GraphBuilder b("overwriting");
  b.Append("data", Input{InputRole::kData, {3, 10, 10}, {FillKind::kGaussian, 0, 1}}, {});
  b.Append("label", Input{InputRole::kLabel, {}, {FillKind::kInteger, 0, 4}}, {});
  b.Append("stem", Convolution{8, {3, 3}, {1, 1}, {1, 1}}, {"data"}, msra);
  b.Append("stem_relu", Relu{}, {"stem"});
  // Without a bias, whose gradient before a batch norm consists of rounding errors.
  b.Append("left", Convolution{8, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 1, false}, {"stem_relu"}, msra);
  b.Append("left_bn", BatchNorm{}, {"left"}, ones);
  b.Append("sum", Add{}, {"left_bn", "stem_relu"});
  b.Append("sum_relu", Relu{}, {"sum"});
  b.Append("twice", Add{}, {"sum_relu", "sum_relu"});
  b.Append("bent", Tanh{}, {"twice"});
  b.Append("bent_relu", Relu{}, {"bent"});
  b.Append("shared", Convolution{8, {1, 1}}, {"bent_relu"}, msra);
  b.Append("shared_relu", Relu{}, {"shared"});
  b.Append("both", Concat{}, {"shared", "shared_relu"});
  b.Append("data_relu", Relu{}, {"data"});
  b.Append("all", Concat{}, {"both", "data_relu"});
  b.Append("pool", Pooling{PoolMode::kMax, {3, 3}, {2, 2}, {0, 0}, true}, {"all"});
  b.Append("flat", Flatten{}, {"pool"});
  b.Append("fc", FullyConnected{4}, {"flat"}, msra);
  b.Append("loss", SoftmaxCrossEntropy{}, {"fc", "label"});
  return b.Take();
}

TEST(TorchAdapterTest, DescribesItself) {
  const Description description = MakeTorchAdapter()->Describe();
  EXPECT_EQ(description.name, "torch");
  EXPECT_THAT(description.version, testing::MatchesRegex("2\\.[0-9]+\\.[0-9]+"));
  EXPECT_EQ(description.ops.size(), OpAbilities().size());
  EXPECT_EQ(description.devices[0], "cpu");
  EXPECT_TRUE(description.facts.contains("onednn"));
}

TEST(TorchAdapterTest, RefusesWhatItCannotCompute) {
  const std::unique_ptr<Adapter> adapter = MakeTorchAdapter();
  const TypedGraph graph = *Infer(Zoo("mlp"), 2);
  BuildOptions options = Quiet();
  options.precision = "bf16";
  EXPECT_EQ(adapter->Build(graph, options).error().kind, ErrorKind::kUnsupported);
  options = Quiet();
  options.device = "tpu";
  EXPECT_EQ(adapter->Build(graph, options).error().kind, ErrorKind::kUnsupported);
  EXPECT_THAT(adapter->Build(graph, options).error().message, HasSubstr("'tpu' is not cpu, gpu"));
  options = Quiet();
  options.options["layout"] = "diagonal";
  EXPECT_THAT(adapter->Build(graph, options).error().message,
              HasSubstr("default or channels_last"));
}

// `device: gpu` is a known device that this machine lacks, not an unknown name.
TEST(TorchAdapterTest, WithoutAGpuTheReasonIsThatThereIsNoCudaDevice) {
  if (Gpus().count > 0) GTEST_SKIP() << "this machine has a GPU";
  const std::unique_ptr<Adapter> adapter = MakeTorchAdapter();
  Job job;
  job.network = Zoo("mlp");
  job.batch = 2;
  BuildOptions options = Quiet();
  for (const std::string device : {"gpu", "gpu:0", "cuda", "cuda:0"}) {
    SCOPED_TRACE(device);
    job.device = options.device = device;
    const TypedGraph graph = *Infer(job.network, job.batch);
    const Status checked = CheckJob(job, graph, adapter->Describe());
    ASSERT_FALSE(checked.ok());
    EXPECT_EQ(checked.error().kind, ErrorKind::kUnsupported);
    EXPECT_EQ(checked.error().message,
              "torch has no device 'gpu:0' (it has: cpu): no CUDA device: "
              "/proc/driver/nvidia/gpus lists no GPU");
    const Result<BuildFacts> built = adapter->Build(graph, options);
    ASSERT_FALSE(built.ok());
    EXPECT_EQ(built.error().kind, ErrorKind::kUnsupported);
    EXPECT_EQ(built.error().message,
              "device 'gpu:0': no CUDA device: /proc/driver/nvidia/gpus lists no GPU");
  }
}

TEST(TorchAdapterTest, NamesTheLayerThatPyTorchCannotDo) {
  GraphBuilder b("padded");
  b.Append("data", Input{InputRole::kData, {2, 6, 6}, {FillKind::kGaussian, 0, 1}}, {});
  b.Append("target", Input{InputRole::kData, {2, 4, 4}, {FillKind::kGaussian, 0, 1}}, {});
  b.Append("wide_pool", Pooling{PoolMode::kMax, {3, 3}, {2, 2}, {2, 2}}, {"data"});
  b.Append("loss", MeanSquaredError{}, {"wide_pool", "target"});
  const Result<BuildFacts> built = MakeTorchAdapter()->Build(*Infer(b.Take(), 2), Quiet());
  ASSERT_FALSE(built.ok());
  EXPECT_EQ(built.error().kind, ErrorKind::kUnsupported);
  EXPECT_THAT(built.error().message, HasSubstr("layer 'wide_pool'"));
}

TEST(TorchAdapterTest, SaysOutOfMemoryInOneLine) {
  if (*ReadFile("/proc/sys/vm/overcommit_memory") == "1\n")
    GTEST_SKIP() << "the kernel promises any memory here";
  GraphBuilder b("huge");
  b.Append("data", Input{InputRole::kData, {1 << 20}, {FillKind::kGaussian, 0, 1}}, {});
  b.Append("target", Input{InputRole::kData, {1 << 19}, {FillKind::kGaussian, 0, 1}}, {});
  b.Append("fc", FullyConnected{1 << 19}, {"data"});  // two terabytes
  b.Append("loss", MeanSquaredError{}, {"fc", "target"});
  const Result<BuildFacts> built = MakeTorchAdapter()->Build(*Infer(b.Take(), 1), Quiet());
  ASSERT_FALSE(built.ok());
  EXPECT_EQ(built.error().kind, ErrorKind::kOutOfMemory) << built.error().message;
  EXPECT_EQ(built.error().message.find('\n'), std::string::npos);
}

TEST(TorchAdapterTest, TheMeasuredBuildComputesWhatTheObservedOneDoes) {
  for (const Graph& graph : {Overwriting(), Zoo("lenet"), Zoo("lstm")}) {
    for (const Phase phase : {Phase::kForward, Phase::kTrain}) {
      SCOPED_TRACE(graph.name + " " + Name(phase));
      const std::unique_ptr<Adapter> adapter = MakeTorchAdapter();
      BuildOptions options = Quiet();
      options.phase = phase;
      const Result<AdapterRun> measured = RunGraph(*adapter, graph, 4, options, 3);
      ASSERT_TRUE(measured.ok()) << measured.error().message;
      options.observe = true;
      const Result<AdapterRun> observed = RunGraph(*adapter, graph, 4, options, 3);
      ASSERT_TRUE(observed.ok()) << observed.error().message;
      EXPECT_EQ(measured->losses, observed->losses);
      EXPECT_EQ(measured->parameters, observed->parameters);
      EXPECT_EQ(measured->state, observed->state);
    }
  }
}

TEST(TorchAdapterTest, AgreesWithTheReferenceInEveryLayoutAndWithEitherKernels) {
  BuildOptions options = Quiet();
  options.observe = true;
  const AdapterRun expected = *RunGraph(*MakeReferenceAdapter(), Overwriting(), 4, options, 4);
  for (const char* layout : {"default", "channels_last"}) {
    for (const char* kernels : {"own", "onednn"}) {
      SCOPED_TRACE(std::string(layout) + " " + kernels);
      options.options = {{"layout", layout}, {"kernels", kernels}};
      const Result<AdapterRun> run = RunGraph(*MakeTorchAdapter(), Overwriting(), 4, options, 4);
      ASSERT_TRUE(run.ok()) << run.error().message;
      for (const auto& [name, values] : expected.parameters)
        EXPECT_LT(RelativeError(values, run->parameters.at(name), kNothing), 1e-5) << name;
      for (const auto& [name, values] : expected.outputs)
        EXPECT_LT(RelativeError(values, run->outputs.at(name), kNothing), 1e-5) << name;
      for (const auto& [name, values] : expected.state)
        EXPECT_LT(RelativeError(values, run->state.at(name), kNothing), 1e-4) << name;
    }
  }
}

TEST(TorchAdapterTest, ParametersAndStateComeBackAsTheyWereSet) {
  for (const char* layout : {"default", "channels_last"}) {
    const std::unique_ptr<Adapter> adapter = MakeTorchAdapter();
    BuildOptions options = Quiet();
    options.options["layout"] = layout;
    ASSERT_TRUE(adapter->Build(*Infer(Overwriting(), 2), options).ok());
    Tensors set, got;
    const TensorSource source = [&](const std::string& name, std::span<float> out) -> Status {
      FillTensor(3, name, {FillKind::kUniform, 0.5, 1}, 0, out);
      set[name].assign(out.begin(), out.end());
      return Ok();
    };
    ASSERT_TRUE(adapter->SetParameters(source).ok());
    ASSERT_TRUE(adapter->SetState(source).ok());
    ASSERT_TRUE(adapter->Parameters(Into(got)).ok());
    ASSERT_TRUE(adapter->State(Into(got)).ok());
    EXPECT_EQ(set, got) << layout;
  }
}

TEST(TorchAdapterTest, TheSecondBiasOfAnLstmStaysUntrained) {
  BuildOptions options = Quiet();
  options.observe = true;
  const AdapterRun expected = *RunGraph(*MakeReferenceAdapter(), Zoo("lstm"), 4, options, 4);
  const AdapterRun run = *RunGraph(*MakeTorchAdapter(), Zoo("lstm"), 4, options, 4);
  EXPECT_EQ(run.parameters.size(), expected.parameters.size());
  EXPECT_LT(
      RelativeError(expected.parameters.at("lstm.bias"), run.parameters.at("lstm.bias"), kNothing),
      1e-5);
}

TEST(TorchAdapterTest, DropoutZeroesItsShareAndScalesTheSurvivorsBySeed) {
  GraphBuilder b("dropout");
  b.Append("data", Input{InputRole::kData, {1000}, {FillKind::kUniform, 1, 2}}, {});
  b.Append("target", Input{InputRole::kData, {1000}, {FillKind::kConstant, 0, 0}}, {});
  b.Append("drop", Dropout{0.3}, {"data"});
  b.Append("loss", MeanSquaredError{}, {"drop", "target"});
  const Graph graph = b.Take();
  BuildOptions options = Quiet();
  options.phase = Phase::kGradient;
  options.dropout = options.observe = true;
  const std::unique_ptr<Adapter> adapter = MakeTorchAdapter();
  const AdapterRun run = *RunGraph(*adapter, graph, 100, options, 1);
  EXPECT_EQ(run.outputs.at("drop"), RunGraph(*adapter, graph, 100, options, 1)->outputs.at("drop"));
  options.seed = 2;
  EXPECT_NE(run.outputs.at("drop"), RunGraph(*adapter, graph, 100, options, 1)->outputs.at("drop"));
  double dropped = 0;
  for (size_t i = 0; i < 100'000; ++i) {
    dropped += run.outputs.at("drop")[i] == 0;
    if (run.outputs.at("drop")[i] == 0) continue;
    ASSERT_NEAR(run.outputs.at("drop")[i], run.outputs.at("data")[i] / 0.7f, 1e-6);
  }
  EXPECT_NEAR(dropped / 1e5, 0.3, 3 * std::sqrt(0.3 * 0.7 / 1e5));
}

// Batch norm is folded, convolutions are converted: the same losses up to rounding.
TEST(TorchAdapterTest, AFrozenModuleComputesTheSameAndFollowsNewWeightsAndBatches) {
  for (const char* network : {"lenet", "alexnet", "lstm"}) {
    BuildOptions options = Quiet();
    options.phase = Phase::kForward;
    options.observe = false;
    const std::unique_ptr<Adapter> adapter = MakeTorchAdapter();
    const AdapterRun eager = *RunGraph(*adapter, Zoo(network), 2, options, 3);
    options.options["module"] = "frozen";
    const Result<AdapterRun> frozen = RunGraph(*adapter, Zoo(network), 2, options, 3);
    ASSERT_TRUE(frozen.ok()) << network << ": " << frozen.error().message;
    ASSERT_EQ(frozen->losses.size(), eager.losses.size());
    for (size_t i = 0; i < eager.losses.size(); ++i)
      EXPECT_NEAR(frozen->losses[i], eager.losses[i], 1e-5 * std::abs(eager.losses[i])) << network;
    ASSERT_TRUE(adapter
                    ->SetParameters([](const std::string&, std::span<float> out) -> Status {
                      std::ranges::fill(out, 0.0f);
                      return Ok();
                    })
                    .ok());
    EXPECT_NE(*adapter->Step(Phase::kForward), frozen->losses.back()) << network;
  }
}

TEST(TorchAdapterTest, AFrozenModuleIsRefusedInTrainingButForAnObservingBuild) {
  BuildOptions options = Quiet();
  options.options["module"] = "frozen";
  options.observe = true;
  EXPECT_TRUE(RunGraph(*MakeTorchAdapter(), Zoo("lenet"), 2, options, 1).ok());
  options.observe = false;
  const auto built = MakeTorchAdapter()->Build(*Infer(Zoo("lenet"), 2), options);
  ASSERT_FALSE(built.ok());
  EXPECT_EQ(built.error().kind, ErrorKind::kUnsupported);
}

TEST(TorchAdapterTest, ProfilesEveryLayerForwardAndBackward) {
  BuildOptions options = Quiet();
  const std::unique_ptr<Adapter> adapter = MakeTorchAdapter();
  ASSERT_TRUE(RunGraph(*adapter, Zoo("lenet"), 4, options, 1).ok());
  EXPECT_FALSE(adapter->Profile().ok());
  options.profile = true;
  ASSERT_TRUE(RunGraph(*adapter, Zoo("lenet"), 4, options, 3).ok());
  std::map<std::string, ProfileRow> rows;
  const std::vector<ProfileRow> profile = *adapter->Profile();
  for (const ProfileRow& row : profile) rows[row.layer + " " + row.direction] = row;
  for (const char* name : {"conv2 forward", "conv2 backward", "fc1 backward", "pool1 backward",
                           "loss forward", "loss backward", "all parameters update"}) {
    ASSERT_TRUE(rows.contains(name)) << name;
    EXPECT_EQ(rows[name].calls, 3);
    EXPECT_GT(rows[name].time_ns, 0) << name;
  }
  EXPECT_THAT(rows["conv2 forward"].kernel, HasSubstr("conv"));
  EXPECT_THAT(rows["conv2 backward"].kernel, HasSubstr("conv"));
  EXPECT_EQ(rows["conv2 forward"].flops, 3 * 2LL * 4 * 50 * 20 * 25 * 8 * 8);
}

}  // namespace
}  // namespace tench::pytorch::adapter_test
