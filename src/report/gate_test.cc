// SPDX-License-Identifier: Apache-2.0
#include "report/gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/github_annotations.h"
#include "report/junit.h"
#include "report/test_ranking.h"

namespace tench::gate_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

const ComparisonTitles kTitles = {"base", "head"};

RunRecord Round(const std::string& worker, int64_t round, double step_ns, int64_t batch) {
  RunRecord run = TimedRun(worker, step_ns, batch);
  run.study = 1;
  run.round = round;
  run.id = 1000 * batch + 10 * round + (worker == "base" ? 0 : 1);
  return run;
}

// Batch 1 is the same, 2 slower, 4 ambiguous for lack of agreement, 8 fails on side B.
Comparison FourPairs() {
  ComparisonBuilder builder({.axes = {"worker"}});
  for (int64_t round = 0; round < 5; ++round) {
    const double wobble = 1 + 0.001 * static_cast<double>(round % 3);
    for (const int64_t batch : {1, 2, 4, 8})
      builder.Add(Side::kA, Round("base", round, 1e6 * wobble, batch));
    builder.Add(Side::kB, Round("head", round, 1e6, 1));
    builder.Add(Side::kB, Round("head", round, 1.05e6, 2));
    builder.Add(Side::kB, Round("head", round, round % 2 == 0 ? 1.3e6 : 0.8e6, 4));
    RunRecord failed = FailedRun("head", Outcome::kCrashed, "signal 11 <&>", 8);
    failed.study = 1;
    failed.round = round;
    builder.Add(Side::kB, failed);
  }
  return std::move(builder).Finish();
}

std::vector<Gate> Gates() { return {GateOf(FourPairs(), kTitles)}; }

TEST(GateTest, EachPairHasAtMostOneFinding) {
  const Gate gate = GateOf(FourPairs(), kTitles);
  EXPECT_EQ(gate.name, "head against base");
  ASSERT_THAT(gate.cases, SizeIs(4));
  EXPECT_EQ(gate.cases[0].finding, std::nullopt);
  EXPECT_EQ(gate.cases[1].finding, GateFinding::kSlower);
  EXPECT_THAT(gate.cases[1].detail, HasSubstr("B takes 1.0"));
  EXPECT_EQ(gate.cases[2].finding, GateFinding::kAmbiguous);
  EXPECT_EQ(gate.cases[3].finding, GateFinding::kFailed);
  EXPECT_THAT(gate.cases[3].detail, HasSubstr("5 of 5 runs of B failed: crashed: signal 11"));
}

TEST(GateTest, AFailureOfTheBaselineAloneIsNotAFailureOfTheJudgedSide) {
  ComparisonBuilder builder({.axes = {"worker"}});
  for (int64_t round = 0; round < 5; ++round) {
    builder.Add(Side::kA, FailedRun("base", Outcome::kCrashed, "signal 11", 8));
    builder.Add(Side::kB, Round("head", round, 1e6, 8));
  }
  const Gate gate = GateOf(std::move(builder).Finish(), kTitles);
  ASSERT_THAT(gate.cases, SizeIs(1));
  EXPECT_EQ(gate.cases[0].finding, GateFinding::kAmbiguous);
}

TEST(GateTest, TheWorstSelectedFindingDecides) {
  const std::vector<Gate> gates = Gates();
  EXPECT_EQ(WorstFinding(gates, {GateFinding::kSlower, GateFinding::kAmbiguous}),
            GateFinding::kSlower);
  EXPECT_EQ(WorstFinding(gates, {GateFinding::kAmbiguous}), GateFinding::kAmbiguous);
  EXPECT_EQ(WorstFinding(gates, {GateFinding::kAmbiguous, GateFinding::kFailed}),
            GateFinding::kFailed);
  EXPECT_EQ(WorstFinding(gates, {}), std::nullopt);
  EXPECT_EQ(GateLine(gates, {GateFinding::kSlower}),
            "gate: failed (1 failed, 1 slower, 1 ambiguous in 4 cases; fails on slower)");
  EXPECT_EQ(GateLine({}, {}), "gate: passed (no finding in 0 cases; fails on nothing)");
}

TEST(GateTest, ARankedStudyFailsByItsFailedRuns) {
  const Gate gate = GateOf(SmallRanking(), "runs of study 1");
  ASSERT_THAT(gate.cases, SizeIs(3));
  EXPECT_EQ(gate.cases[0].finding, GateFinding::kFailed) << "native: one of three runs";
  EXPECT_THAT(gate.cases[0].detail, HasSubstr("timeout, 1 of 3 runs: no result after 10 s"));
  EXPECT_EQ(gate.cases[1].finding, std::nullopt) << "reference";
  EXPECT_EQ(gate.cases[2].finding, GateFinding::kFailed) << "torch is not installed";
}

TEST(GateTest, ParsesTheFindingsThatFailIt) {
  EXPECT_EQ(*ParseFailOn("slower, failed"), (FailOn{GateFinding::kSlower, GateFinding::kFailed}));
  EXPECT_THAT(*ParseFailOn("none"), IsEmpty());
  EXPECT_THAT(ParseFailOn("slow").error().message, HasSubstr("unknown finding 'slow'"));
  EXPECT_FALSE(ParseFailOn("").ok());
  EXPECT_FALSE(ParseFailOn("none,slower").ok());
}

TEST(JunitTest, SelectedFindingsFailAndOthersAreSkipped) {
  const std::string xml = RenderJunit(Gates(), {GateFinding::kSlower, GateFinding::kFailed});
  EXPECT_THAT(xml, HasSubstr("<testsuites name=\"tench\" tests=\"4\" failures=\"1\" errors=\"1\" "
                             "skipped=\"1\">"));
  EXPECT_THAT(xml, HasSubstr("<failure type=\"slower\" message=\"slower: B takes"));
  EXPECT_THAT(xml, HasSubstr("<error type=\"failed\""));
  EXPECT_THAT(xml, HasSubstr("signal 11 &lt;&amp;&gt;"));
  EXPECT_THAT(xml, HasSubstr("<skipped message=\"ambiguous: "));
  EXPECT_THAT(xml, HasSubstr("<testcase classname=\"head\" name=\"lenet on mnist, batch 1, train"));
}

TEST(JunitTest, DropsControlCharactersThatXmlCannotHold) {
  EXPECT_EQ(XmlText(std::string("a\0b\x1b[1m\"'<ü", 12)), "ab[1m&quot;&#39;&lt;ü");
}

TEST(GithubAnnotationsTest, SelectedFindingsAreErrorsAndOthersWarnings) {
  const std::string text = RenderAnnotations(Gates(), {GateFinding::kSlower});
  EXPECT_THAT(text, HasSubstr("::error title=tench%3A slower::"));
  EXPECT_THAT(text, HasSubstr("::warning title=tench%3A failed::"));
  EXPECT_THAT(text, HasSubstr("(95 %25: "));
  EXPECT_THAT(text, HasSubstr("::notice title=tench::gate: failed ("));
}

TEST(GithubAnnotationsTest, StatesHowManyAreLeftOut) {
  Gate gate;
  for (int i = 0; i < 30; ++i) gate.cases.push_back({"head", "a\nb", "", GateFinding::kSlower});
  const std::string text = RenderAnnotations(std::vector{gate}, {GateFinding::kSlower});
  EXPECT_THAT(text, HasSubstr("and 21 more"));
  EXPECT_THAT(text, HasSubstr("a%0Ab"));
  EXPECT_THAT(text, Not(HasSubstr("warning")));
}

}  // namespace
}  // namespace tench::gate_test
