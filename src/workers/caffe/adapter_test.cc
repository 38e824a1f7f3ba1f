// SPDX-License-Identifier: Apache-2.0
// Tests with the user's caffe. Without one they are skipped with a message about the missing
// program.
#include "workers/caffe/adapter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "net/builder.h"
#include "worker/adapter_run.h"
#include "worker/process_facts.h"
#include "workers/caffe/binary.h"
#include "workers/reference/adapter.h"

namespace tench::caffe_worker::adapter_test {
namespace {

using testing::HasSubstr;

const ParameterRule kXavier{{FillKind::kXavier, 0, 0}};

Graph Network() {
  GraphBuilder b("network");
  b.Append("data", Input{InputRole::kData, {2, 9, 9}, {FillKind::kGaussian, 0, 1}}, {});
  b.Append("label", Input{InputRole::kLabel, {}, {FillKind::kInteger, 0, 4}}, {});
  b.Append("conv", Convolution{4, {3, 3}, {2, 2}, {1, 1}, {1, 1}, 1, false}, {"data"}, kXavier);
  b.Append("bn", BatchNorm{}, {"conv"}, {{FillKind::kConstant, 1, 0}});
  b.Append("relu", Relu{}, {"bn"});
  b.Append("flat", Flatten{}, {"relu"});
  b.Append("fc", FullyConnected{4}, {"flat"}, kXavier, {{FillKind::kConstant, 0, 0}, 2, 0});
  b.Append("loss", SoftmaxCrossEntropy{}, {"fc", "label"});
  return b.Take();
}

class CaffeAdapterTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto binary = FindBinary();
    if (!binary.ok()) GTEST_SKIP() << binary.error().message;
  }

  static BuildOptions Options(Phase phase, bool observe) {
    BuildOptions options;
    options.phase = phase;
    options.observe = observe;
    options.solver = {0.05, 0.9, 0.01};
    return options;
  }
  static AdapterRun Run(Adapter& adapter, Phase phase, int steps) {
    auto run = RunGraph(adapter, Network(), 4, Options(phase, true), steps);
    EXPECT_TRUE(run.ok()) << run.error().message;
    return run.ok() ? *std::move(run) : AdapterRun();
  }
  static void ExpectNear(const Tensors& expected, const Tensors& got, const std::string& what) {
    for (const auto& [name, values] : expected) {
      ASSERT_TRUE(got.contains(name)) << what << " " << name;
      EXPECT_LT(RelativeError(values, got.at(name), 1e-6), 1e-4) << what << " " << name;
    }
    EXPECT_EQ(expected.size(), got.size()) << what;
  }
};

TEST_F(CaffeAdapterTest, AgreesWithTheReferenceInEveryPhase) {
  for (const Phase phase : {Phase::kForward, Phase::kGradient, Phase::kTrain}) {
    SCOPED_TRACE(Name(phase));
    const auto caffe = MakeCaffeAdapter();
    const auto reference = MakeReferenceAdapter();
    const AdapterRun got = Run(*caffe, phase, 4), expected = Run(*reference, phase, 4);
    ASSERT_EQ(got.losses.size(), 4u);
    for (size_t i = 0; i < 4; ++i)
      EXPECT_NEAR(got.losses[i], expected.losses[i], 1e-5 * expected.losses[i]) << i;
    ExpectNear(expected.parameters, got.parameters, "parameters");
    ExpectNear(expected.state, got.state, "state");
    ExpectNear(expected.gradients, got.gradients, "gradients");
    ExpectNear(expected.outputs, got.outputs, "outputs");
  }
}

