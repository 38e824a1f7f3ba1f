// SPDX-License-Identifier: Apache-2.0
#include "report/html/thinning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/html/test_report.h"

namespace tench::thinning_test {
namespace {

TEST(ThinningTest, KeepsTheLastLossAndEveryFirstOddOne) {
  RunSeries series;
  series.loss.assign(10'000, 1.0);
  series.loss[7777] = -1;
  series.loss[8888] = std::numeric_limits<double>::quiet_NaN();
  const CellSeries thin = Thinned(series, TestCell(), Budget());
  EXPECT_LT(thin.loss.size(), 70u);
  EXPECT_EQ(thin.loss.front().step, 1);
  EXPECT_EQ(thin.loss.back().step, 10'000);
  EXPECT_THAT(thin.loss, testing::Contains(testing::Field(&LossPoint::loss, -1)));
  EXPECT_THAT(thin.loss, testing::Contains(testing::Field(&LossPoint::loss, testing::IsNan())));
}

TEST(ThinningTest, CountsEpochsByTheDataSetAndAFixedBatchHasNone) {
  Cell cell = TestCell("native", "lenet", 16);
  EXPECT_EQ(StepsPerEpoch(cell, Budget(), 100), std::nullopt);
  cell.values[kAxisInput] = std::string("cycled");
  EXPECT_EQ(StepsPerEpoch(cell, Budget(), 100), std::nullopt);
  Budget epochs;
  epochs.epochs = 10;
  EXPECT_EQ(StepsPerEpoch(cell, epochs, 100), 10);
  cell.values[kAxisImages] = int64_t{1024};
  EXPECT_EQ(StepsPerEpoch(cell, epochs, 100), 64);
}

TEST(ThinningTest, TurnsCpuTimeIntoCpusInUse) {
  const CellSeries thin = Thinned(ReportSeries(), TestCell(), Budget());
  ASSERT_EQ(thin.use.size(), 3u);
  EXPECT_DOUBLE_EQ(thin.use[1].cpus, 1.5);
  EXPECT_DOUBLE_EQ(thin.use[0].cpus, 1.5);
  EXPECT_DOUBLE_EQ(thin.use[2].time_s, 0.2);
  EXPECT_DOUBLE_EQ(thin.use[2].rss_bytes, 3 << 20);
}

TEST(ThinningTest, ATickOfCpuTimeInAShortIntervalIsNoRate) {
  RunSeries series = ReportSeries();
  SampleSeries samples = *SampleSeries::Decode(series.samples);
  Sample last = samples.samples().back();
  last.time_ns += 4'000'000;
  last.cpu_ns += 10'000'000;
  samples.Add(last);
  series.samples = samples.Encode();
  const CellSeries thin = Thinned(series, TestCell(), Budget());
  ASSERT_EQ(thin.use.size(), 4u);
  EXPECT_DOUBLE_EQ(thin.use[3].cpus, 1.5);
}

TEST(ThinningTest, LeavesOutSamplesAfterTheMemoryWasReleased) {
  RunSeries series = ReportSeries();
  SampleSeries samples = *SampleSeries::Decode(series.samples);
  Sample released = samples.samples().back();
  released.time_ns += 100'000'000;
  released.rss_bytes = 0;
  samples.Add(released);
  series.samples = samples.Encode();
  const CellSeries thin = Thinned(series, TestCell(), Budget());
  ASSERT_EQ(thin.use.size(), 3u);
  EXPECT_DOUBLE_EQ(thin.use.back().rss_bytes, 3 << 20);
}

TEST(ThinningTest, GivesTheQuantilesOfAllSteps) {
  const CellSeries thin = Thinned(ReportSeries(), TestCell(), Budget());
  ASSERT_EQ(thin.step_ns_quantiles.size(), 7u);
  EXPECT_EQ(thin.step_ns_quantiles.front(), 6'400'000);
  EXPECT_EQ(thin.step_ns_quantiles[3], 6'449'500);
  EXPECT_EQ(thin.step_ns_quantiles.back(), 6'499'000);
}

}  // namespace
}  // namespace tench::thinning_test
