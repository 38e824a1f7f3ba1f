// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "report/html/charts.h"
#include "report/html/series_style.h"
#include "report/html/test_report.h"

namespace tench::chart_releases_test {
namespace {

using testing::SizeIs;

// `mxnet` measured with a worker of the version `other`, and `torch`.
ReportData WithVersions(const std::string& worker, const std::string& other,
                        const std::string& torch) {
  ReportData data = SmallReport();
  for (ReportCell& cell : data.cells) {
    const bool first = cell.row.worker == "mxnet";
    cell.row.worker_version = first ? other : torch;
    if (first) cell.cell.values[kAxisWorker] = worker;
  }
  return data;
}

TEST(ReleaseChartTest, DrawsEachVersionAtItsRelease) {
  const ReportData data = WithVersions("torch-python", "1.0.1", "2.15.0+cu130");
  ChartSet set;
  AddReleaseChart(data, set);
  ASSERT_THAT(set.charts, SizeIs(1));
  EXPECT_FALSE(set.charts[0].choices.empty());
  std::set<std::string> drawn;
  for (const Json& row : set.data.at("releases").ToRows())
    drawn.insert(row["framework"].get<std::string>() + " " + row["released"].get<std::string>());
  EXPECT_THAT(drawn, testing::ElementsAre("PyTorch 2019-02-01", "PyTorch 2026-10-01"));
}

TEST(ReleaseChartTest, TheBaselineHasARateAndNoRelease) {
  ReportData data = WithVersions("torch-python", "1.0.1", "2.15.0");
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

TEST(ReleaseChartTest, OneVersionPerFrameworkOrUnknownOnesHaveNone) {
  for (const auto& [worker, version, torch] : {std::tuple("mxnet", "1.9.1", "2.15.0"),
                                               {"mxnet", "1.9.1", "9.9"},
                                               {"mxnet", "1.9.1", ""}}) {
    const ReportData data = WithVersions(worker, version, torch);
    ChartSet set;
    AddReleaseChart(data, set);
    EXPECT_THAT(set.charts, SizeIs(0)) << torch;
    EXPECT_TRUE(set.data.empty());
  }
}

TEST(ReleaseChartTest, AFrameworkHasTheStyleOfItsNewestWorkerInTheOtherCharts) {
  const ReportData data = WithVersions("torch-python", "1.0.1", "2.15.0");
  ChartSet set;
  AddReleaseChart(data, set);
  ASSERT_THAT(set.charts, SizeIs(1));
  const Json& spec = set.charts[0].spec;
  const Json& color = spec["layer"][0]["encoding"]["color"];
  EXPECT_EQ(color["scale"]["domain"], Json::array({"PyTorch"}));
  EXPECT_EQ(color["scale"]["range"], Json::array({StyleOf("torch").colour}));
  EXPECT_EQ(spec["layer"][1]["encoding"]["shape"]["scale"]["range"],
            Json::array({StyleOf("torch").shape}));
}

}  // namespace
}  // namespace tench::chart_releases_test
