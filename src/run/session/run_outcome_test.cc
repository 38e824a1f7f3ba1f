// SPDX-License-Identifier: Apache-2.0
#include "run/session/run_outcome.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "base/text.h"

namespace tench::run_outcome_test {
namespace {

using testing::HasSubstr;

constexpr const char* kHello =
    R"({"type":"hello","worker":{"protocol":1,"name":"sh","version":"1","ops":[],"devices":[],"precisions":[]}})";
constexpr const char* kBuild = R"({"type":"build","build_ns":1})";
constexpr const char* kSteps = R"({"type":"steps","first":0,"step_ns":[5,5],"loss":[2,1]})";
constexpr const char* kResult = R"({"type":"result","converged":true})";

ProtocolState After(std::initializer_list<const char*> lines) {
  ProtocolState protocol;
  for (const char* line : lines) EXPECT_TRUE(protocol.Take(line).ok()) << line;
  return protocol;
}

Evidence EvidenceAfter(const ProtocolState& protocol) {
  return {protocol, std::nullopt, {}, std::nullopt, false, "", std::nullopt, 0};
}

TEST(RunOutcomeTest, AResultAndACleanExitAreOkWithoutAReason) {
  const ProtocolState protocol = After({kHello, kBuild, kSteps, kResult});
  const RunOutcome end = OutcomeOf(EvidenceAfter(protocol));
  EXPECT_EQ(end.outcome, Outcome::kOk);
  EXPECT_EQ(end.reason, "");
}

TEST(RunOutcomeTest, TheReasonWhyTenchEndedItComesBeforeItsResult) {
  const ProtocolState protocol = After({kHello, kBuild, kSteps, kResult});
  Evidence evidence = EvidenceAfter(protocol);
  evidence.ending = Ending{Outcome::kOutOfMemory, "too much"};
  EXPECT_EQ(OutcomeOf(evidence).outcome, Outcome::kOutOfMemory);
  EXPECT_EQ(OutcomeOf(evidence).reason, "too much");
}

TEST(RunOutcomeTest, AnotherNumberOfStepsThanAskedForBreaksTheProtocol) {
  const ProtocolState protocol = After({kHello, kBuild, kSteps, kResult});
  Evidence evidence = EvidenceAfter(protocol);
  evidence.fixed_steps = 3;
  EXPECT_EQ(OutcomeOf(evidence).outcome, Outcome::kProtocolError);
  evidence.fixed_steps = 2;
  EXPECT_EQ(OutcomeOf(evidence).outcome, Outcome::kOk);
}

TEST(RunOutcomeTest, AKillIsOutOfMemoryOnlyWithEvidenceOfIt) {
  const ProtocolState protocol = After({kHello, kBuild});
  Evidence evidence = EvidenceAfter(protocol);
  evidence.exit.signal = SIGKILL;
  EXPECT_EQ(OutcomeOf(evidence).outcome, Outcome::kCrashed);
  evidence.killed_for_memory = "the kernel killed it";
  EXPECT_EQ(OutcomeOf(evidence).outcome, Outcome::kOutOfMemory);
  evidence.exit = {};
  evidence.exit.code = 128 + SIGKILL;
  EXPECT_EQ(OutcomeOf(evidence).outcome, Outcome::kOutOfMemory) << "by a shell around it";
}

TEST(RunOutcomeTest, ACleanExitWithoutAResultBreaksTheProtocol) {
  const ProtocolState protocol = After({kHello});
  Evidence evidence = EvidenceAfter(protocol);
  evidence.last_log_line = "bye";
  EXPECT_EQ(OutcomeOf(evidence).outcome, Outcome::kProtocolError);
  EXPECT_THAT(OutcomeOf(evidence).reason, HasSubstr("bye"));
  evidence.half_line = "{\"type";
  EXPECT_THAT(OutcomeOf(evidence).reason, HasSubstr("inside a line"));
}

TEST(RunOutcomeTest, AReachedTargetMayEndARunEarly) {
  const auto evaluation = [](const char* top1) {
    return fmt::format(R"({{"type":"evaluation","step":2,"samples":10,"loss":1,"top1":{}}})", top1);
  };
  for (const auto& [top1, outcome] :
       {std::pair("0.98", Outcome::kOk), std::pair("0.97", Outcome::kProtocolError)}) {
    const std::string line = evaluation(top1);
    const ProtocolState protocol = After({kHello, kBuild, kSteps, line.c_str(), kResult});
    Evidence evidence = EvidenceAfter(protocol);
    evidence.fixed_steps = 100;
    evidence.until = {Target::Metric::kAccuracy, 0.98};
    EXPECT_EQ(OutcomeOf(evidence).outcome, outcome) << top1;
  }
}

}  // namespace
}  // namespace tench::run_outcome_test
