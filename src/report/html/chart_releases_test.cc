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