TEST_F(CaffeAdapterTest, TimesTheSameLossesThatItShows) {
  for (const Phase phase : {Phase::kForward, Phase::kGradient, Phase::kTrain}) {
    SCOPED_TRACE(Name(phase));
    const auto watched = MakeCaffeAdapter();
    const AdapterRun exact = Run(*watched, phase, 4);
    const auto timed = MakeCaffeAdapter();
    ASSERT_TRUE(Prepare(*timed, *Infer(Network(), 4), Options(phase, false)).ok());
    EXPECT_GT(timed->Helper(), 0);
    for (int step = 0; step < 4; ++step) {
      if (step == 2) {
        ASSERT_TRUE(timed->SetLearningRate(0.005).ok());
      }
      const auto loss = timed->Step(phase);
      ASSERT_TRUE(loss.ok()) << loss.error().message;
      EXPECT_NEAR(*loss, exact.losses[static_cast<size_t>(step)], 1e-5 * *loss)
          << step;  // the log has six digits
    }
    EXPECT_GT(PeakResidentBytes(timed->Helper()), 0);
    EXPECT_GT(CpuNs(timed->Helper()), 0);
  }
}

TEST_F(CaffeAdapterTest, TimedParametersAreThoseOfTheSameSteps) {
  const auto timed = MakeCaffeAdapter(), observed = MakeCaffeAdapter();
  BuildOptions options = Options(Phase::kTrain, false);
  options.dropout = false;
  ASSERT_TRUE(Prepare(*timed, *Infer(Network(), 4), options).ok());
  options.observe = true;
  ASSERT_TRUE(Prepare(*observed, *Infer(Network(), 4), options).ok());
  for (int step = 0; step < 3; ++step) {
    ASSERT_TRUE(timed->Step(Phase::kTrain).ok());
    ASSERT_TRUE(observed->Step(Phase::kTrain).ok());
    Tensors parameters, state, expected_parameters, expected_state;
    ASSERT_TRUE(timed->Parameters(Into(parameters)).ok());
    ASSERT_TRUE(timed->State(Into(state)).ok());
    ASSERT_TRUE(observed->Parameters(Into(expected_parameters)).ok());
    ASSERT_TRUE(observed->State(Into(expected_state)).ok());
    ExpectNear(expected_parameters, parameters, "parameters");
    ExpectNear(expected_state, state, "state");
  }
}

TEST_F(CaffeAdapterTest, MaterializesGradientsOfParametersThatLearn) {
  const auto adapter = MakeCaffeAdapter();
  const auto materializes = [&](const Graph& graph, Phase phase) {
    const auto built = adapter->Build(*Infer(graph, 4), Options(phase, false));
    EXPECT_TRUE(built.ok()) << built.error().message;
    return built.ok() && built->gradients_materialized;
  };
  EXPECT_TRUE(materializes(Network(), Phase::kGradient));
  EXPECT_FALSE(materializes(Network(), Phase::kTrain));
  Graph frozen = Network();
  frozen.layers[2].weight.lr_mult = 0;
  EXPECT_FALSE(materializes(frozen, Phase::kGradient));
}

TEST_F(CaffeAdapterTest, LeavesNoProcessBehind) {
  pid_t pid = 0;
  {
    const auto adapter = MakeCaffeAdapter();
    ASSERT_TRUE(Prepare(*adapter, *Infer(Network(), 4), Options(Phase::kTrain, false)).ok());
    pid = adapter->Helper();
    EXPECT_GT(PeakResidentBytes(pid), 0);
  }
  EXPECT_EQ(PeakResidentBytes(pid), 0);
}

// Not in the fixture, because this tests a machine without caffe.
TEST(CaffeBinaryTest, SaysWhatToInstallWhereThereIsNoCaffe) {
  const char* before = std::getenv("TENCH_CAFFE");
  const std::string kept = before != nullptr ? before : "";
  setenv("TENCH_CAFFE", "/nowhere/caffe", 1);
  const auto adapter = MakeCaffeAdapter();
  const Description description = adapter->Describe();
  const auto built = adapter->Build(*Infer(Network(), 4), {});
  if (before != nullptr)
    setenv("TENCH_CAFFE", kept.c_str(), 1);
  else
    unsetenv("TENCH_CAFFE");
  EXPECT_THAT(description.facts.at("missing"), HasSubstr("/nowhere/caffe"));
  ASSERT_FALSE(built.ok());
  EXPECT_EQ(built.error().kind, ErrorKind::kUnsupported);
  EXPECT_THAT(built.error().message, HasSubstr("TENCH_CAFFE"));
}

}  // namespace
}  // namespace tench::caffe_worker::adapter_test
