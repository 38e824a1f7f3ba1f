// SPDX-License-Identifier: Apache-2.0
#include "axis/phase.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(PhaseTest, NamesAreInTheOrderOfTheEnum) {
  EXPECT_THAT(PhaseNames(), ElementsAre("forward", "gradient", "train"));
  EXPECT_EQ(Name(Phase::kForward), "forward");
  EXPECT_EQ(Name(Phase::kGradient), "gradient");
  EXPECT_EQ(Name(Phase::kTrain), "train");
  EXPECT_EQ(Name(Outcome::kOk), "ok");
  EXPECT_EQ(Name(Outcome::kOutOfMemory), "out_of_memory");
  EXPECT_EQ(Name(Outcome::kProtocolError), "protocol_error");
  EXPECT_EQ(Name(Outcome::kInterrupted), "interrupted");
}

TEST(PhaseTest, EveryNameReadsBackAsItself) {
  for (const std::string& name : PhaseNames()) EXPECT_EQ(Name(*ParsePhase(name)), name);
  for (const std::string& name : OutcomeNames()) EXPECT_EQ(Name(*ParseOutcome(name)), name);
}

TEST(PhaseTest, AnUnknownNameIsAnErrorWithTheNearest) {
  EXPECT_THAT(ParsePhase("trian").error().message, HasSubstr("unknown phase 'trian'"));
  EXPECT_THAT(ParsePhase("trian").error().message, HasSubstr("did you mean 'train'?"));
  EXPECT_FALSE(ParsePhase("Train").ok());
  EXPECT_FALSE(ParseOutcome("").ok());
}

}  // namespace
}  // namespace tench
