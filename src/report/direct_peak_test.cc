// SPDX-License-Identifier: Apache-2.0
#include "report/direct_peak.h"

#include <gtest/gtest.h>

#include "store/test_run.h"

namespace tench::direct_peak_test {
namespace {

TEST(DirectPeakTest, AChoiceNamesWinogradInItsValue) {
  EXPECT_TRUE(ChoosesWinograd(R"({"conv1.forward":"winograd/0 winograd:avx2"})"));
  EXPECT_FALSE(ChoosesWinograd(R"({"conv1.forward":"blocked/0 jit:avx2"})"));
  EXPECT_FALSE(ChoosesWinograd(R"({"winograd":"off"})"));
  EXPECT_FALSE(ChoosesWinograd("winograd, but not JSON"));
  EXPECT_FALSE(ChoosesWinograd(""));
}

TEST(DirectPeakTest, ThePeakIsOfTheMachineAndTheThreads) {
  std::vector<StudyRecord> studies(3, TestStudy());
  studies[0].host_json =
      R"({"peak":[{"threads":1,"flops_per_s":7e10},{"threads":2,"flops_per_s":1.4e11}]})";
  studies[1].host_json = R"({"peak":[{"threads":2,"flops_per_s":1.5e11}]})";
  studies[2].host_json = R"({"peak":[{"threads":2,"flops_per_s":9e12}]})";
  studies[2].machine_id = "other";
  const DirectPeaks peaks(studies);
  EXPECT_EQ(peaks.FlopsPerSecond("pond-id", 1), 7e10);
  EXPECT_EQ(peaks.FlopsPerSecond("pond-id", 2), 1.5e11) << "the quieter study's";
  EXPECT_EQ(peaks.FlopsPerSecond("pond-id", 4), std::nullopt);
  EXPECT_EQ(peaks.FlopsPerSecond("other", 2), 9e12);
}

TEST(DirectPeakTest, AHostWithoutPeaksHasNone) {
  std::vector<StudyRecord> studies(1, TestStudy());
  for (const char* host : {"", "{}", R"({"peak":7})", R"({"peak":[{"threads":"2"},3]})"}) {
    studies[0].host_json = host;
    EXPECT_EQ(DirectPeaks(studies).FlopsPerSecond("pond-id", 2), std::nullopt) << host;
  }
}

}  // namespace
}  // namespace tench::direct_peak_test
