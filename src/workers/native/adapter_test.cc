// SPDX-License-Identifier: Apache-2.0
#include "workers/native/adapter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/clock.h"
#include "base/file.h"
#include "net/builder.h"
#include "worker/adapter_run.h"

namespace tench::native::adapter_test {
namespace {

using testing::HasSubstr;

TypedGraph Zoo(const std::string& name, const std::string& data, int64_t batch) {
  return *Infer(*LoadNetwork(name, data, 0), batch);
}

BuildOptions Untuned() {
  BuildOptions options;
  options.threads = 2;
  options.options["convolutions"] = "blocked";
  return options;
}

TEST(NativeAdapterTest, DescribesItself) {
  const Description description = MakeNativeAdapter()->Describe();
  EXPECT_EQ(description.name, "native");
  EXPECT_EQ(description.ops.size(), OpAbilities().size());
  EXPECT_EQ(description.precisions, std::vector<std::string>{"f32"});
  EXPECT_EQ(description.options[0].name, "convolutions");
  EXPECT_EQ(description.tuning[0].options.at("convolutions"), "search");
}

TEST(NativeAdapterTest, RefusesOtherPrecisionsAndDevices) {
  const std::unique_ptr<Adapter> adapter = MakeNativeAdapter();
  BuildOptions options = Untuned();
  options.precision = "bf16";
  EXPECT_EQ(adapter->Build(Zoo("mlp", "mnist", 2), options).error().kind, ErrorKind::kUnsupported);
  options = Untuned();
  options.device = "gpu";
  EXPECT_EQ(adapter->Build(Zoo("mlp", "mnist", 2), options).error().kind, ErrorKind::kUnsupported);
  options = Untuned();
  options.options["convolutions"] = "perhaps";
  EXPECT_THAT(adapter->Build(Zoo("mlp", "mnist", 2), options).error().message,
              HasSubstr("option convolutions: 'perhaps' is not of the form"));
}

TEST(NativeAdapterTest, SaysOutOfMemoryBeforeItAllocates) {
  NativeSettings settings;
  settings.available_bytes = 10 << 20;
  const Result<BuildFacts> built =
      MakeNativeAdapter(settings)->Build(Zoo("alexnet", "cifar10", 4), Untuned());
  ASSERT_FALSE(built.ok());
  EXPECT_EQ(built.error().kind, ErrorKind::kOutOfMemory);
  EXPECT_THAT(built.error().message, HasSubstr("10.0 MiB are available"));
}

TEST(NativeAdapterTest, AHugeBatchIsRefusedByThePlanAlone) {
  const Result<BuildFacts> built =
      MakeNativeAdapter()->Build(Zoo("lenet", "mnist", 2'000'000), Untuned());
  ASSERT_FALSE(built.ok());
  EXPECT_EQ(built.error().kind, ErrorKind::kOutOfMemory);
}

TEST(NativeAdapterTest, InferencePlansLessThanTraining) {
  const auto planned = [](Phase phase) {
    BuildOptions options = Untuned();
    options.phase = phase;
    const Graph graph = *LoadNetwork("resnet18", "cifar10", 0);
    const TypedGraph typed = *Infer(phase == Phase::kForward ? InferenceGraph(graph) : graph, 32);
    return MakeNativeAdapter()->Build(typed, options)->planned_bytes;
  };
  EXPECT_LT(planned(Phase::kForward), planned(Phase::kTrain) / 2);
}

TEST(NativeAdapterTest, ParametersAndStateComeBackAsTheyWereSet) {
  const TypedGraph graph = Zoo("resnet18", "cifar10", 2);
  const std::unique_ptr<Adapter> adapter = MakeNativeAdapter();
  ASSERT_TRUE(adapter->Build(graph, Untuned()).ok());
  std::map<std::string, std::vector<float>> set, got;
  const TensorSource source = [&](const std::string& name, std::span<float> out) -> Status {
    FillTensor(3, name, {FillKind::kUniform, 0.5, 1}, 0, out);
    set[name].assign(out.begin(), out.end());
    return Ok();
  };
  const TensorSink sink = [&](const std::string& name, std::span<const float> values) -> Status {
    got[name].assign(values.begin(), values.end());
    return Ok();
  };
  ASSERT_TRUE(adapter->SetParameters(source).ok());
  ASSERT_TRUE(adapter->SetState(source).ok());
  ASSERT_TRUE(adapter->Parameters(sink).ok());
  ASSERT_TRUE(adapter->State(sink).ok());
  EXPECT_EQ(set, got);
}

TEST(NativeAdapterTest, GradientsAreKeptInAnObservingBuildOnly) {
  const std::unique_ptr<Adapter> adapter = MakeNativeAdapter();
  ASSERT_TRUE(adapter->Build(Zoo("mlp", "mnist", 2), Untuned()).ok());
  const TensorSink sink = [](const std::string&, std::span<const float>) -> Status { return Ok(); };
  EXPECT_FALSE(adapter->Gradients(sink).ok());
}

// Caffe's loss is known to become negative here.
TEST(NativeAdapterTest, TheLossOfOneClassFallsToZeroAndNeverBelow) {
  const TypedGraph graph = Zoo("lenet", "mnist", 16);
  const std::unique_ptr<Adapter> adapter = MakeNativeAdapter();
  ASSERT_TRUE(adapter->Build(graph, Untuned()).ok());
  std::map<std::string, Fill> fills;
  for (const Parameter& parameter : graph.parameters) fills[parameter.name] = parameter.fill;
  ASSERT_TRUE(adapter
                  ->SetParameters([&](const std::string& name, std::span<float> out) -> Status {
                    FillTensor(1, name, fills[name], 0, out);
                    return Ok();
                  })
                  .ok());
  std::vector<HostTensor> batch;
  double loss = 0;
  for (int64_t step = 0; step < 128; ++step) {
    MakeBatch(graph, {1, 1024, 1}, step * 16, batch);
    ASSERT_TRUE(adapter->SetBatch(batch).ok());
    loss = *adapter->Step(Phase::kTrain);
    ASSERT_GE(loss, 0) << step;
  }
  EXPECT_LT(loss, 1e-6);
}

TEST(NativeAdapterTest, DropoutZeroesItsShareAndScalesTheSurvivors) {
  GraphBuilder builder("dropout");
  builder.Append("data", Input{InputRole::kData, {1000}, {FillKind::kUniform, 1, 2}}, {});
  builder.Append("label", Input{InputRole::kLabel, {}, {FillKind::kInteger, 0, 2}}, {});
  builder.Append("drop", Dropout{0.3}, {"data"});
  builder.Append("fc", FullyConnected{2, false}, {"drop"}, {{FillKind::kGaussian, 0, 0.01}, 1, 1});
  builder.Append("loss", SoftmaxCrossEntropy{}, {"fc", "label"});
  const TypedGraph graph = *Infer(builder.Take(), 100);
  const std::unique_ptr<Adapter> adapter = MakeNativeAdapter();
  BuildOptions options = Untuned();
  options.observe = true;
  ASSERT_TRUE(adapter->Build(graph, options).ok());
  std::vector<HostTensor> batch;
  MakeBatch(graph, {1, 100, 0}, 0, batch);
  ASSERT_TRUE(adapter->SetBatch(batch).ok());
  std::vector<std::vector<float>> outputs;
  for (int step = 0; step < 2; ++step) {
    ASSERT_TRUE(adapter->Step(Phase::kTrain).ok());
    const std::vector<std::string> names = {"drop"};
    ASSERT_TRUE(adapter
                    ->Outputs(names,
                              [&](const std::string&, std::span<const float> values) -> Status {
                                outputs.emplace_back(values.begin(), values.end());
                                return Ok();
                              })
                    .ok());
  }
  EXPECT_NE(outputs[0], outputs[1]) << "each step drops others";
  const double count = static_cast<double>(outputs[0].size());
  double dropped = 0;
  for (size_t i = 0; i < outputs[0].size(); ++i) {
    if (outputs[0][i] == 0) {
      ++dropped;
    } else {
      EXPECT_NEAR(outputs[0][i], batch[0].f32[i] / 0.7f, 1e-6);
    }
  }
  EXPECT_NEAR(dropped / count, 0.3, 3 * std::sqrt(0.3 * 0.7 / count));
}

TEST(NativeAdapterTest, ProfilesEveryKernelWhenAsked) {
  const TypedGraph graph = Zoo("lenet", "mnist", 4);
  const std::unique_ptr<Adapter> adapter = MakeNativeAdapter();
  BuildOptions options = Untuned();
  ASSERT_TRUE(adapter->Build(graph, options).ok());
  EXPECT_FALSE(adapter->Profile().ok());
  options.profile = true;
  ASSERT_TRUE(adapter->Build(graph, options).ok());
  std::vector<HostTensor> batch;
  MakeBatch(graph, {1, 4, 0}, 0, batch);
  ASSERT_TRUE(adapter->SetBatch(batch).ok());
  for (int step = 0; step < 3; ++step) ASSERT_TRUE(adapter->Step(Phase::kTrain).ok());
  bool convolution = false;
  const std::vector<ProfileRow> rows = *adapter->Profile();
  for (const ProfileRow& row : rows) {
    EXPECT_EQ(row.calls, 3);
    EXPECT_GT(row.bytes, 0);
    EXPECT_FALSE(row.kernel.empty());
    convolution = convolution || (row.layer == "conv2" && row.direction == "backward_weights" &&
                                  row.flops == 3 * 2LL * 4 * 50 * 20 * 25 * 8 * 8);
  }
  EXPECT_TRUE(convolution);
}

TEST(NativeAdapterTest, ATraceHasEveryKernelOfTheTracedSteps) {
  const TypedGraph graph = Zoo("lenet", "mnist", 4);
  const std::unique_ptr<Adapter> adapter = MakeNativeAdapter();
  BuildOptions options = Untuned();
  options.profile = true;
  options.traced_steps = 2;
  ASSERT_TRUE(adapter->Build(graph, options).ok());
  std::vector<HostTensor> batch;
  MakeBatch(graph, {1, 4, 0}, 0, batch);
  ASSERT_TRUE(adapter->SetBatch(batch).ok());
  ASSERT_TRUE(adapter->Step(Phase::kTrain).ok());
  adapter->RestartProfile();
  const int64_t begin_ns = NowNs();
  for (int step = 0; step < 3; ++step) ASSERT_TRUE(adapter->Step(Phase::kTrain).ok());
  const int64_t end_ns = NowNs();
  const std::vector<TraceEvent> events = *adapter->Trace();
  EXPECT_EQ(events.size(), 2 * adapter->Profile()->size());
  int64_t last_ns = begin_ns;
  for (const TraceEvent& event : events) {
    EXPECT_GE(event.start_ns, last_ns) << "kernels run one after another";
    last_ns = event.start_ns + event.time_ns;
    EXPECT_FALSE(event.name.empty() || event.layer.empty() || event.direction.empty());
    EXPECT_EQ(event.track, events[0].track);
  }
  EXPECT_LE(last_ns, end_ns);
}

TEST(NativeAdapterTest, AnAlgorithmIsReportedAndRefusedWhereNoConvolutionHasIt) {
  BuildOptions options;
  options.threads = 1;
  options.options["algorithm"] = "direct";
  const auto built = MakeNativeAdapter()->Build(Zoo("lenet", "mnist", 2), options);
  ASSERT_TRUE(built.ok()) << built.error().message;
  EXPECT_THAT(built->choices.at("algorithm"), HasSubstr("direct in "));
  options.options["convolutions"] = "search";
  EXPECT_THAT(MakeNativeAdapter()->Build(Zoo("lenet", "mnist", 2), options).error().message,
              HasSubstr("exclude each other"));
  options.options.erase("convolutions");
  EXPECT_FALSE(
      MakeNativeAdapter()->Build(Zoo("mlp", "mnist", 2), options)->choices.contains("algorithm"));
}

TEST(NativeAdapterTest, ASearchReportsTheOptionThatRepeatsItsBuild) {
  const TypedGraph graph = Zoo("lenet", "mnist", 2);
  BuildOptions options = Untuned();
  options.options["convolutions"] = "search";
  options.search_ns = 60'000'000'000;
  const Result<BuildFacts> searched = MakeNativeAdapter()->Build(graph, options);
  ASSERT_TRUE(searched.ok());
  const std::string& frozen = searched->frozen.at("convolutions");
  options.options["convolutions"] = frozen;
  const Result<BuildFacts> repeated = MakeNativeAdapter()->Build(graph, options);
  ASSERT_TRUE(repeated.ok()) << repeated.error().message;
  EXPECT_EQ(repeated->choices, searched->choices);
  EXPECT_EQ(repeated->frozen.at("convolutions"), frozen);
}

TEST(NativeAdapterTest, ASelectionThatCannotBeRepeatedIsAnError) {
  const TypedGraph graph = Zoo("lenet", "mnist", 2);
  BuildOptions options = Untuned();
  const std::string key = "f_n2_i20x12x12_o50x8x8_k5x5_s1x1_p0x0_d1x1_g1_b1_a0";
  options.options["convolutions"] = key + "=channels_last/0";
  const Result<BuildFacts> built = MakeNativeAdapter()->Build(graph, options);
  ASSERT_TRUE(built.ok()) << built.error().message;
  EXPECT_THAT(built->choices.at("conv2.forward"), HasSubstr("channels_last/0"));
  options.options["convolutions"] = key + "=none/9";
  EXPECT_THAT(MakeNativeAdapter()->Build(graph, options).error().message,
              HasSubstr("has no candidate 'none/9'"));
}

TEST(NativeAdapterTest, WithoutOptionsTheSameStaticCandidatesAreSelectedEveryTime) {
  const TypedGraph graph = Zoo("lenet", "mnist", 2);
  BuildOptions options;
  options.threads = 2;
  const Result<BuildFacts> first = MakeNativeAdapter()->Build(graph, options);
  ASSERT_TRUE(first.ok());
  EXPECT_TRUE(first->frozen.empty());
  EXPECT_TRUE(first->choices.contains("conv2.forward"));
  EXPECT_EQ(MakeNativeAdapter()->Build(graph, options)->choices, first->choices);
}

}  // namespace
}  // namespace tench::native::adapter_test
