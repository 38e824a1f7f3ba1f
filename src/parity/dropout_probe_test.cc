// SPDX-License-Identifier: Apache-2.0
#include "parity/dropout_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/file.h"
#include "net/builder.h"
#include "net/fill.h"
#include "parity/trial.h"
#include "protocol/tensor_path.h"

namespace tench::dropout_probe_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// Simulates a worker: the mask of (step, feature, sample), and the gradient's factor.
using Mask = std::function<bool(int step, size_t feature, size_t sample)>;

bool Random(int step, size_t feature, size_t sample) {
  return Generator(static_cast<uint64_t>(step), "mask").Uniform(feature * 4 + sample) >= 0.25;
}

struct SimulatedDropout {
  Mask mask = Random;
  double scale = 1 / 0.75;
  bool masked = true;  // the backward pass
};

class DropoutProbeTest : public testing::Test {
 protected:
  static Trial MakeDropoutTrial() {
    GraphBuilder b("n");
    b.Append("data", Input{InputRole::kData, {4}, {FillKind::kUniform, 0, 1}}, {});
    b.Append("drop", Dropout{0.25}, {"data"});
    Subject subject;
    subject.job.network = b.Take();
    return *MakeTrial(subject, TrialKind::kDropout);
  }

  // Both branches behave alike.
  std::string Judge(const SimulatedDropout& dropout) { return Judge(dropout, dropout); }
  std::string Judge(const SimulatedDropout& plain, const SimulatedDropout& after_relu) {
    Simulate("dropout-0.25", plain, false);
    Simulate("relu-dropout-0.25", after_relu, true);
    return JudgeDropout(trial_, folder_.path());
  }

  void Simulate(const std::string& branch, const SimulatedDropout& dropout, bool relu) {
    std::vector<float> weight = trial_.reals.at(branch + ".values.weight");
    const size_t samples = 4, features = weight.size() / samples;
    std::vector<float> reveal(weight.size());
    const double rate = trial_.job.solver.lr, factor = 0x1p14;
    for (int step = 1; step <= 2; ++step) {
      for (size_t i = 0; i < weight.size(); ++i) {
        const size_t feature = i / samples, sample = i % samples;
        const bool passes = !relu || weight[i] > 0, kept = dropout.mask(step, feature, sample);
        const double output = passes && kept ? dropout.scale * weight[i] : 0,
                     gradient =
                         passes && (kept || !dropout.masked) ? dropout.scale * (output + 1) : 0;
        reveal[sample * features + feature] -= static_cast<float>(rate * output);
        weight[i] -= static_cast<float>(rate * factor * gradient);
      }
      Write(step, branch + ".values.weight", weight);
      Write(step, branch + ".reveal.weight", reveal);
    }
  }

  void Write(int step, const std::string& name, const std::vector<float>& values) {
    const std::filesystem::path folder = folder_.path() / std::to_string(step);
    std::filesystem::create_directories(folder / "parameters");
    ASSERT_TRUE(
        WriteRaw(TensorPath(folder, "parameters", name), std::span<const float>(values)).ok());
  }

  TemporaryFolder folder_ = *TemporaryFolder::Make("tench-dropout-");
  Trial trial_ = MakeDropoutTrial();
};

TEST_F(DropoutProbeTest, AcceptsIndependentMasksThatTheGradientUses) { EXPECT_EQ(Judge({}), ""); }

TEST_F(DropoutProbeTest, RefusesDropoutThatIsLeftOut) {
  EXPECT_THAT(Judge({[](int, size_t, size_t) { return true; }, 1}),
              HasSubstr("scaled by 1 instead"));
}

TEST_F(DropoutProbeTest, RefusesAnotherShareOfZeros) {
  const Mask more = [](int step, size_t feature, size_t sample) {
    return Generator(static_cast<uint64_t>(step), "mask").Uniform(feature * 4 + sample) >= 0.3;
  };
  EXPECT_THAT(Judge({more}), HasSubstr("is zero instead of 0.25"));
}

TEST_F(DropoutProbeTest, RefusesAnotherScale) {
  EXPECT_THAT(Judge({Random, 1.0}), HasSubstr("a survivor is scaled by 1 instead of 1.33333"));
}

TEST_F(DropoutProbeTest, RefusesAGradientWithoutTheMask) {
  EXPECT_THAT(Judge({Random, 1 / 0.75, false}),
              HasSubstr("the backward pass does not use the forward mask"));
}

TEST_F(DropoutProbeTest, RefusesMasksThatRepeat) {
  EXPECT_THAT(
      Judge({[](int, size_t feature, size_t sample) { return Random(1, feature, sample); }}),
      HasSubstr("the masks of two steps agree"));
  EXPECT_THAT(Judge({[](int step, size_t feature, size_t) { return Random(step, feature, 0); }}),
              HasSubstr("the masks of samples 1 and 2 agree"));
}

// A worker may fuse dropout with the ReLU before it, and compute dropout alone by another kernel.
TEST_F(DropoutProbeTest, JudgesDropoutWithAndWithoutAReluBeforeIt) {
  const SimulatedDropout unmasked{Random, 1 / 0.75, false};
  EXPECT_THAT(Judge(unmasked, {}), StartsWith("dropout-0.25: the gradient of an element"));
  EXPECT_THAT(Judge({}, unmasked), StartsWith("relu-dropout-0.25: the gradient of an element"));
}

// As a kernel does that recovers the mask from the sign of the output, which only a ReLU allows.
TEST_F(DropoutProbeTest, RefusesAReluWhereThereIsNone) {
  Simulate("relu-dropout-0.25", {}, true);
  Simulate("dropout-0.25", {}, true);
  EXPECT_THAT(JudgeDropout(trial_, folder_.path()), StartsWith("dropout-0.25: a share of "));
}

TEST_F(DropoutProbeTest, NamesAMissingTensor) {
  EXPECT_THAT(JudgeDropout(trial_, folder_.path()), HasSubstr("dropout-0.25"));
}

TEST_F(DropoutProbeTest, ListsDistinctRatios) {
  GraphBuilder b("n");
  b.Append("a", Dropout{0.5}, {});
  b.Append("b", Dropout{0.4}, {});
  b.Append("c", Dropout{0.5}, {});
  EXPECT_THAT(DropoutRatios(b.Take()), testing::ElementsAre(0.5, 0.4));
}

}  // namespace
}  // namespace tench::dropout_probe_test
