// SPDX-License-Identifier: Apache-2.0
#include "report/run_listing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/csv.h"
#include "store/run_column.h"
#include "store/test_run.h"

namespace tench::run_listing_test {
namespace {

using testing::HasSubstr;

TEST(RunListingTest, ARowHasEveryColumnOfTheStore) {
  const Json row = RunRow(TestRun());
  for (const RunColumn& column : RunColumns())
    EXPECT_TRUE(row.contains(column.name)) << column.name;
  EXPECT_EQ(row["worker"], "reference");
  EXPECT_EQ(row["threads_used"], 2);
  EXPECT_EQ(row["step_ns_median"], 10.5e6);
  EXPECT_EQ(row["budget_min_steps"], 7);
  EXPECT_EQ(row["limit_swap"], "kill");
}

TEST(RunListingTest, ARunBecomesOneCsvRecordOfAsManyFieldsAsTheHeader) {
  RunRecord run = TestRun();
  run.reason = "a, \"quoted\" reason";
  const Json row = RunRow(run);
  EXPECT_THAT(CsvNames(row), HasSubstr("id,study,round,attempt,repetition,cell_id,worker,network"));
  EXPECT_THAT(CsvRecord(row), HasSubstr("\"a, \"\"quoted\"\" reason\""));
  EXPECT_THAT(CsvRecord(row), HasSubstr("layout=nchw"));
}

TEST(RunListingTest, StepsAreNumberedFromTheFirstWarmUpStep) {
  RunSeries series;
  series.warmup_ns = {30};
  series.step_ns = {10, 20};
  series.input_ns = {1, 2};
  series.loss = {2.5, 1.5, std::numeric_limits<double>::quiet_NaN()};
  const std::vector<Json> rows = StepRows(series);
  ASSERT_EQ(rows.size(), 3);
  EXPECT_EQ(rows[0].dump(),
            R"({"step":1,"kind":"warmup","step_ns":30,"input_ns":null,"loss":2.5,"slice":null})");
  EXPECT_EQ(rows[1].dump(),
            R"({"step":2,"kind":"timed","step_ns":10,"input_ns":1,"loss":1.5,"slice":null})");
  EXPECT_EQ(rows[2].dump(),
            R"({"step":3,"kind":"timed","step_ns":20,"input_ns":2,"loss":"nan","slice":null})");
  EXPECT_EQ(StepTable(series).rows(), 3);
}

TEST(RunListingTest, StepsOfALogWithoutLossesHaveNone) {
  RunSeries series;
  series.step_ns = {10};
  EXPECT_EQ(StepRows(series)[0]["loss"], nullptr);
}

TEST(RunListingTest, SamplesHaveNoGpuWhereNoneWasSampled) {
  SampleSeries samples;
  Sample sample;
  sample.time_ns = 5, sample.processes = 1, sample.rss_bytes = 1 << 20;
  samples.Add(sample);
  sample.time_ns = 6, sample.gpu_use_percent = 40;
  samples.Add(sample);
  const std::vector<Json> rows = SampleRows(samples);
  ASSERT_EQ(rows.size(), 2);
  EXPECT_EQ(rows[0]["gpu_use_percent"], nullptr);
  EXPECT_EQ(rows[1]["gpu_use_percent"], 40);
  EXPECT_EQ(rows[0]["rss_bytes"], 1 << 20);
}

TEST(RunListingTest, ANarrowTerminalKeepsTheRunItsCellAndItsOutcome) {
  TextTable table = RunTable();
  table.AddRow(RunCells(TestRun(3, 1)));
  const std::vector<std::string> omitted = table.Fit(80);
  EXPECT_THAT(omitted, testing::Contains("flags"));
  const std::string text = table.Render(80);
  EXPECT_THAT(text, HasSubstr("reference"));
  EXPECT_THAT(text, HasSubstr("outcome"));
  for (size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
    EXPECT_LE(TextWidth(text.substr(at, end - at)), 80);
}

TEST(RunListingTest, StepsOfARunInTurnsNameTheirSlice) {
  RunSeries series;
  series.warmup_ns = {90, 50, 60};
  series.step_ns = {10, 20, 30};
  series.loss = {6, 5, 4, 3, 2, 1};
  SliceSet set;
  set.warmup_steps = 1;
  set.slices.resize(2);
  set.slices[0].warmup_steps = set.slices[1].warmup_steps = 1;
  set.slices[0].steps = 2;
  set.slices[1].steps = 1;
  std::string text;
  for (const Json& row : StepRows(series, set))
    text += fmt::format("{} {} {} {}; ", row["slice"].dump(), row["kind"].get<std::string>(),
                        row["step_ns"].dump(), row["loss"].dump());
  EXPECT_EQ(text,
            "null warmup 90 6.0; 1 warmup 50 5.0; 1 timed 10 4.0; 1 timed 20 3.0; "
            "2 warmup 60 2.0; 2 timed 30 1.0; ");
}

}  // namespace
}  // namespace tench::run_listing_test
