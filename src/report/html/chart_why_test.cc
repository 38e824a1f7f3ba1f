// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "profile/test_profile.h"
#include "report/html/charts.h"

namespace tench::chart_why_test {
namespace {

using testing::HasSubstr;

ReportData Profiled() {
  ReportData data;
  data.series = {"native", "torch"};
  const ProfiledSide a = FusingSide(), b = PlainSide();
  data.profiles.push_back({"pond", "pond, batch 2", "torch", "1", b.census, b.step_ns});
  data.profiles.push_back({"pond", "pond, batch 2", "native", "2", a.census, a.step_ns});
  data.profiles.push_back({"lake", "lake, batch 2", "native", "3", a.census, a.step_ns});
  data.profiles[0].census.ceilings = {{"avx2", 2, 2.5e11, 0, false}, {"L1", 2, 0, 3e11, false}};
  return data;
}

TEST(WhyChartTest, TheWaterfallLeadsFromTheFasterStepToTheSlower) {
  ChartSet set;
  AddWhyCharts(Profiled(), set);
  ASSERT_EQ(set.charts.size(), 2u);
  ASSERT_EQ(set.charts[0].choices.size(), 1u) << "profiles of another group have no pair";
  EXPECT_EQ(set.charts[0].choices[0].detail, "native and torch");
  EXPECT_THAT(set.charts[0].choices[0].note, HasSubstr("conv2 backward: torch takes 3 ms longer"));
  const DataTable& table = set.data.at("why_groups");
  EXPECT_EQ(table.At(0, "part"), "native");
  EXPECT_EQ(table.At(0, "to_ms"), 8.0);
  const size_t last = table.size() - 1;
  EXPECT_EQ(table.At(last, "part"), "torch");
  EXPECT_EQ(table.At(last, "to_ms"), 15.0);
  for (size_t row = 1; row < last; ++row) {
    EXPECT_NEAR(table.At(row, "from_ms").get<double>(), table.At(row - 1, "to_ms").get<double>(),
                1e-6);
  }
  EXPECT_NEAR(table.At(last - 1, "to_ms").get<double>(), 15.0, 1e-6);
}

TEST(WhyChartTest, EveryLayerRowHasBothWorkers) {
  ChartSet set;
  AddWhyCharts(Profiled(), set);
  const DataTable& table = set.data.at("why_layers");
  EXPECT_EQ(table.size() % 2, 0u);
  EXPECT_EQ(table.At(0, "layer"), "conv2 backward");
  EXPECT_EQ(table.At(0, "series"), "native");
  EXPECT_EQ(table.At(1, "series"), "torch");
  EXPECT_EQ(table.At(1, "difference_ms"), 3.0);
}

TEST(WhyChartTest, TheRooflineHasBothWorkersUnderTheCeilings) {
  ChartSet set;
  AddRooflineChart(Profiled(), set);
  ASSERT_EQ(set.charts.size(), 1u);
  EXPECT_EQ(set.charts[0].choices.size(), 2u);
  std::set<std::string> series, ceilings;
  const DataTable& points = set.data.at("roofline");
  for (size_t row = 0; row < points.size(); ++row)
    series.insert(points.At(row, "series").get<std::string>());
  EXPECT_THAT(series, testing::ElementsAre("native", "torch"));
  const DataTable& lines = set.data.at("ceilings");
  for (size_t row = 0; row < lines.size(); ++row) {
    ceilings.insert(lines.At(row, "ceiling").get<std::string>());
    EXPECT_LE(lines.At(row, "gflops").get<double>(), 250.001);
  }
  EXPECT_THAT(ceilings, testing::ElementsAre("L1", "avx2"));
}

TEST(WhyChartTest, WithoutProfilesThereIsNoChart) {
  ChartSet set;
  AddWhyCharts({}, set);
  AddRooflineChart({}, set);
  EXPECT_TRUE(set.charts.empty());
}

}  // namespace
}  // namespace tench::chart_why_test
