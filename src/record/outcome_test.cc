// SPDX-License-Identifier: Apache-2.0
#include "record/outcome.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tench::outcome_test {
namespace {

TEST(OutcomeTest, NamesAreInTheOrderOfTheEnum) {
  EXPECT_EQ(Name(Outcome::kOk), "ok");
  EXPECT_EQ(Name(Outcome::kOutOfMemory), "out_of_memory");
  EXPECT_EQ(Name(Outcome::kProtocolError), "protocol_error");
  EXPECT_EQ(Name(Outcome::kInterrupted), "interrupted");
}

TEST(OutcomeTest, EveryNameReadsBackAsItself) {
  for (const std::string& name : OutcomeNames()) EXPECT_EQ(Name(*ParseOutcome(name)), name);
}

TEST(OutcomeTest, AnUnknownNameIsAnErrorWithTheNearest) {
  EXPECT_THAT(ParseOutcome("crashd").error().message,
              testing::HasSubstr("did you mean 'crashed'?"));
  EXPECT_FALSE(ParseOutcome("").ok());
}

}  // namespace
}  // namespace tench::outcome_test
