// SPDX-License-Identifier: Apache-2.0
#include "report/html/chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "report/html/charts.h"
#include "report/html/figures.h"
#include "report/html/test_report.h"

namespace tench::chart_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

class ChartTest : public testing::Test {
 protected:
  const Chart& Find(const std::string& id) {
    for (const Chart& chart : set_.charts) {
      if (chart.id == id) return chart;
    }
    ADD_FAILURE() << "there is no chart " << id;
    return set_.charts.front();
  }
  // The rows of a chart's data that one of its choices draws.
  std::vector<Json> Drawn(const std::string& id, const std::string& title) {
    for (const FigureFile& figure : FigureFiles(set_)) {
      if (figure.name.starts_with(id) &&
          figure.spec.value("/title/text"_json_pointer, "") == title) {
        const std::string name = figure.spec["data"]["name"];
        return figure.spec["datasets"][name].get<std::vector<Json>>();
      }
    }
    ADD_FAILURE() << "no figure " << id << " of " << title;
    return {};
  }

  ReportData data_ = SmallReport();
  ChartSet set_ = MakeCharts(data_);
};

TEST_F(ChartTest, EveryPartOfTheReportHasItsCharts) {
  std::vector<std::string> ids;
  for (const Chart& chart : set_.charts) ids.push_back(chart.id);
  EXPECT_THAT(ids,
              ElementsAre("overview", "time-by-batch", "rate-by-batch", "speed-up-worker",
                          "speed-up-threads", "loss-by-batch", "loss-by-worker", "use-over-time",
                          "peak-memory", "phases", "threads", "step-times", "then-and-now"));
}

TEST_F(ChartTest, ChoicesNameRealGroupsAndParametersOfTheSpec) {
  for (const Chart& chart : set_.charts) {
    ASSERT_FALSE(chart.choices.empty()) << chart.id;
    EXPECT_TRUE(set_.data.contains(chart.spec["data"]["name"])) << chart.id;
    std::set<std::string> names;
    for (const Json& parameter : chart.spec["params"]) names.insert(parameter["name"]);
    for (const ChartChoice& choice : chart.choices) {
      for (const auto& [name, value] : choice.parameters.items())
        EXPECT_THAT(names, Contains(name)) << chart.id;
    }
  }
}

TEST_F(ChartTest, AFigureIsTheSpecWithItsChoiceInPlace) {
  const Chart& chart = Find("time-by-batch");
  const Json spec = FigureSpec(chart, chart.choices[1], false);
  EXPECT_EQ(spec["params"][0]["value"], chart.choices[1].parameters["group"]);
  EXPECT_EQ(spec["title"]["text"], chart.choices[1].title);
  EXPECT_EQ(spec["layer"], chart.spec["layer"]);
}

TEST_F(ChartTest, TimeAgainstBatchIsLogLogWithOnePointPerWorkerAndBatch) {
  const Chart& chart = Find("time-by-batch");
  for (const char* axis : {"x", "y"})
    EXPECT_EQ(chart.spec["layer"][1]["encoding"][axis]["scale"]["type"], "log");
  std::set<std::pair<std::string, int>> points;
  for (const Json& row : Drawn("time-by-batch", "lenet on mnist, train")) {
    if (!row["rank"].is_null()) points.emplace(row["series"], row["batch"]);
  }
  EXPECT_THAT(points, ElementsAre(std::pair("mxnet", 16), std::pair("mxnet", 64),
                                  std::pair("torch", 16), std::pair("torch", 64)));
}

TEST_F(ChartTest, SpeedUpBeginsWithTheSlowestWorkerAsItsBase) {
  const Chart& chart = Find("speed-up-worker");
  EXPECT_EQ(chart.choices[0].detail, "over torch");
  EXPECT_EQ(chart.choices[0].parameters["base"], "torch");
  EXPECT_EQ(Find("speed-up-threads").choices[0].parameters["base"], 1);
}

TEST_F(ChartTest, MachinesAreComparedAcrossTheirDevices) {
  ReportBuilder builder;
  builder.Add(ReportRun("mxnet", 64));
  RunRecord other = ReportRun("mxnet", 64);
  other.machine = other.machine_id = "lake";
  other.cell.values[kAxisDevice] = std::string("gpu");
  other.cell_id = other.cell.Id();
  builder.Add(other);
  data_ = *std::move(builder).Finish([](int64_t) { return Result<RunSeries>(RunSeries()); });
  set_ = MakeCharts(data_);
  const Chart& chart = Find("speed-up-machine");
  ASSERT_EQ(chart.choices.size(), 2u);
  EXPECT_EQ(chart.choices[0].detail, "over lake, gpu");
  EXPECT_EQ(chart.choices[1].parameters["base"], "pond, cpu");
}

TEST_F(ChartTest, AGpuHasPanelsOfItsOwnWhereThereIsOne) {
  EXPECT_EQ(Find("use-over-time").spec["vconcat"].size(), 2u);
  const auto with_gpu = [](int64_t) {
    RunSeries series = ReportSeries();
    SampleSeries samples;
    const SampleSeries known = *SampleSeries::Decode(series.samples);
    for (Sample sample : known.samples()) {
      sample.gpu_use_percent = 90, sample.gpu_memory_bytes = int64_t{3} << 20;
      samples.Add(sample);
    }
    series.samples = samples.Encode();
    return Result<RunSeries>(std::move(series));
  };
  ReportBuilder builder;
  builder.Add(ReportRun("mxnet", 64));
  data_ = *std::move(builder).Finish(with_gpu);
  set_ = MakeCharts(data_);
  const Json& panels = Find("use-over-time").spec["vconcat"];
  ASSERT_EQ(panels.size(), 4u);
  EXPECT_EQ(panels[2]["encoding"]["y"]["field"], "gpu_percent");
  EXPECT_EQ(panels[3]["encoding"]["x"]["title"], "seconds since the launch");
  const std::vector<Json> drawn = Drawn("use-over-time", Find("use-over-time").choices[0].title);
  ASSERT_FALSE(drawn.empty());
  EXPECT_EQ(drawn[0]["gpu_percent"], 90);
  EXPECT_EQ(drawn[0]["gpu_mib"], 3);
}

