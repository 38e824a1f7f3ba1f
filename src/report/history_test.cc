// SPDX-License-Identifier: Apache-2.0
#include "report/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "report/history_text.h"
#include "report/test_ranking.h"
#include "report/text_table.h"

namespace tench::history_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

constexpr int64_t kRounds = 5;

struct StudyPlan {
  double step_ns = 1e6;
  double sentinel_ns = 4e6;
  std::string build = "1111111122222222", library = "/opt/lib/libdnnl.so.3", machine_id = "pond-id";
};

// The wobble between studies is ±0.3 %, within a study ±0.05 %.
RunRecord RunOf(const StudyPlan& plan, int64_t study, int64_t round) {
  const double wobble = 1 + 0.003 * static_cast<double>(study * 7 % 3 - 1) +
                        0.0005 * static_cast<double>(round % 3 - 1);
  RunRecord run = TimedRun("native", plan.step_ns * wobble);
  run.study = study;
  run.round = round;
  run.id = study * 100 + round;
  run.build = plan.build;
  run.machine_id = plan.machine_id;
  run.worker_json = R"({"libraries":[")" + plan.library + R"(","/usr/lib/libgomp.so.1"]})";
  const auto part = static_cast<int64_t>(plan.sentinel_ns * (2 - wobble) / 4);
  run.summary.sentinel_before_compute_ns = run.summary.sentinel_before_memory_ns = part;
  run.summary.sentinel_after_compute_ns = run.summary.sentinel_after_memory_ns = part;
  run.summary.slow = run.summary.disturbed = false;
  return run;
}

History HistoryOf(const std::vector<StudyPlan>& plans, HistoryOptions options = {}) {
  HistoryBuilder builder(std::move(options));
  std::vector<StudyRecord> studies;
  for (size_t i = 0; i < plans.size(); ++i) {
    const auto study = static_cast<int64_t>(i) + 1;
    for (int64_t round = 0; round < kRounds; ++round) builder.Add(RunOf(plans[i], study, round));
    studies.push_back(TestStudy());
    studies.back().id = study;
  }
  return std::move(builder).Finish(studies);
}

std::vector<StudyPlan> Levels(std::initializer_list<std::pair<double, int>> levels) {
  std::vector<StudyPlan> plans;
  for (const auto& [step_ns, count] : levels) {
    for (int i = 0; i < count; ++i) plans.push_back({.step_ns = step_ns});
  }
  return plans;
}

const HistorySegment& OnlySegment(const History& history) {
  EXPECT_THAT(history.series, SizeIs(1));
  EXPECT_THAT(history.series[0].segments, SizeIs(1));
  return history.series[0].segments[0];
}

TEST(HistoryTest, APointHasVersionTimeChangeAndVerdict) {
  const History history = HistoryOf(Levels({{1e6, 1}, {1.1e6, 1}}));
  const HistorySegment& segment = OnlySegment(history);
  ASSERT_THAT(segment.points, SizeIs(2));
  const HistoryPoint& point = segment.points[1];
  EXPECT_EQ(point.study, 2);
  EXPECT_EQ(point.build, "1111111122222222");
  EXPECT_EQ(point.started_utc, "2026-01-02T03:04:05Z");
  EXPECT_NEAR(point.image_ns.value, 1.1e6 / 64, 100);
  EXPECT_LT(*point.image_ns.low, *point.image_ns.high);
  EXPECT_FALSE(segment.points[0].change.has_value());
  ASSERT_TRUE(point.change.has_value());
  EXPECT_NEAR(point.change->ratio, 1.1, 0.01);
  EXPECT_EQ(point.verdict, RatioVerdict::kSlower);
  EXPECT_THAT(segment.libraries, ElementsAre("libdnnl.so.3", "libgomp.so.1"));
}

