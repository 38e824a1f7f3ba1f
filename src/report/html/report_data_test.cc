// SPDX-License-Identifier: Apache-2.0
#include "report/html/report_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "report/html/test_report.h"

namespace tench::report_data_test {
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
  const ReportCell &a = Find(data, "mxnet", 16, "train"), &b = Find(data, "torch", 16, "train"),
                   &c = Find(data, "mxnet", 64, "train"), &d = Find(data, "mxnet", 64, "forward");
  EXPECT_EQ(a.group[kGroupWorkers], b.group[kGroupWorkers]);
  EXPECT_NE(a.group[kGroupWorkers], c.group[kGroupWorkers]);
  EXPECT_EQ(a.group[kGroupBatches], c.group[kGroupBatches]);
  EXPECT_EQ(c.group[kGroupPhases], d.group[kGroupPhases]);
  EXPECT_NE(a.group[kGroupCurves], b.group[kGroupCurves]);
  EXPECT_EQ(data.group_titles[kGroupBatches][static_cast<size_t>(a.group[kGroupBatches])],
            "lenet on mnist, train");
  EXPECT_EQ(data.group_titles[kGroupCurves][static_cast<size_t>(a.group[kGroupCurves])],
            "mxnet: lenet on mnist, train");
}

TEST(ReportDataTest, TitlesLeaveOutTheAxesThatAllCellsShare) {
  const auto report = [](std::initializer_list<int64_t> threads) {
    ReportBuilder builder;
    for (const int64_t count : threads) {
      for (const int64_t batch : {16, 64}) {
        RunRecord run = ReportRun("torch", batch);
        run.cell.values[kAxisThreads] = count;
        run.cell_id = run.cell.Id();
        builder.Add(run);
      }
    }
    return *std::move(builder).Finish([](int64_t) { return Result<RunSeries>(RunSeries()); });
  };
  const ReportData same = report({3});
  EXPECT_THAT(same.common_axes, ElementsAre("threads=3"));
  EXPECT_THAT(same.group_titles[kGroupWorkers],
              ElementsAre("lenet on mnist, batch 16, train", "lenet on mnist, batch 64, train"));
  const ReportData two = report({1, 3});
  EXPECT_THAT(two.common_axes, ElementsAre());
  EXPECT_THAT(two.group_titles[kGroupBatches],
              ElementsAre("lenet on mnist, train, threads=1", "lenet on mnist, train, threads=3"));
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
  EXPECT_THAT(data->series, ElementsAre("native 1.0+1a2b3c4", "native 2.0+1a2b3c4", "mxnet",
                                        "torch", "torch layout=channels_last"));
}

TEST(ReportDataTest, TwoBuildsAreTwoSeriesWithTheirOwnFacts) {
  ReportBuilder builder;
  RunRecord before = ReportRun("mxnet", 64), after = ReportRun("mxnet", 64);
  after.build = "ffff00001111aaaa";
  before.summary.cpu_per_wall = 1;
  after.summary.cpu_per_wall = 2;
  builder.Add(before);
  builder.Add(after);
  const auto data =
      std::move(builder).Finish([](int64_t) { return Result<RunSeries>(RunSeries()); });
  EXPECT_THAT(data->series, ElementsAre("mxnet 1.0+1a2b3c4", "mxnet 1.0+ffff000"));
  ASSERT_EQ(data->cells.size(), 2u);
  for (const ReportCell& cell : data->cells)
    EXPECT_EQ(cell.cpu_per_wall, cell.row.build == after.build ? 2 : 1);
}

TEST(ReportDataTest, CellsHaveTheFactsThatOnlyTheStoreHas) {
  const TemporaryFolder folder = *TemporaryFolder::Make("report-data-test");
  Store store = *Store::Open(folder.path() / "results.db", Store::Mode::kReadWrite);
  StudyRecord study = TestStudy();
  study.host_json = R"({"peak":[{"threads":2,"flops_per_s":1}]})";
  ASSERT_EQ(*store.AddStudy(study), 1);
  RunRecord mxnet = ReportRun("mxnet", 64), torch = ReportRun("torch", 64);
  torch.summary.steps = 9;  // and three of the warm-up
  torch.summary.last_loss = 0.2;
  RunSeries series = ReportSeries();
  ASSERT_TRUE(store.AddRun(mxnet, series).ok());
  ASSERT_TRUE(store.AddRun(torch, series).ok());
  ParityRecord parity;
  parity.key = {"mxnet",
                "1.0",
                mxnet.build,
                "Fish 9000",
                "avx2",
                "00000000deadbeef",
                fmt::format("rules={} device=cpu", kRules)};
  parity.worst = 0.25;
  parity.worst_tensor = "ops: conv1";
  ASSERT_TRUE(store.SetParity(parity).ok());
  const Result<ReportData> data = ReadReport(store, {});
  ASSERT_TRUE(data.ok()) << data.error().message;
  const ReportCell& cell = Find(*data, "mxnet", 64, "train");
  EXPECT_EQ(cell.loss_step, 12);
  EXPECT_EQ(cell.row.loss, series.loss[11]);
  EXPECT_EQ(cell.row.parity_error, 0.25);
  EXPECT_TRUE(cell.row.flops_effective);
}

TEST(ReportDataTest, SpreadIsTheRelativeDeviationBetweenRounds) {
  const ReportData data = SmallReport();
  // Medians of the rounds are 1, 1.001, … 1.004 times the first: their standard deviation is
  // 0.00158 of their mean.
  EXPECT_NEAR(*Find(data, "mxnet", 64, "train").spread, 0.001578, 1e-5);
}

TEST(ReportDataTest, ReadsTheSeriesOfABoundedNumberOfCells) {
  ReportBuilder builder;
  for (int64_t batch = 1; batch <= 500; ++batch) builder.Add(ReportRun("mxnet", batch));
  int64_t reads = 0;
  const auto data = std::move(builder).Finish(
      [&](int64_t) { return ++reads, Result<RunSeries>(ReportSeries()); });
  EXPECT_EQ(reads, 400);
  EXPECT_EQ(data->cells_without_series, 100);
}

}  // namespace
}  // namespace tench::report_data_test