TEST_F(ChartTest, LossesOnTheCpuAreDashedHollowAndLabelledByUnitAndBatch) {
  const Chart& chart = Find("loss-by-batch");
  const Json& dash = chart.spec["layer"][0]["encoding"]["strokeDash"]["scale"];
  EXPECT_EQ(dash["domain"], (Json{"CPU", "GPU"}));
  EXPECT_EQ(dash["range"], (Json{{5, 3}, {1, 0}}));
  EXPECT_EQ(chart.spec["layer"][1]["encoding"]["fillOpacity"]["value"], 0);
  EXPECT_EQ(chart.spec["layer"][0]["encoding"]["x"]["scale"]["type"], "log");
  std::set<std::string> labels, marks;
  for (const Json& row : Drawn("loss-by-batch", "mxnet: lenet on mnist, train")) {
    labels.insert(row["label"]);
    if (!row["mark"].is_null()) marks.insert(row["mark"]);
  }
  EXPECT_THAT(labels, ElementsAre("CPU (16)", "CPU (64)"));
  EXPECT_THAT(marks, ElementsAre("nan", "negative"));
  // Batches differ in their marker too, not in colour alone.
  EXPECT_EQ(chart.spec["layer"][1]["encoding"]["shape"]["field"], "label");
}

TEST_F(ChartTest, PhasesStackToTheTrainStep) {
  std::map<std::string, double> parts;
  for (const Json& row : Drawn("phases", "lenet on mnist, batch 64")) {
    if (row["series"] == "mxnet") parts[row["part"]] = row["image_ms"];
  }
  const double train = 0.1 * (1 + 1.0 / 64) * 1.002;  // the median round
  EXPECT_NEAR(parts["forward"], train * 0.25, 1e-5);
  EXPECT_NEAR(parts["backward"], train * 0.5, 1e-5);
  EXPECT_NEAR(parts["update"], train * 0.25, 1e-5);
}

TEST_F(ChartTest, ThreadsShowSpeedUpAndEfficiency) {
  const std::vector<Json> rows = Drawn("threads", "lenet on mnist, batch 32, train");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1]["threads"], 2);
  EXPECT_NEAR(rows[1]["speed_up"].get<double>(), 1.6, 1e-6);
  EXPECT_NEAR(rows[1]["efficiency"].get<double>(), 0.8, 1e-6);
}

TEST_F(ChartTest, ThenAndNowKeepsOtherHardwareApart) {
  const Chart& chart = Find("then-and-now");
  EXPECT_EQ(chart.choices[0].title, "lenet on mnist") << "what the reader measured comes first";
  EXPECT_THAT(chart.caption, HasSubstr("The hardware differs"));
  std::map<std::string, int> when;
  for (const Json& row : Drawn("then-and-now", "lenet on mnist")) ++when[row["when"]];
  EXPECT_EQ(when["this report"], 2);
  EXPECT_EQ(when["2018: CPU"], 5);
  EXPECT_EQ(when["2018: GPU, 2 × P100"], 5);
}

TEST_F(ChartTest, OutOfMemoryAndSwapAreShownOnTheMemoryChart) {
  ReportBuilder builder;
  for (const int64_t batch : {16, 64}) builder.Add(ReportRun("mxnet", batch));
  RunRecord swapped = ReportRun("mxnet", 128);
  swapped.flags.emplace_back("swapped");
  builder.Add(swapped);
  RunRecord failed = ReportRun("mxnet", 256);
  failed.outcome = Outcome::kOutOfMemory;
  builder.Add(failed);
  data_ = *std::move(builder).Finish([](int64_t) { return Result<RunSeries>(RunSeries()); });
  for (ReportCell& cell : data_.cells) cell.peak_swap_bytes = 0;
  set_ = MakeCharts(data_);
  std::map<int, std::string> states;
  for (const Json& row : Drawn("peak-memory", "lenet on mnist, train"))
    states[row["batch"]] = row["memory_state"];
  EXPECT_THAT(states, ElementsAre(std::pair(16, "ok"), std::pair(64, "ok"),
                                  std::pair(128, "swapped"), std::pair(256, "out of memory")));
}

TEST_F(ChartTest, NothingMeasuredLeavesOnlyThePublishedFigures) {
  const ChartSet set = MakeCharts(ReportData());
  ASSERT_EQ(set.charts.size(), 1u);
  EXPECT_EQ(set.charts[0].id, "then-and-now");
}

TEST_F(ChartTest, FigureNamesAreSafeFileNames) {
  ReportBuilder builder;
  for (const char* worker : {"mxnet", "torch"}) {
    RunRecord run = ReportRun(worker, 64);
    run.cell.values[kAxisNetwork] = std::string("../<script>/x");
    run.cell_id = run.cell.Id();
    builder.Add(run);
  }
  const auto data =
      std::move(builder).Finish([](int64_t) { return Result<RunSeries>(RunSeries()); });
  for (const FigureFile& figure : FigureFiles(MakeCharts(*data)))
    EXPECT_THAT(figure.name, testing::MatchesRegex("[a-z0-9.-]+"));
}

}  // namespace
}  // namespace tench::chart_test
