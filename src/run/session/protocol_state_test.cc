// SPDX-License-Identifier: Apache-2.0
#include "run/session/protocol_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace tench::protocol_state_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Stage = ProtocolState::Stage;

Hello SomeHello() {
  Hello hello;
  hello.worker.name = "w";
  hello.worker.version = "1";
  return hello;
}

Steps StepsFrom(int64_t first, bool warmup, std::vector<double> loss) {
  Steps steps;
  steps.first = first;
  steps.warmup = warmup;
  steps.step_ns.assign(loss.size(), 10 + first);
  steps.loss = std::move(loss);
  return steps;
}

class ProtocolStateTest : public testing::Test {
 protected:
  void Say(const Message& message) {
    const auto status = protocol_.Take(ToLine(message));
    EXPECT_TRUE(status) << status.error().message;
  }
  void Refuses(const Message& message, const std::string& text) {
    const auto status = protocol_.Take(ToLine(message));
    ASSERT_FALSE(status);
    EXPECT_THAT(status.error().message, HasSubstr(text));
  }
  ProtocolState protocol_;
};

TEST_F(ProtocolStateTest, GoesThroughItsStagesAndGathersTheSeries) {
  EXPECT_EQ(protocol_.stage(), Stage::kStarting);
  Say(SomeHello());
  EXPECT_EQ(protocol_.stage(), Stage::kBuilding);
  Say(Built{});
  EXPECT_EQ(protocol_.stage(), Stage::kWarmingUp);
  Say(StepsFrom(0, true, {3, 2}));
  EXPECT_EQ(protocol_.stage(), Stage::kWarmingUp);
  Say(StepsFrom(2, false, {1}));
  EXPECT_EQ(protocol_.stage(), Stage::kMeasuring);
  Say(StepsFrom(3, false, {0.5}));
  Say(Done{});
  EXPECT_TRUE(protocol_.over());
  EXPECT_THAT(protocol_.series().warmup_ns, ElementsAre(10, 10));
  EXPECT_THAT(protocol_.series().step_ns, ElementsAre(12, 13));
  EXPECT_THAT(protocol_.series().loss, ElementsAre(3, 2, 1, 0.5));
}

TEST_F(ProtocolStateTest, RefusesWhatIsOutOfOrder) {
  Refuses(Built{}, "before 'hello'");
  Refuses(StepsFrom(0, false, {1}), "before 'hello'");
  Refuses(Done{}, "before any timed step");
  Say(SomeHello());
  Refuses(SomeHello(), "second 'hello'");
  Refuses(StepsFrom(0, false, {1}), "before 'build'");
  Say(Built{});
  Refuses(Built{}, "second 'build'");
  Refuses(StepsFrom(1, false, {1}), "begins at step 1, expected 0");
  Say(StepsFrom(0, false, {1}));
  Refuses(StepsFrom(0, false, {1}), "begins at step 0, expected 1");
  Refuses(StepsFrom(1, true, {1}), "warm-up steps after timed ones");
  Say(Done{});
  Refuses(Done{}, "after the result");
}

TEST_F(ProtocolStateTest, RefusesInputTimesForSomeStepsOnly) {
  Say(SomeHello());
  Say(Built{});
  Say(StepsFrom(0, false, {1}));
  Steps with_input = StepsFrom(1, false, {1});
  with_input.input_ns = {4};
  Refuses(with_input, "input times");
}

TEST_F(ProtocolStateTest, AnErrorMayComeAtAnyMomentAndEndsIt) {
  Say(Failure{ErrorKind::kUnsupported, "no"});
  EXPECT_TRUE(protocol_.over());
  EXPECT_EQ(protocol_.failure()->message, "no");
  Refuses(SomeHello(), "after the error");
}

TEST_F(ProtocolStateTest, NotesTheFirstLossThatIsNoNumber) {
  Say(SomeHello());
  Say(Built{});
  Say(StepsFrom(0, true, {1, -0.0}));
  EXPECT_FALSE(protocol_.negative_loss());
  Say(StepsFrom(
      2, false,
      {-0.5, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}));
  EXPECT_EQ(protocol_.divergence(), "the loss is inf at step 3");
  EXPECT_TRUE(protocol_.negative_loss());
}

