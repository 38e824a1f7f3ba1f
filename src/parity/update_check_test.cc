// SPDX-License-Identifier: Apache-2.0
#include "parity/update_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/file.h"
#include "net/builder.h"
#include "protocol/tensor_path.h"

namespace tench::update_check_test {
namespace {

class UpdateCheckTest : public testing::Test {
 protected:
  static Trial MakeSteady() {
    GraphBuilder b("n");
    b.Append("data", Input{InputRole::kData, {8}, {FillKind::kUniform, 0, 1}}, {});
    b.Append("label", Input{InputRole::kLabel, {}, {FillKind::kInteger, 0, 4}}, {});
    b.Append("fc", FullyConnected{4}, {"data"}, {{FillKind::kXavier, 0, 0}, 2, 3},
             {{FillKind::kUniform, 0.5, 1}, 1, 0});
    b.Append("loss", SoftmaxCrossEntropy{}, {"fc", "label"});
    Subject subject;
    subject.job.network = b.Take();
    return *MakeTrial(subject, TrialKind::kSteady);
  }

  // A worker's tensors after one update with this solver; the gradient is 0.1 everywhere.
  std::vector<Deviation> Check(const Solver& solver) {
    for (const char* kind : {"gradients", "parameters", "state"})
      std::filesystem::create_directories(folder_.path() / kind);
    for (const Parameter& parameter : trial_.graph.parameters) {
      std::vector<float> weight = trial_.Start(parameter),
                         momentum = trial_.reals.at(parameter.name + ".momentum"),
                         gradient(weight.size(), 0.1f);
      for (size_t i = 0; i < weight.size(); ++i) {
        const float slope =
            gradient[i] +
            static_cast<float>(solver.weight_decay * parameter.decay_mult) * weight[i];
        momentum[i] = static_cast<float>(solver.momentum) * momentum[i] +
                      static_cast<float>(solver.lr * parameter.lr_mult) * slope;
        weight[i] -= momentum[i];
      }
      Write("gradients", parameter.name, gradient);
      Write("parameters", parameter.name, weight);
      Write("state", parameter.name + ".momentum", momentum);
    }
    return CheckUpdate(trial_, folder_.path());
  }

  void Write(const char* kind, const std::string& name, const std::vector<float>& values) {
    ASSERT_TRUE(
        WriteRaw(TensorPath(folder_.path(), kind, name), std::span<const float>(values)).ok());
  }

  static double Worst(const std::vector<Deviation>& deviations) {
    double worst = 0;
    for (const Deviation& one : deviations) worst = std::max(worst, one.ratio());
    return worst;
  }

  TemporaryFolder folder_ = *TemporaryFolder::Make("tench-update-");
  Trial trial_ = MakeSteady();
};

TEST_F(UpdateCheckTest, AcceptsAnUpdateInSinglePrecision) {
  const std::vector<Deviation> deviations = Check(trial_.job.solver);
  EXPECT_EQ(deviations.size(), 4u);
  EXPECT_LE(Worst(deviations), 1);
  EXPECT_TRUE(std::any_of(deviations.begin(), deviations.end(), [](const Deviation& one) {
    return one.key == "update/fc.weight" && one.discriminates();
  }));
}

TEST_F(UpdateCheckTest, RefusesAnotherMomentumDecayOrRate) {
  Solver solver = trial_.job.solver;
  solver.momentum *= 0.999;
  EXPECT_GT(Worst(Check(solver)), 10);
  solver = trial_.job.solver;
  solver.weight_decay = 0;
  EXPECT_GT(Worst(Check(solver)), 1);
  solver = trial_.job.solver;
  solver.lr *= 1.0001;
  EXPECT_GT(Worst(Check(solver)), 1);
}

TEST_F(UpdateCheckTest, RefusesAParameterThatDoesNotMove) {
  ASSERT_LE(Worst(Check(trial_.job.solver)), 1);
  const Parameter& weight = trial_.graph.parameters.front();
  Write("parameters", weight.name, trial_.Start(weight));
  EXPECT_GT(Worst(CheckUpdate(trial_, folder_.path())), 10);
}

TEST_F(UpdateCheckTest, AMissingTensorIsInfinitelyWrong) {
  Check(trial_.job.solver);
  std::filesystem::remove(TensorPath(folder_.path(), "state", "fc.bias.momentum"));
  EXPECT_TRUE(std::isinf(Worst(CheckUpdate(trial_, folder_.path()))));
}

}  // namespace
}  // namespace tench::update_check_test
