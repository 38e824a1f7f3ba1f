// SPDX-License-Identifier: Apache-2.0
#include "parity/trial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "net/builder.h"
#include "parity/op_probe.h"

namespace tench::trial_test {
namespace {

Subject Small() {
  GraphBuilder b("small");
  b.Append("data", Input{InputRole::kData, {3, 8, 8}, {FillKind::kGaussian, 0, 1}}, {});
  b.Append("label", Input{InputRole::kLabel, {}, {FillKind::kInteger, 0, 5}}, {});
  b.Append("conv1", Convolution{12, {3, 3}, {1, 1}, {1, 1}}, {"data"}, {{FillKind::kXavier, 0, 0}});
  b.Append("relu1", Relu{}, {"conv1"});
  b.Append("conv2", Convolution{12, {3, 3}, {1, 1}, {1, 1}}, {"relu1"},
           {{FillKind::kXavier, 0, 0}});
  b.Append("bn", BatchNorm{}, {"conv2"}, {{FillKind::kConstant, 1, 0}});
  b.Append("relu2", Relu{}, {"bn"});
  b.Append("sum", Add{}, {"relu1", "relu2"});
  b.Append("flat", Flatten{}, {"sum"});
  b.Append("drop", Dropout{0.4}, {"flat"});
  b.Append("fc", FullyConnected{5}, {"drop"}, {{FillKind::kXavier, 0, 0}});
  b.Append("loss", SoftmaxCrossEntropy{1, false}, {"fc", "label"});
  Subject subject;
  subject.job.network = b.Take();
  return subject;
}

TEST(OpProbeTest, HasEveryDistinctOpOnceAndNoDropout) {
  const OpProbe probe = MakeOpProbe(*Infer(Small().job.network, 4));
  EXPECT_THAT(probe.ops,
              testing::ElementsAre("conv1", "relu1", "conv2", "bn", "sum", "flat", "fc", "loss"));
}

TEST(OpProbeTest, IsANetworkWhoseEveryOpHasAGradientForItsData) {
  const OpProbe probe = MakeOpProbe(*Infer(Small().job.network, 4));
  const auto typed = Infer(probe.network, 4);
  ASSERT_TRUE(typed.ok()) << typed.error().message;
  const std::vector<bool> needs = NeedsGradient(*typed);
  std::set<std::string> with_gradient;
  for (size_t i = 0; i < typed->layers.size(); ++i)
    if (needs[i]) with_gradient.insert(typed->layers[i].layer.name);
  for (const std::string& op : probe.ops) EXPECT_TRUE(with_gradient.contains(op + ".x0")) << op;
}

TEST(OpProbeTest, LoadsTensorsOfTheRightSize) {
  const OpProbe probe = MakeOpProbe(*Infer(Small().job.network, 4));
  const TypedGraph typed = *Infer(probe.network, 4);
  std::map<std::string, size_t> sizes;
  for (const Parameter& parameter : typed.parameters)
    sizes[parameter.name] = static_cast<size_t>(ElementCount(parameter.shape));
  for (const TypedLayer& layer : typed.layers)
    sizes[layer.layer.name] = static_cast<size_t>(ElementCount(layer.output.shape));
  EXPECT_FALSE(probe.reals.empty());
  for (const auto& [name, values] : probe.reals) EXPECT_EQ(values.size(), sizes[name]) << name;
  for (const auto& [name, values] : probe.integers) EXPECT_EQ(values.size(), sizes[name]) << name;
}

TEST(TrialTest, TrainsThreeUpdatesOfWhichTheLastHasATenthOfTheRate) {
  const Trial trial = *MakeTrial(Small(), TrialKind::kTrain);
  EXPECT_EQ(trial.job.budget.fixed_steps, 3);
  EXPECT_EQ(trial.job.budget.warmup_steps, 0);
  ASSERT_EQ(trial.job.lr_schedule.size(), 3u);
  EXPECT_EQ(trial.job.lr_schedule[0], trial.job.lr_schedule[1]);
  EXPECT_DOUBLE_EQ(trial.job.lr_schedule[2], trial.job.lr_schedule[1] / 10);
  EXPECT_FALSE(trial.job.dropout);
}

TEST(TrialTest, CalibrationScalesTheRateAndNotTheDecay) {
  Calibration calibration;
  calibration.rate_factors["conv1.weight"] = 16;
  const Trial trial = *MakeTrial(Small(), TrialKind::kTrain, calibration);
  for (const Parameter& parameter : trial.graph.parameters) {
    if (!parameter.trained) continue;
    const bool scaled = parameter.name == "conv1.weight";
    EXPECT_EQ(parameter.lr_mult, scaled ? 16 : 1) << parameter.name;
    EXPECT_EQ(parameter.lr_mult * parameter.decay_mult, 1) << parameter.name;
  }
}

TEST(TrialTest, SteadyLoadsMomentaAndComparesLogitsAndGradients) {
  const Trial trial = *MakeTrial(Small(), TrialKind::kSteady);
  EXPECT_EQ(trial.reals.at("fc.bias.momentum").size(), 5u);
  std::vector<std::string> keys;
  for (const WantedTensor& wanted : trial.Wanted()) keys.push_back(wanted.key());
  EXPECT_THAT(keys, testing::IsSupersetOf(
                        {"outputs/fc", "gradients/conv1.weight", "state/bn.running_mean"}));
  EXPECT_THAT(keys, testing::Not(testing::Contains(testing::HasSubstr("parameters/"))));
}

TEST(TrialTest, InferenceLoadsStatisticsOfTheCalibratedSize) {
  Calibration calibration;
  calibration.mean_squares["bn"] = 4;
  const Trial trial = *MakeTrial(Small(), TrialKind::kForward, calibration);
  EXPECT_EQ(trial.job.phase, Phase::kForward);
  EXPECT_THAT(trial.job.tensors.outputs, testing::ElementsAre("fc"));
  for (const float variance : trial.reals.at("bn.running_var"))
    EXPECT_TRUE(variance >= 3 && variance <= 5) << variance;
  for (const float mean : trial.reals.at("bn.running_mean")) EXPECT_LE(std::abs(mean), 1);
}

TEST(TrialTest, TheTimedTrialHasTheCellsOwnBatchPhaseAndSolver) {
  Subject subject = Small();
  subject.job.batch = 9;
  subject.job.threads = 3;
  subject.job.phase = Phase::kTrain;
  subject.job.solver.momentum = 0.5;
  subject.job.solver.weight_decay = 0.25;
  const Trial timed = *MakeTimedTrial(subject, {}, false);
  EXPECT_EQ(timed.job.batch, 9);
  EXPECT_EQ(timed.job.threads, 3);
  EXPECT_EQ(timed.job.solver.momentum, 0.5);
  EXPECT_EQ(timed.job.solver.weight_decay, 0.25);
  EXPECT_FALSE(timed.job.tensors.observe);
  EXPECT_TRUE(timed.job.tensors.parameters);
  EXPECT_FALSE(timed.job.dropout);
  EXPECT_EQ(timed.job.budget.fixed_steps, 3);
  EXPECT_TRUE(MakeTimedTrial(subject, {}, true)->job.tensors.observe);
}

TEST(TrialTest, TheTimedTrialOfOtherPhasesComparesGradientsOrLosses) {
  Subject subject = Small();
  subject.job.phase = Phase::kGradient;
  const Trial gradient = *MakeTimedTrial(subject, {}, false);
  EXPECT_TRUE(gradient.job.tensors.gradients);
  EXPECT_FALSE(gradient.Wanted().empty());
  subject.job.phase = Phase::kForward;
  const Trial forward = *MakeTimedTrial(subject, {}, false);
  EXPECT_TRUE(forward.Wanted().empty());
  EXPECT_TRUE(forward.job.cycled);
  EXPECT_EQ(forward.job.budget.fixed_steps, 8);
}

TEST(TrialTest, LooksAtParametersAndRunningStatisticsAfterUpdates) {
  const Trial trial = *MakeTrial(Small(), TrialKind::kTrain);
  std::vector<std::string> keys;
  for (const WantedTensor& wanted : trial.Wanted()) keys.push_back(wanted.key());
  EXPECT_THAT(keys, testing::IsSupersetOf({"parameters/conv1.weight", "parameters/bn.weight",
                                           "state/bn.running_var"}));
  EXPECT_THAT(keys, testing::Not(testing::Contains(testing::HasSubstr("momentum"))));
}

}  // namespace
}  // namespace tench::trial_test