TEST_F(ProtocolStateTest, QuotesALineThatIsNoMessage) {
  const auto status = protocol_.Take("\x01<html>");
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("\\x01<html>"));
}

class TurnsTest : public ProtocolStateTest {
 protected:
  TurnsTest() {
    protocol_.ExpectTurns();
    Say(SomeHello());
    Say(Built());
    Say(StepsFrom(0, true, {3}));
    Say(Ready());
  }
};

TEST_F(TurnsTest, SlicesFollowTheirTurns) {
  EXPECT_TRUE(protocol_.waiting());
  protocol_.Go({1, 2});
  Say(StepsFrom(1, true, {3}));
  Say(StepsFrom(2, false, {2, 1}));
  Say(Ready());
  protocol_.Go({1, 1});
  Say(StepsFrom(4, true, {3}));
  Say(StepsFrom(5, false, {2}));
  Say(Ready());
  EXPECT_THAT(protocol_.slices(), ElementsAre(Turn{1, 2}, Turn{1, 1}));
  EXPECT_EQ(protocol_.series().step_ns.size(), 3u);
  EXPECT_EQ(protocol_.series().warmup_ns.size(), 3u);
  protocol_.EndTurns();
  Say(Done());
  EXPECT_EQ(protocol_.stage(), Stage::kDone);
}

TEST_F(TurnsTest, NothingIsAllowedWithoutATurn) {
  Refuses(StepsFrom(1, true, {3}), "a 'steps' line without a turn");
  Refuses(Ready(), "a second 'ready' line");
  protocol_.Go({1, 2});
  Say(StepsFrom(1, true, {3}));
  Say(StepsFrom(2, false, {2}));
  Refuses(StepsFrom(3, true, {2}), "warm-up steps after timed ones");
  Refuses(Ready(), "a slice of 1 warm-up and 1 timed steps, requested were 1 and 2");
  Refuses(StepsFrom(3, false, {2, 1}), "more steps than in the turn of 2");
  Refuses(Done(), "a 'result' line before the last turn");
  Say(StepsFrom(3, false, {2}));
  Say(Ready());
  Refuses(Done(), "a 'result' line before the last turn");
  protocol_.EndTurns();
  Refuses(StepsFrom(4, false, {2}), "a 'steps' line without a turn");
}

TEST_F(ProtocolStateTest, AJobWithoutTurnsHasNoReadyLine) {
  Say(SomeHello());
  Say(Built());
  Refuses(Ready(), "a 'ready' line, but the job has no turns");
}

Evaluation EvaluationAt(int64_t step) {
  Evaluation evaluation;
  evaluation.step = step;
  evaluation.samples = 10;
  return evaluation;
}

TEST_F(ProtocolStateTest, SumsTheTrainingTimeBeforeEveryEvaluation) {
  Say(SomeHello());
  Say(Built{});
  Say(EvaluationAt(0));
  Say(StepsFrom(0, true, {3, 2}));
  Steps timed = StepsFrom(2, false, {1});
  timed.input_ns = {100};
  Say(timed);
  Say(EvaluationAt(3));
  ASSERT_EQ(protocol_.evaluations().size(), 2u);
  EXPECT_EQ(protocol_.evaluations()[0].train_ns, 0);
  EXPECT_EQ(protocol_.evaluations()[1].train_ns, 10 + 10 + 12 + 100);
}

TEST_F(ProtocolStateTest, AnEvaluationBelongsToTheStepsBeforeIt) {
  Refuses(EvaluationAt(0), "an 'evaluation' line before 'hello'");
  Say(SomeHello());
  Refuses(EvaluationAt(0), "an 'evaluation' line before 'build'");
  Say(Built{});
  Say(StepsFrom(0, false, {3, 2}));
  Refuses(EvaluationAt(1), "an 'evaluation' line of step 1, after 2 steps");
  Say(EvaluationAt(2));
  Refuses(EvaluationAt(2), "a second 'evaluation' line of step 2");
}

}  // namespace
}  // namespace tench::protocol_state_test
