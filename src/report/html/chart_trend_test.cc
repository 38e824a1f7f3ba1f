// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "report/html/charts.h"
#include "report/html/test_report.h"

namespace tench::chart_trend_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// `levels` are the step times of one study each; batch 64 in all, batch 16 in the last two.
ReportData WithHistory(const std::vector<double>& levels) {
  ReportData data = SmallReport();
  HistoryBuilder builder({});
  std::vector<StudyRecord> studies;
  for (size_t i = 0; i < levels.size(); ++i) {
    studies.push_back(TestStudy());
    studies.back().id = static_cast<int64_t>(i) + 1;
    for (int64_t round = 0; round < 5; ++round) {
      for (const int64_t batch : {64, 16}) {
        if (batch == 16 && i + 2 < levels.size()) continue;
        RunRecord run =
            TimedRun("native", levels[i] * (1 + 0.002 * static_cast<double>(i % 3)), batch);
        run.study = studies.back().id;
        run.round = round;
        builder.Add(run);
      }
    }
  }
  data.history = std::move(builder).Finish(studies);
  return data;
}

TEST(TrendChartTest, AReportOfOneStudyHasNone) {
  ChartSet set;
  AddTrendChart(SmallReport(), set);
  EXPECT_THAT(set.charts, IsEmpty());
  AddTrendChart(WithHistory({1e6}), set);
  EXPECT_THAT(set.charts, IsEmpty());
  EXPECT_THAT(set.data, IsEmpty());
}

TEST(TrendChartTest, HasOnePointPerStudyAndMarksTheChangeOfLevel) {
  ChartSet set;
  AddTrendChart(WithHistory({1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 1.2e6, 1.2e6, 1.2e6}), set);
  ASSERT_THAT(set.charts, SizeIs(1));
  EXPECT_THAT(set.charts[0].choices, SizeIs(2));
  const Json rows =
      set.data.at("trend").ToRows("in_trend", set.charts[0].choices[1].parameters["group"]);
  ASSERT_THAT(rows, SizeIs(10));
  std::vector<int64_t> marked;
  for (const Json& row : rows) {
    if (row["level"] == "slower") marked.push_back(row["study"]);
    EXPECT_EQ(row["worker"], "native");
    EXPECT_LE(row["low_ms"].get<double>(), row["image_ms"].get<double>());
  }
  EXPECT_THAT(marked, testing::ElementsAre(8));
  EXPECT_THAT(rows[7]["note"].get<std::string>(), HasSubstr("slower by"));
  EXPECT_EQ(rows[0]["verdict"], nullptr);
  EXPECT_EQ(rows[7]["verdict"], "slower");
}

TEST(TrendChartTest, AStoreWithTwoStudiesHasItsHistoryInTheReport) {
  const TemporaryFolder folder = *TemporaryFolder::Make("trend-test");
  Store store = *Store::Open(folder.path() / "x.db", Store::Mode::kReadWrite);
  for (int study = 0; study < 2; ++study) {
    RunRecord run = TimedRun("native", 1e6);
    run.study = *store.AddStudy(TestStudy());
    ASSERT_TRUE(store.AddRun(run, ReportSeries()).ok());
  }
  const Result<ReportData> all = ReadReport(store, {});
  ASSERT_TRUE(all.ok());
  ASSERT_THAT(all->history.series, SizeIs(1));
  EXPECT_THAT(all->history.series[0].segments[0].points, SizeIs(2));
  RankOptions newest;
  newest.studies = {2};
  EXPECT_THAT(ReadReport(store, newest)->history.series[0].segments[0].points, SizeIs(2))
      << "a report of one study shows the history of its cells";
}

}  // namespace
}  // namespace tench::chart_trend_test
