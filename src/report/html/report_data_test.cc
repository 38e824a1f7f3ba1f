// SPDX-License-Identifier: Apache-2.0
#include "report/html/report_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/html/test_report.h"

namespace tench {
namespace {

using testing::ElementsAre;

const ReportCell& Find(const ReportData& data, const std::string& series, int64_t batch,
                       const std::string& phase) {
  for (const ReportCell& cell : data.cells) {
    if (cell.series == series && cell.cell.Integer(kAxisBatch) == batch &&
        cell.cell.Text(kAxisPhase) == phase)
      return cell;
  }
  ADD_FAILURE() << "no cell " << series << " " << batch << " " << phase;
  return data.cells.front();
}

TEST(ReportDataTest, GroupsCellsByWhatMayDiffer) {
  const ReportData data = SmallReport();
  const ReportCell &a = Find(data, "native", 16, "train"), &b = Find(data, "torch", 16, "train"),
                   &c = Find(data, "native", 64, "train"), &d = Find(data, "native", 64, "forward");
  EXPECT_EQ(a.group[kGroupWorkers], b.group[kGroupWorkers]);
  EXPECT_NE(a.group[kGroupWorkers], c.group[kGroupWorkers]);
  EXPECT_EQ(a.group[kGroupBatches], c.group[kGroupBatches]);
  EXPECT_EQ(c.group[kGroupPhases], d.group[kGroupPhases]);
  EXPECT_NE(a.group[kGroupCurves], b.group[kGroupCurves]);
  EXPECT_EQ(data.group_titles[kGroupBatches][static_cast<size_t>(a.group[kGroupBatches])],
            "lenet on mnist, train");
  EXPECT_EQ(data.group_titles[kGroupCurves][static_cast<size_t>(a.group[kGroupCurves])],
            "native: lenet on mnist, train");
}

TEST(ReportDataTest, NamesSeriesByVersionAndOptionsOnlyWhereTheyDiffer) {
  ReportBuilder builder;
  RunRecord plain = ReportRun("torch", 64), other = ReportRun("torch", 64),
            version = ReportRun("native", 64);
  other.cell.options["layout"] = "channels_last";
  other.cell_id = other.cell.Id();
  RunRecord newer = version;
  newer.worker_version = "2.0";
  for (const RunRecord& run : {plain, other, version, newer, ReportRun("mxnet", 64)})
    builder.Add(run);
  const auto data =
      std::move(builder).Finish([](int64_t) { return Result<RunSeries>(RunSeries()); });
  EXPECT_THAT(data->series, ElementsAre("native 1.0", "native 2.0", "mxnet", "torch",
                                        "torch layout=channels_last"));
}

TEST(ReportDataTest, SpreadIsTheRelativeDeviationBetweenRounds) {
  const ReportData data = SmallReport();
  // Medians of the rounds are 1, 1.001, … 1.004 times the first: their standard deviation is
  // 0.00158 of their mean.
  EXPECT_NEAR(*Find(data, "native", 64, "train").spread, 0.001578, 1e-5);
}

TEST(ReportDataTest, ReadsTheSeriesOfABoundedNumberOfCells) {
  ReportBuilder builder;
  for (int64_t batch = 1; batch <= 500; ++batch) builder.Add(ReportRun("native", batch));
  int64_t reads = 0;
  const auto data = std::move(builder).Finish(
      [&](int64_t) { return ++reads, Result<RunSeries>(ReportSeries()); });
  EXPECT_EQ(reads, 400);
  EXPECT_EQ(data->cells_without_series, 100);
}

}  // namespace
}  // namespace tench
