// SPDX-License-Identifier: Apache-2.0
#include "cli/history_rerun.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/session/worker_build.h"
#include "store/test_run.h"

namespace tench::history_rerun_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class HistoryRerunTest : public testing::Test {
 protected:
  // A cell whose newest point, measured in eight rounds, is a candidate.
  HistorySeries Candidate() {
    HistorySegment segment;
    segment.machine = "pond";
    segment.machine_id = "pond-id";
    segment.newest = true;
    HistoryPoint point;
    point.study = 7;
    point.build = (*workers_.Build(**workers_.Find("reference")))->id;
    point.times.resize(8);
    point.budget.fixed_steps = 3;
    segment.points.push_back(point);
    segment.changes.emplace_back();
    segment.changes[0].ratio = 2;
    segment.changes[0].candidate = true;
    HistorySeries series;
    series.cell = TestCell();
    series.cell_id = series.cell.Id();
    series.segments.push_back(segment);
    return series;
  }

  RerunPlan Plan(const HistorySeries& series, const std::string& machine_id = "pond-id") {
    History history;
    history.series.push_back(series);
    return PlanRerun(history, workers_, machine_id, {});
  }

  WorkerCatalog workers_ = WorkerCatalog::Discover({TENCH_BIN_DIR});
};

TEST_F(HistoryRerunTest, ACandidateIsMeasuredInAsManyRoundsAsBefore) {
  const HistorySeries series = Candidate();
  const RerunPlan plan = Plan(series);
  EXPECT_THAT(plan.skipped, IsEmpty());
  ASSERT_EQ(plan.cells.size(), 1u);
  EXPECT_EQ(plan.cells[0].id, series.cell_id);
  EXPECT_EQ(plan.cells[0].budget.fixed_steps, 3);
  EXPECT_EQ(plan.rounds, 8);
}

TEST_F(HistoryRerunTest, FewRoundsAreTooFewForAVerdict) {
  HistorySeries series = Candidate();
  series.segments[0].points[0].times.resize(2);
  EXPECT_EQ(Plan(series).rounds, kFewestRounds);
}

TEST_F(HistoryRerunTest, OnlyTheNewestUnconfirmedChangeIsACandidate) {
  HistorySeries older = Candidate(), confirmed = older, steady = older;
  older.segments[0].newest = false;
  confirmed.segments[0].changes[0].candidate = false;
  steady.segments[0].changes.clear();
  for (const HistorySeries& series : {older, confirmed, steady}) {
    const RerunPlan plan = Plan(series);
    EXPECT_THAT(plan.cells, IsEmpty());
    EXPECT_THAT(plan.skipped, IsEmpty());
  }
}

TEST_F(HistoryRerunTest, AnotherMachineBuildOrWorkerIsALineThatSaysSo) {
  EXPECT_THAT(Plan(Candidate(), "lake-id").skipped,
              ElementsAre(HasSubstr("was measured on another machine, pond")));
  HistorySeries rebuilt = Candidate(), unknown = rebuilt;
  rebuilt.segments[0].points[0].build = "1a2b3c4d5e6f7081";
  EXPECT_THAT(Plan(rebuilt).skipped,
              ElementsAre(HasSubstr("is of build 1a2b3c4; the installed one is ")));
  unknown.cell = TestCell("refrence");
  const RerunPlan plan = Plan(unknown);
  EXPECT_THAT(plan.skipped, ElementsAre(HasSubstr("reference")));
  EXPECT_THAT(plan.cells, IsEmpty());
}

}  // namespace
}  // namespace tench::history_rerun_test
