// SPDX-License-Identifier: Apache-2.0
// The charts and the table of trainings that were tested.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/html/charts.h"
#include "report/html/section.h"
#include "report/html/test_report.h"

namespace tench::chart_accuracy_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// mxnet and torch on two seeds, with three evaluations each.
ReportData Tested() {
  ReportBuilder builder;
  for (const char* worker : {"mxnet", "torch"}) {
    for (const int64_t seed : {1, 2}) {
      RunRecord run = ReportRun(worker, 64);
      run.cell.values[kAxisSeed] = seed;
      run.cell_id = run.cell.Id();
      run.budget.test_data = "mnist:<digits>/test";
      run.budget.until = "accuracy >= 0.9";
      std::vector<Evaluation> evaluations;
      for (const int64_t step : {0, 50, 100}) {
        const double share = 0.1 + 0.008 * static_cast<double>(step);
        evaluations.push_back({step, 1000, 1 - share, share, 1.0, 7, step * 2'000'000,
                               static_cast<double>(step) / 50});
      }
      run.summary.evaluations = EncodeEvaluations(evaluations);
      run.summary.test_top1 = evaluations.back().top1;
      run.summary.test_loss = evaluations.back().loss;
      run.summary.target_ns = 200'000'000;
      run.summary.target_epochs = 2.0;
      builder.Add(run);
    }
  }
  Result<ReportData> data =
      std::move(builder).Finish([](int64_t) { return Result<RunSeries>(ReportSeries()); });
  return *std::move(data);
}

TEST(AccuracyChartTest, AReportWithoutATestSplitHasNone) {
  ChartSet set;
  AddAccuracyCharts(SmallReport(), set);
  EXPECT_THAT(set.charts, IsEmpty());
  EXPECT_EQ(TrainingSection(SmallReport()), "");
}

TEST(AccuracyChartTest, ShowsAccuracyOverTimeAndOverEpochs) {
  ChartSet set;
  AddAccuracyCharts(Tested(), set);
  ASSERT_THAT(set.charts, SizeIs(2));
  EXPECT_EQ(set.charts[0].id, "accuracy-by-time");
  EXPECT_EQ(set.charts[1].id, "accuracy-by-epoch");
  const DataTable& table = set.data.at("accuracy");
  ASSERT_EQ(table.size(), 12u);
  EXPECT_EQ(table.At(2, "step"), 100);
  EXPECT_EQ(table.At(2, "seconds"), 0.2);
  EXPECT_EQ(table.At(2, "epoch"), 2);
  EXPECT_NEAR(table.At(2, "accuracy").get<double>(), 90, 1e-9);
}

TEST(AccuracyChartTest, TheTableHasOneRowPerWorkerOverItsSeeds) {
  const std::string html = TrainingSection(Tested());
  EXPECT_THAT(html, HasSubstr("accuracy &gt;= 0.9 on mnist:&lt;digits&gt;/test, 1000 samples"));
  EXPECT_THAT(html, HasSubstr("<td>2/2</td>"));
  EXPECT_THAT(html, HasSubstr("2 (2 seeds)"));
  EXPECT_THAT(html, HasSubstr("200 ms"));
}

}  // namespace
}  // namespace tench::chart_accuracy_test