TEST(HistoryTest, ALevelChangeIsConfirmedByTwoStudies) {
  const History history = HistoryOf(Levels({{1e6, 10}, {1.05e6, 2}}));
  const HistorySegment& segment = OnlySegment(history);
  ASSERT_THAT(segment.changes, SizeIs(1));
  EXPECT_EQ(segment.points[segment.changes[0].point].study, 11);
  EXPECT_FALSE(segment.changes[0].candidate);
  EXPECT_TRUE(segment.changes[0].slower());
  EXPECT_FALSE(segment.changes[0].of_machine());
  const Gate gate = GateOf(history);
  ASSERT_THAT(gate.cases, SizeIs(1));
  EXPECT_EQ(gate.cases[0].finding, GateFinding::kSlower);
  EXPECT_THAT(gate.cases[0].detail, HasSubstr("study 11: slower by 5."));
}

TEST(HistoryTest, AChangeAtTheNewestStudyIsACandidate) {
  const History history = HistoryOf(Levels({{1e6, 10}, {1.05e6, 1}}));
  const HistorySegment& segment = OnlySegment(history);
  ASSERT_THAT(segment.changes, SizeIs(1));
  EXPECT_TRUE(segment.changes[0].candidate);
  EXPECT_EQ(GateOf(history).cases[0].finding, GateFinding::kAmbiguous);
  EXPECT_THAT(RenderHistory(history), HasSubstr("candidate: slower by 5."));
}

TEST(HistoryTest, ASingleSpikeIsNoChange) {
  for (const size_t place : {3u, 8u, 10u}) {
    std::vector<StudyPlan> plans = Levels({{1e6, 12}});
    plans[place].step_ns = 1.4e6;
    EXPECT_THAT(OnlySegment(HistoryOf(plans)).changes, IsEmpty()) << place;
  }
}

TEST(HistoryTest, AStudyBetweenTwoLevelsHidesNeitherACandidateNorAnAlarm) {
  const History candidate = HistoryOf(Levels({{1e6, 8}, {1.02e6, 1}, {2e6, 1}}));
  ASSERT_THAT(OnlySegment(candidate).changes, SizeIs(1));
  EXPECT_TRUE(OnlySegment(candidate).changes[0].candidate) << "to be measured again";
  EXPECT_EQ(OnlySegment(candidate).changes[0].point, 9u);
  for (const int after : {2, 6}) {
    const History history = HistoryOf(Levels({{1e6, 8}, {1.02e6, 1}, {2e6, after}}));
    ASSERT_THAT(OnlySegment(history).changes, SizeIs(1)) << after;
    EXPECT_FALSE(OnlySegment(history).changes[0].candidate) << after;
    EXPECT_EQ(OnlySegment(history).changes[0].point, 9u) << after;
    EXPECT_NEAR(OnlySegment(history).changes[0].ratio, 2, 0.01) << after;
    EXPECT_EQ(GateOf(history).cases[0].finding, GateFinding::kSlower) << after;
  }
  // The newest study is back at the old level, so the one before it was a spike.
  EXPECT_THAT(OnlySegment(HistoryOf(Levels({{1e6, 8}, {1.2e6, 1}, {1e6, 1}}))).changes, IsEmpty());
}

TEST(HistoryTest, AFixEndsTheAlarmAndACandidateDoesNot) {
  EXPECT_EQ(GateOf(HistoryOf(Levels({{1e6, 8}, {1.1e6, 5}, {1e6, 5}}))).cases[0].finding,
            std::nullopt);
  EXPECT_EQ(GateOf(HistoryOf(Levels({{1e6, 8}, {1.1e6, 8}, {1e6, 1}}))).cases[0].finding,
            GateFinding::kSlower);
}

TEST(HistoryTest, TheMachineIsNamedIfItsSentinelChangesAtTheSamePoint) {
  std::vector<StudyPlan> plans = Levels({{1e6, 9}, {1.08e6, 6}});
  for (size_t i = 9; i < plans.size(); ++i) plans[i].sentinel_ns = 4.3e6;
  const History history = HistoryOf(plans);
  const HistorySegment& segment = OnlySegment(history);
  ASSERT_THAT(segment.changes, SizeIs(1));
  ASSERT_TRUE(segment.changes[0].of_machine());
  EXPECT_NEAR(*segment.changes[0].sentinel_ratio, 4.3 / 4, 0.01);
  EXPECT_EQ(GateOf(history).cases[0].finding, std::nullopt) << "no alarm";
  EXPECT_THAT(RenderHistory(history), HasSubstr("the machine changed: slower by"));
  // A sentinel that became faster does not explain a slower cell.
  for (size_t i = 9; i < plans.size(); ++i) plans[i].sentinel_ns = 3.7e6;
  EXPECT_FALSE(OnlySegment(HistoryOf(plans)).changes[0].of_machine());
}

