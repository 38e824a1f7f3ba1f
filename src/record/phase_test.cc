// SPDX-License-Identifier: Apache-2.0
#include "record/phase.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tench::phase_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(PhaseTest, NamesAreInTheOrderOfTheEnum) {
  EXPECT_THAT(PhaseNames(), ElementsAre("forward", "gradient", "train"));
  EXPECT_EQ(Name(Phase::kForward), "forward");
  EXPECT_EQ(Name(Phase::kGradient), "gradient");
  EXPECT_EQ(Name(Phase::kTrain), "train");
}

TEST(PhaseTest, EveryNameReadsBackAsItself) {
  for (const std::string& name : PhaseNames()) EXPECT_EQ(Name(*ParsePhase(name)), name);
}

TEST(PhaseTest, AnUnknownNameIsAnErrorWithTheNearest) {
  EXPECT_THAT(ParsePhase("trian").error().message, HasSubstr("unknown phase 'trian'"));
  EXPECT_THAT(ParsePhase("trian").error().message, HasSubstr("did you mean 'train'?"));
  EXPECT_FALSE(ParsePhase("Train").ok());
}

}  // namespace
}  // namespace tench::phase_test
