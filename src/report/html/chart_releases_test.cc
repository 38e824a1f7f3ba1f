// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "report/html/charts.h"
#include "report/html/test_report.h"

namespace tench::chart_releases_test {
namespace {

using testing::SizeIs;

ReportData WithVersions(const std::string& mxnet, const std::string& torch) {
  ReportData data = SmallReport();
  for (ReportCell& cell : data.cells)
    cell.row.worker_version = cell.row.worker == "mxnet" ? mxnet : torch;
  return data;
}

TEST(ReleaseChartTest, DrawsEachVersionAtItsRelease) {
  const ReportData data = WithVersions("1.9.1", "2.15.0+cu130");
  ChartSet set;
  AddReleaseChart(data, set);
  ASSERT_THAT(set.charts, SizeIs(1));
  EXPECT_FALSE(set.charts[0].choices.empty());
  std::set<std::string> drawn;
  for (const Json& row : set.data.at("releases").ToRows())
    drawn.insert(row["framework"].get<std::string>() + " " + row["released"].get<std::string>());
  EXPECT_THAT(drawn, testing::ElementsAre("MXNet with MKL-DNN 2022-05-01", "PyTorch 2026-10-01"));
}

TEST(ReleaseChartTest, TheBaselineHasARateAndNoRelease) {
  ReportData data = WithVersions("1.9.1", "2.15.0");
  ReportCell native = data.cells[0];
  native.row.worker = native.series = "native";
  native.cell.values[kAxisWorker] = std::string("native");
  native.row.role = Role::kBaseline;
  data.cells.push_back(native);
  ChartSet set;
  AddReleaseChart(data, set);
  ASSERT_THAT(set.charts, SizeIs(1));
  int baselines = 0;
  for (const Json& row : set.data.at("releases").ToRows()) {
    if (!row["released"].is_null()) continue;
    ++baselines;
    EXPECT_EQ(row["series"], "native");
    EXPECT_GT(row["images_per_s"], 0);
  }
  EXPECT_EQ(baselines, 1);
  const Json& layers = set.charts[0].spec["layer"];
  EXPECT_EQ(layers[0]["encoding"]["y"]["aggregate"], "max") << "one line of several series";
  EXPECT_FALSE(layers[2]["encoding"].contains("x")) << "a rule over the whole width";
}

TEST(ReleaseChartTest, OneMonthOrUnknownVersionsHaveNone) {
  for (const char* torch : {"9.9", ""}) {
    const ReportData data = WithVersions("1.9.1", torch);
    ChartSet set;
    AddReleaseChart(data, set);
    EXPECT_THAT(set.charts, SizeIs(0)) << torch;
    EXPECT_TRUE(set.data.empty());
  }
}

}  // namespace
}  // namespace tench::chart_releases_test