TEST(HistoryTest, AMachineThatChangedLittleDoesNotExcuseAMuchSlowerCell) {
  std::vector<StudyPlan> plans = Levels({{1e6, 9}, {1.3e6, 6}});
  for (size_t i = 9; i < plans.size(); ++i) plans[i].sentinel_ns = 4.1e6;
  const History history = HistoryOf(plans);
  const LevelChange& change = OnlySegment(history).changes.at(0);
  ASSERT_TRUE(change.sentinel_ratio.has_value());
  EXPECT_FALSE(change.of_machine());
  EXPECT_EQ(GateOf(history).cases[0].finding, GateFinding::kSlower);
  EXPECT_THAT(GateOf(history).cases[0].detail,
              HasSubstr("only part of it by the machine: sentinel +2."));
}

TEST(HistoryTest, AnotherMachineOrLibraryBeginsANewSegment) {
  std::vector<StudyPlan> plans = Levels({{1e6, 4}, {2e6, 4}});
  for (size_t i = 4; i < plans.size(); ++i) plans[i].library = "/opt/lib/libdnnl.so.4";
  History history = HistoryOf(plans);
  ASSERT_THAT(history.series, SizeIs(1));
  ASSERT_THAT(history.series[0].segments, SizeIs(2));
  for (const HistorySegment& segment : history.series[0].segments) {
    EXPECT_THAT(segment.points, SizeIs(4));
    EXPECT_THAT(segment.changes, IsEmpty());
    EXPECT_FALSE(segment.points[0].change.has_value());
  }
  EXPECT_FALSE(history.series[0].segments[0].newest);
  EXPECT_TRUE(history.series[0].segments[1].newest);
  for (size_t i = 0; i < plans.size(); ++i) {
    plans[i].library = "/x/libdnnl.so.3";
    plans[i].machine_id = i % 2 == 0 ? "pond-id" : "lake-id";
  }
  history = HistoryOf(plans);
  ASSERT_THAT(history.series[0].segments, SizeIs(2)) << "machines that alternate stay two segments";
  EXPECT_THAT(history.series[0].segments[0].points, SizeIs(4));
}

TEST(HistoryTest, StudiesBeforeTheFirstOneAskedForAreLeftOut) {
  HistoryOptions options;
  options.since = 7;
  const History history = HistoryOf(Levels({{1e6, 6}, {1.1e6, 6}}), options);
  EXPECT_THAT(OnlySegment(history).points, SizeIs(6));
  EXPECT_THAT(OnlySegment(history).changes, IsEmpty());
}

TEST(HistoryTest, FailedAndSingleRunsAreNoPoints) {
  HistoryBuilder builder({});
  RunRecord failed = FailedRun("native", Outcome::kCrashed, "signal 11");
  failed.study = 1;
  builder.Add(failed);
  builder.Add(TimedRun("native", 1e6));
  EXPECT_THAT(std::move(builder).Finish({}).series, IsEmpty());
}

History WithFailure(int64_t study, const RunRecord& failure,
                    const std::vector<StudyPlan>& plans = Levels({{1e6, 10}, {1.05e6, 2}})) {
  HistoryBuilder builder({});
  for (size_t i = 0; i < plans.size(); ++i) {
    for (int64_t round = 0; round < kRounds; ++round)
      builder.Add(RunOf(plans[i], static_cast<int64_t>(i) + 1, round));
  }
  RunRecord failed = failure;
  failed.study = study;
  failed.round = kRounds;
  failed.id = study * 100 + kRounds;
  builder.Add(failed);
  return std::move(builder).Finish({});
}

