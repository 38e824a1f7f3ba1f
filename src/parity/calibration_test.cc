// SPDX-License-Identifier: Apache-2.0
#include "parity/calibration.h"

#include <gtest/gtest.h>

#include <cmath>

#include "net/builder.h"

namespace tench::calibration_test {
namespace {

Trial MakeSteady() {
  GraphBuilder b("n");
  b.Append("data", Input{InputRole::kData, {3, 4, 4}, {FillKind::kUniform, 0, 1}}, {});
  b.Append("label", Input{InputRole::kLabel, {}, {FillKind::kInteger, 0, 4}}, {});
  b.Append("conv", Convolution{8, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 1, false}, {"data"},
           {{FillKind::kGaussian, 0, 0.5}});
  b.Append("bn", BatchNorm{}, {"conv"}, {{FillKind::kConstant, 1, 0}});
  b.Append("tanh", Tanh{}, {"bn"});
  b.Append("flat", Flatten{}, {"tanh"});
  b.Append("fc", FullyConnected{4}, {"flat"}, {{FillKind::kXavier, 0, 0}});
  b.Append("loss", SoftmaxCrossEntropy{}, {"fc", "label"});
  Subject subject;
  subject.job.network = b.Take();
  return *MakeTrial(subject, TrialKind::kSteady);
}

void Put(Answer& answer, const std::string& key, double norm, double change, int64_t elements) {
  TensorAnswer& tensor = answer.tensors[key];
  tensor.sketch.norm = norm;
  tensor.change = change;
  tensor.elements = elements;
}

TEST(CalibrationTest, MovesEachTensorByAThousandthOfItsNorm) {
  Answer answer;
  Put(answer, "gradients/conv.weight", 1e-6, 1e-12, 216);
  const double factor = Calibrate(MakeSteady(), answer).rate_factors.at("conv.weight");
  const double movement = kSteadyRate * factor * 1e-6 / (0.5 * std::sqrt(216));
  EXPECT_GT(movement, 1e-3 / 4.01);
  EXPECT_LT(movement, 1e-3 * 4.01);
  // A power of 16, so that few distinct rates occur.
  EXPECT_NEAR(std::log2(factor) / 4, std::round(std::log2(factor) / 4), 1e-9);
}

TEST(CalibrationTest, LeavesRoundingNoiseAlone) {
  Answer answer;
  Put(answer, "gradients/conv.weight", 1e-9, 1e-9, 216);
  EXPECT_TRUE(Calibrate(MakeSteady(), answer).rate_factors.empty());
}

TEST(CalibrationTest, FindsTheMeanSquareOfABatchNormsInput) {
  Answer answer;
  // After one step with momentum 0.1: means of 2 and variances of 3.
  Put(answer, "state/bn.running_mean", 0, 0, 8);
  answer.tensors["state/bn.running_mean"].scale = 0.1 * 2 * std::sqrt(8);
  Put(answer, "state/bn.running_var", 0, 0, 8);
  answer.tensors["state/bn.running_var"].mean = 0.9 + 0.1 * 3;
  EXPECT_NEAR(Calibrate(MakeSteady(), answer).mean_squares.at("bn"), 4 + 3, 1e-9);
}

}  // namespace
}  // namespace tench::calibration_test
