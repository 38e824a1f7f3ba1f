// SPDX-License-Identifier: Apache-2.0
#include "profile/cause.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profile/test_profile.h"

namespace tench::cause_test {
namespace {

using testing::HasSubstr;

TEST(CauseTest, NamesBothImplementationsWithTheirRates) {
  const std::vector<Cause> causes = LeadingCauses(AlignProfiles(FusingSide(), PlainSide()), 20, 0);
  const auto forward = std::find_if(causes.begin(), causes.end(), [](const Cause& cause) {
    return cause.sentence.starts_with("conv2 forward");
  });
  ASSERT_NE(forward, causes.end());
  EXPECT_EQ(forward->sentence,
            "conv2 forward: torch takes 2 ms longer; native runs winograd:avx2 at 100 effective "
            "GFLOP/s, torch aten::convolution at 50 GFLOP/s");
  EXPECT_EQ(forward->layer, "conv2");
}

TEST(CauseTest, AFusedLayerHasNoSeparateKernel) {
  const std::vector<Cause> causes = LeadingCauses(AlignProfiles(FusingSide(), PlainSide()), 20, 0);
  EXPECT_TRUE(std::any_of(causes.begin(), causes.end(), [](const Cause& cause) {
    return cause.sentence ==
           "relu1 forward: torch takes 500 µs longer; it runs aten::relu, native has no separate "
           "kernel";
  }));
}

TEST(CauseTest, ConversionsUpdatesAndTheRemainderAreOneCauseEach) {
  std::string all;
  for (const Cause& cause : LeadingCauses(AlignProfiles(FusingSide(), PlainSide()), 20, 0))
    all += cause.sentence + "\n";
  EXPECT_THAT(all, HasSubstr("torch updates in 1 kernel per step, native in 2 kernels (+200 µs)"));
  EXPECT_THAT(
      all, HasSubstr("torch converts layouts or copies in 2 kernels per step, native in 1 kernel "
                     "(-150 µs)"));
  EXPECT_THAT(all, HasSubstr("of a step outside its kernels"));
}

TEST(CauseTest, LeavesOutTheSmallAndStopsAtTheMost) {
  EXPECT_EQ(LeadingCauses(AlignProfiles(FusingSide(), PlainSide()), 2, 0).size(), 2u);
  for (const Cause& cause : LeadingCauses(AlignProfiles(FusingSide(), PlainSide()), 20, 0.1))
    EXPECT_GE(std::abs(cause.difference_ns), 1'500'000);
  EXPECT_TRUE(LeadingCauses(AlignProfiles(PlainSide(), PlainSide())).empty());
}

}  // namespace
}  // namespace tench::cause_test