TEST(HistoryTest, ACellThatFailsInItsNewestStudyIsAFindingBesideItsLevel) {
  RunRecord crash = RunOf({}, 1, 0);
  crash.outcome = Outcome::kCrashed;
  crash.reason = "signal SIGSEGV";
  // The whole study failed, or one run of the newest one.
  for (const int64_t study : {13, 12}) {
    const History history = WithFailure(study, crash);
    const HistorySegment& segment = OnlySegment(history);
    EXPECT_THAT(segment.points, SizeIs(12));
    ASSERT_TRUE(segment.failure.has_value()) << study;
    EXPECT_EQ(segment.failure->study, study);
    EXPECT_THAT(segment.failure->text, HasSubstr("crashed"));
    const Gate gate = GateOf(history);
    ASSERT_THAT(gate.cases, SizeIs(2));
    EXPECT_EQ(gate.cases[0].finding, GateFinding::kSlower) << "the level is still an alarm";
    EXPECT_EQ(gate.cases[1].finding, GateFinding::kFailed);
    EXPECT_THAT(gate.cases[1].detail, StartsWith(fmt::format("study {}: crashed", study)));
    EXPECT_THAT(gate.cases[1].detail, HasSubstr("signal SIGSEGV"));
    EXPECT_NE(gate.cases[0].title, gate.cases[1].title);
    EXPECT_THAT(RenderHistory(history),
                HasSubstr(fmt::format("failed in study {}: crashed", study)));
    EXPECT_THAT(RenderHistory(history), HasSubstr("0 candidates, 1 failed\n"));
    EXPECT_EQ(HistoryToJson(history)["cells"][0]["segments"][0]["failure"]["study"], study);
  }
}

TEST(HistoryTest, AFailureBeforeTheNewestStudyIsNoFinding) {
  RunRecord crash = RunOf({}, 1, 0);
  crash.outcome = Outcome::kCrashed;
  const History history = WithFailure(11, crash);
  EXPECT_FALSE(OnlySegment(history).failure.has_value());
  EXPECT_THAT(GateOf(history).cases, SizeIs(1));
  EXPECT_EQ(HistoryToJson(history)["cells"][0]["segments"][0]["failure"], nullptr);
  // Nor is one on another machine.
  crash.machine_id = "lake-id";
  EXPECT_FALSE(OnlySegment(WithFailure(13, crash)).failure.has_value());
}

TEST(HistoryTest, ANarrowTerminalOmitsColumnsByNameAndBreaksLongLines) {
  const History history = HistoryOf(Levels({{1e6, 10}, {1.05e6, 2}}));
  const std::string text = RenderHistory(history, 70);
  for (const std::string& line : Split(text, '\n')) EXPECT_LE(TextWidth(line), 70u) << line;
  EXPECT_THAT(text, HasSubstr("omitted: version, 95 % (--wide shows all)"));
  EXPECT_THAT(text, HasSubstr("slower   slower by\n"));
  EXPECT_THAT(RenderHistory(history, 0), Not(HasSubstr("omitted")));
}

TEST(HistoryTest, JsonHasEveryPointAndChange) {
  const Json json = HistoryToJson(HistoryOf(Levels({{1e6, 10}, {1.05e6, 3}})));
  ASSERT_THAT(json["cells"], SizeIs(1));
  const Json& segment = json["cells"][0]["segments"][0];
  EXPECT_THAT(segment["points"], SizeIs(13));
  EXPECT_EQ(segment["points"][0]["verdict"], nullptr);
  EXPECT_EQ(segment["points"][10]["verdict"], "slower");
  ASSERT_THAT(segment["changes"], SizeIs(1));
  EXPECT_EQ(segment["changes"][0]["study"], 11);
  EXPECT_EQ(segment["changes"][0]["state"], "confirmed");
  EXPECT_EQ(json["cells"][0]["network"], "lenet");
}

}  // namespace
}  // namespace tench::history_test
