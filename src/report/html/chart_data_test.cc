// SPDX-License-Identifier: Apache-2.0
// The numbers and specifications of each chart, for a report whose times are known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "report/html/charts.h"
#include "report/html/published.h"
#include "report/html/series_style.h"
#include "report/html/test_report.h"

namespace tench::chart_data_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr double kFast64Ns = 100e3 * (1 + 1.0 / 64) * 1.002;  // per image, in the median round

using AddChart = void (*)(const ReportData&, ChartSet&);

ChartSet Only(AddChart add, const ReportData& data) {
  ChartSet set;
  add(data, set);
  return set;
}

ReportData Report(const std::vector<RunRecord>& runs) {
  ReportBuilder builder;
  for (const RunRecord& run : runs) builder.Add(run);
  return *std::move(builder).Finish([](int64_t) { return Result<RunSeries>(ReportSeries()); });
}

// The rows of a table whose columns have the given values.
std::vector<Json> Rows(const DataTable& table, const Json& wanted) {
  std::vector<Json> rows;
  for (const Json& row : table.ToRows()) {
    bool matches = true;
    for (const auto& [key, value] : wanted.items()) matches = matches && row[key] == value;
    if (matches) rows.push_back(row);
  }
  return rows;
}

std::vector<std::string> Titles(const std::vector<ChartChoice>& choices) {
  std::vector<std::string> titles;
  for (const ChartChoice& choice : choices) titles.push_back(choice.title);
  return titles;
}

std::string Calculation(const Json& spec, const std::string& as) {
  for (const Json& transform : spec["transform"]) {
    if (transform.value("as", "") == as) return transform["calculate"].get<std::string>();
  }
  return "";
}

TEST(ChartDataTest, ACellsRowHasItsTimesMemoryAndOutcome) {
  const DataTable table = CellTable(SmallReport());
  const std::vector<Json> rows =
      Rows(table, {{"series", "torch"}, {"batch", 64}, {"phase", "train"}});
  ASSERT_EQ(rows.size(), 1u);
  const Json& row = rows[0];
  EXPECT_NEAR(row["image_ns"].get<double>(), 2 * kFast64Ns, 1);
  EXPECT_NEAR(row["step_ns"].get<double>(), 2 * kFast64Ns * 64, 64);
  EXPECT_NEAR(row["images_per_s"].get<double>(), 1e9 / (2 * kFast64Ns), 0.1);
  EXPECT_NEAR(row["low"].get<double>(), row["image_ns"].get<double>(), 1) << "equal ratios";
  EXPECT_NEAR(row["high"].get<double>(), row["image_ns"].get<double>(), 1);
  EXPECT_EQ(row["rank"], 2);
  EXPECT_NEAR(row["ratio"].get<double>(), 2, 1e-5);
  EXPECT_EQ(row["threads_used"], 2);
  EXPECT_EQ(row["memory_bytes"], 5242880) << "5 MiB: of the timed steps, without the build";
  EXPECT_EQ(row["memory_state"], "swapped") << "7 bytes of swap were sampled";
  EXPECT_EQ(row["cpus"], 1.99);
  EXPECT_EQ(row["energy_j"], 3.5);
  EXPECT_EQ(row["gpu_use"], 0.5);
  EXPECT_EQ(row["loss"], 0.125);
  EXPECT_EQ(row["loss_step"], 103) << "three warm-up steps and a hundred timed ones";
  EXPECT_TRUE(row["parity_error"].is_null());
  EXPECT_EQ(row["flops_effective"], false);
  EXPECT_EQ(row["outcome"], "ok");
  EXPECT_EQ(row["runs_ok"], 5);
  EXPECT_EQ(row["runs"], 5);
  EXPECT_EQ(row["flags"], "") << "all cells are verified";
  EXPECT_EQ(row["role"], "framework");
  EXPECT_EQ(row["verdict"], "slower");
  EXPECT_EQ(row["steps"], "100");
  EXPECT_EQ(row["rounds"], 5);
  EXPECT_EQ(row["place"], "pond, cpu");
}

TEST(ChartDataTest, OnlyTheFastestCellOfADecidedComparisonHasWon) {
  const auto won = [](int64_t rounds) {
    std::vector<RunRecord> runs;
    for (int64_t round = 0; round < rounds; ++round) {
      runs.push_back(ReportRun("mxnet", 64, "train", round));
      runs.push_back(ReportRun("torch", 64, "train", round));
    }
    std::vector<std::string> names;
    for (const Json& row : Rows(CellTable(Report(runs)), {{"won", true}}))
      names.push_back(row["series"]);
    return names;
  };
  EXPECT_THAT(won(5), ElementsAre("mxnet"));
  EXPECT_THAT(won(4), IsEmpty()) << "too few rounds for a winner";
}

TEST(ChartDataTest, WithheldCpuTimeIsShownPerCellAndPerRound) {
  std::vector<RunRecord> runs;
  for (int64_t round = 0; round < 3; ++round) {
    runs.push_back(ReportRun("mxnet", 64, "train", round));
    runs.back().summary.steal_share = 0.125 * static_cast<double>(round);
    runs.back().summary.throttled_share = std::nullopt;
  }
  const ReportData data = Report(runs);
  const Json row = CellTable(data).ToRows()[0];
  EXPECT_EQ(row["steal_share"], 0.125) << "the median";
  EXPECT_TRUE(row["throttled_share"].is_null()) << "not read";
  EXPECT_EQ(RoundTable(data).ToRows()[2]["steal_share"], 0.25);
}

TEST(ChartDataTest, AFailedCellsRowHasAReasonAndNoNumbers) {
  const std::vector<Json> rows = Rows(CellTable(SmallReport()), {{"series", "caffe"}});
  ASSERT_EQ(rows.size(), 1u);
  for (const char* column : {"rank", "image_ns", "images_per_s", "step_ns", "ratio"})
    EXPECT_TRUE(rows[0][column].is_null()) << column;
  EXPECT_EQ(rows[0]["outcome"], "unsupported");
  EXPECT_EQ(rows[0]["reason"], "not installed <b>yet</b>");
  EXPECT_EQ(rows[0]["runs_ok"], 0);
  EXPECT_EQ(rows[0]["runs"], 5);
}

TEST(ChartDataTest, OutOfMemoryWithoutASampleCountsAsTheMachinesMemory) {
  RunRecord failed = FailedRun("mxnet", Outcome::kOutOfMemory, "killed");
  ReportData data = Report({failed});
  StudyRecord study = TestStudy();
  study.host_json = R"({"memory_bytes": 8000000})";
  data.ranking.studies = {study};
  const DataTable table = CellTable(data);
  EXPECT_EQ(table.At(0, "memory_bytes"), 8000000);
  EXPECT_EQ(table.At(0, "memory_state"), "out of memory");
  data.ranking.studies[0].machine_id = "another";
  EXPECT_TRUE(CellTable(data).At(0, "memory_bytes").is_null());
}

TEST(ChartDataTest, OverviewShowsEveryComparisonWithRatesAndLabels) {
  const ChartSet set = Only(AddOverviewChart, SmallReport());
  ASSERT_EQ(set.charts.size(), 1u);
  const Json& panels = set.charts[0].spec["concat"];
  EXPECT_EQ(panels.size(), SmallReport().ranking.groups.size());
  size_t train = 0;
  while (panels[train]["title"]["text"] != "lenet on mnist, batch 64, train") ++train;
  const std::vector<Json> rows = Rows(set.data.at("overview"), {{"panel", train}});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["series"], "mxnet");
  EXPECT_EQ(rows[0]["label"], "9827 /s");
  EXPECT_EQ(rows[1]["label"], "4913  (2.00×)");
  EXPECT_EQ(rows[1]["rank"], 2);
  EXPECT_EQ(rows[0]["rate_low"], rows[0]["images_per_s"]) << "the fastest has no interval";
  EXPECT_TRUE(rows[0]["baseline_rate"].is_null());
  const Json& x = panels[train]["layer"][0]["encoding"]["x"];
  EXPECT_EQ(x["field"], "images_per_s");
  EXPECT_NEAR(x["scale"]["domain"][1].get<double>(), 1.5 * rows[0]["rate_high"].get<double>(), 0.1);
  EXPECT_EQ(panels[train]["layer"][0]["encoding"]["y"]["sort"], (Json{"mxnet", "torch"}));
}

TEST(ChartDataTest, TheBaselineIsALineInTheOverviewAndNoWhiskerLeavesTheChart) {
  std::vector<RunRecord> runs;
  for (int64_t round = 0; round < 5; ++round) {
    runs.push_back(ReportRun("mxnet", 64, "train", round));
    runs.push_back(ReportRun("native", 64, "train", round));
    RunRecord torch = ReportRun("torch", 64, "train", round);
    // Ratios from 0.5 to 8: the interval of their mean is wide.
    torch.summary.step_ns_min = *torch.summary.step_ns_min * std::pow(2.0, round - 2.0);
    runs.push_back(torch);
  }
  const ChartSet set = Only(AddOverviewChart, Report(runs));
  const Json& panel = set.charts[0].spec["concat"][0];
  EXPECT_EQ(panel["layer"].size(), 5u);
  EXPECT_EQ(panel["layer"][3]["mark"]["style"], "halo") << "above the line, below the label";
  EXPECT_EQ(panel["layer"][1]["encoding"]["x"]["field"], "baseline_rate");
  const double end = panel["layer"][0]["encoding"]["x"]["scale"]["domain"][1];
  const DataTable& table = set.data.at("overview");
  ASSERT_EQ(table.size(), 2u) << "native has no bar";
  for (size_t i = 0; i < table.size(); ++i) {
    EXPECT_EQ(table.At(i, "baseline"), "native");
    EXPECT_LT(table.At(i, "rate_high").get<double>(), end);
  }
}

TEST(ChartDataTest, OverviewAbbreviatesThousandsAndKeepsSmallRates) {
  RunRecord fast = ReportRun("mxnet", 64), slow = ReportRun("mxnet", 64);
  fast.summary.step_ns_min = 64 * 1e9 / 12345;
  slow.cell.values[kAxisNetwork] = std::string("vgg16");
  slow.cell_id = slow.cell.Id();
  slow.summary.step_ns_min = 64 * 1e9 / 3.456;
  const ChartSet set = Only(AddOverviewChart, Report({fast, slow}));
  const DataTable& table = set.data.at("overview");
  EXPECT_EQ(table.At(0, "label"), "12.3k /s");
  EXPECT_EQ(table.At(1, "label"), "3.46 /s");
}

TEST(ChartDataTest, BatchChartsConvertUnitsAndStartWithTraining) {
  const ChartSet set = Only(AddBatchCharts, SmallReport());
  ASSERT_EQ(set.charts.size(), 2u);
  const Json &time = set.charts[0].spec, &rate = set.charts[1].spec;
  EXPECT_EQ(Calculation(time, "image_ms"), "datum.image_ns / 1e6");
  const std::string low_ns = "(isValid(datum.low) ? datum.low : datum.image_ns)",
                    high_ns = "(isValid(datum.high) ? datum.high : datum.image_ns)";
  EXPECT_EQ(Calculation(time, "low_ms"), low_ns + " / 1e6");
  EXPECT_EQ(Calculation(time, "high_ms"), high_ns + " / 1e6");
  EXPECT_EQ(Calculation(rate, "rate_low"), "1e9 / " + high_ns) << "a longer time is a lower rate";
  EXPECT_EQ(Calculation(rate, "rate_high"), "1e9 / " + low_ns);
  EXPECT_EQ(time["transform"][0]["filter"],
            "datum.in_batches === group && datum.outcome === 'ok' && isValid(datum.image_ns)");
  for (const auto& [spec, value, low, high] :
       {std::tuple(&time, "image_ms", "low_ms", "high_ms"),
        std::tuple(&rate, "images_per_s", "rate_low", "rate_high")}) {
    EXPECT_EQ((*spec)["layer"][2]["encoding"]["y"]["field"], value);
    EXPECT_EQ((*spec)["layer"][1]["encoding"]["y"]["field"], value);
    EXPECT_EQ((*spec)["layer"][0]["encoding"]["y"]["field"], low);
    EXPECT_EQ((*spec)["layer"][0]["encoding"]["y2"]["field"], high);
  }
  EXPECT_EQ(time["layer"][2]["encoding"]["x"]["axis"]["values"], (Json{16, 32, 64}));
  EXPECT_EQ(set.charts[0].choices[0].title, "lenet on mnist, train");
  EXPECT_EQ(set.charts[0].choices.size(), 3u);
}

TEST(ChartDataTest, OneBatchSizeHasNoBatchCharts) {
  const ReportData data = Report({ReportRun("mxnet", 64), ReportRun("torch", 64)});
  EXPECT_THAT(Only(AddBatchCharts, data).charts, IsEmpty());
  EXPECT_THAT(Only(AddPeakMemoryChart, data).charts, IsEmpty());
}

TEST(ChartDataTest, SpeedUpDividesTheBaselinesTimeByTheOthers) {
  const ChartSet set = Only(AddSpeedUpCharts, SmallReport());
  ASSERT_EQ(set.charts.size(), 2u);
  const Chart &workers = set.charts[0], &threads = set.charts[1];
  EXPECT_EQ(Calculation(workers.spec, "own"), "datum.series === base ? datum.image_ns : null");
  EXPECT_EQ(Calculation(workers.spec, "speed_up"), "datum.base_ns / datum.image_ns");
  EXPECT_EQ(workers.spec["transform"][2]["groupby"], Json::array({"batch"}));
  EXPECT_EQ(threads.spec["transform"][2]["groupby"], (Json{"batch", "series"}));
  EXPECT_EQ(Calculation(threads.spec, "own"),
            "datum.threads_used === base ? datum.image_ns : null");
  EXPECT_EQ(Calculation(threads.spec, "side"), "datum.series + ' ' + datum.threads_used");
  EXPECT_EQ(workers.choices.size(), 6u) << "two baselines for each of three phases";
  ASSERT_EQ(threads.choices.size(), 2u);
  EXPECT_EQ(threads.choices[0].detail, "over 1");
  EXPECT_EQ(threads.choices[1].parameters["base"], 2);
}

TEST(ChartDataTest, DevicesAreComparedWhereThereAreTwo) {
  RunRecord gpu = ReportRun("torch", 64);
  gpu.cell.values[kAxisDevice] = std::string("gpu");
  gpu.cell_id = gpu.cell.Id();
  const ChartSet set = Only(AddSpeedUpCharts, Report({ReportRun("torch", 64), gpu}));
  ASSERT_EQ(set.charts.size(), 1u);
  EXPECT_EQ(set.charts[0].id, "speed-up-device");
  EXPECT_EQ(set.charts[0].choices[0].detail, "over cpu");
  EXPECT_EQ(Calculation(set.charts[0].spec, "own"),
            "datum.device === base ? datum.image_ns : null");
}

TEST(ChartDataTest, LossCurvesKeepTheirEndsAndDrawNanAtTheLastFiniteLoss) {
  const ChartSet set = Only(AddLossCharts, SmallReport());
  const std::vector<Json> rows =
      Rows(set.data.at("loss"), {{"series", "mxnet"}, {"batch", 64}, {"unit", "CPU"}});
  ASSERT_GT(rows.size(), 10u);
  EXPECT_EQ(rows[0]["step"], 1);
  EXPECT_TRUE(rows[0]["epoch"].is_null()) << "a resident batch has no epochs";
  EXPECT_EQ(rows[0]["loss"], 2.3);
  EXPECT_TRUE(rows[0]["mark"].is_null());
  const Json &negative = rows[rows.size() - 2], &undefined = rows.back();
  EXPECT_EQ(negative["mark"], "negative");
  EXPECT_EQ(negative["glyph"], "▼");
  EXPECT_EQ(undefined["mark"], "nan");
  EXPECT_EQ(undefined["glyph"], "✖");
  EXPECT_EQ(undefined["step"], 101);
  EXPECT_EQ(undefined["loss"], -0.5);
  for (size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(rows[i]["shown"], i % 4 == 0 ? 1 : 0);
  EXPECT_EQ(set.charts[0].spec["transform"][0]["filter"], GroupFilter(kGroupCurves));
  EXPECT_EQ(set.charts[1].spec["transform"][0]["filter"], GroupFilter(kGroupWorkers));
}

TEST(ChartDataTest, OnlyTrainedAndRightCellsHaveALossCurve) {
  EXPECT_THAT(Only(AddLossCharts, Report({ReportRun("mxnet", 64, "gradient")})).charts, IsEmpty());
  ReportData data = Report({ReportRun("mxnet", 64)});
  EXPECT_EQ(Only(AddLossCharts, data).charts.size(), 2u);
  data.cells[0].row.outcome = Outcome::kWrong;
  EXPECT_THAT(Only(AddLossCharts, data).charts, IsEmpty());
}

TEST(ChartDataTest, UseOverTimeIsInSecondsAndMebibytes) {
  ReportData data = Report({ReportRun("mxnet", 64)});
  ChartSet set = Only(AddUseChart, data);
  const DataTable& table = set.data.at("use");
  ASSERT_EQ(table.size(), 3u);
  EXPECT_EQ(table.At(2, "time_s"), 0.2);
  EXPECT_EQ(table.At(1, "rss_mib"), 2);
  EXPECT_EQ(table.At(2, "cpus"), 1.5);
  EXPECT_EQ(table.At(2, "swap_mib"), 0);
  EXPECT_TRUE(table.At(2, "gpu_percent").is_null());
  EXPECT_EQ(set.charts[0].spec["vconcat"].size(), 2u);
  data.cells[0].series_data.use[1].swap_bytes = 4 << 20;
  set = Only(AddUseChart, data);
  EXPECT_EQ(set.data.at("use").At(1, "swap_mib"), 4);
  EXPECT_EQ(set.charts[0].spec["vconcat"][1]["encoding"]["y"]["field"], "swap_mib");
  data.cells[0].series_data.use.resize(1);
  EXPECT_THAT(Only(AddUseChart, data).charts, IsEmpty()) << "one sample is no curve";
}

TEST(ChartDataTest, PeakMemoryIsInMebibytesOverTheBatch) {
  const ChartSet set = Only(AddPeakMemoryChart, SmallReport());
  ASSERT_EQ(set.charts.size(), 1u);
  const Json& spec = set.charts[0].spec;
  EXPECT_EQ(Calculation(spec, "mib"), "datum.memory_bytes / 1048576");
  for (const int layer : {0, 1}) {
    EXPECT_EQ(spec["layer"][layer]["encoding"]["x"]["field"], "batch");
    EXPECT_EQ(spec["layer"][layer]["encoding"]["y"]["field"], "mib");
  }
  const Json& shape = spec["layer"][1]["encoding"]["shape"]["scale"];
  EXPECT_EQ(shape["domain"], (Json{"ok", "swapped", "out of memory"}));
  EXPECT_EQ(shape["range"], (Json{"circle", "triangle-up", "cross"}));
}

std::map<std::string, double> Parts(const std::vector<RunRecord>& runs) {
  const ChartSet set = Only(AddPhaseChart, Report(runs));
  std::map<std::string, double> parts;
  if (set.charts.empty()) return parts;
  for (const Json& row : set.data.at("phases").ToRows()) parts[row["part"]] = row["image_ms"];
  return parts;
}

TEST(ChartDataTest, MissingPhasesAreMergedIntoTheNextPart) {
  const double train_ms = 0.1 * (1 + 1.0 / 64);
  const RunRecord forward = ReportRun("mxnet", 64, "forward"),
                  gradient = ReportRun("mxnet", 64, "gradient"), train = ReportRun("mxnet", 64);
  std::map<std::string, double> parts = Parts({forward, train});
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_NEAR(parts["forward"], 0.25 * train_ms, 1e-6);
  EXPECT_NEAR(parts["backward and update"], 0.75 * train_ms, 1e-6);
  parts = Parts({gradient, train});
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_NEAR(parts["forward and backward"], 0.75 * train_ms, 1e-6);
  EXPECT_NEAR(parts["update"], 0.25 * train_ms, 1e-6);
  EXPECT_THAT(Parts({train}), IsEmpty());
}

TEST(ChartDataTest, APhaseThatNoiseMadeShorterHasNoNegativePart) {
  RunRecord forward = ReportRun("mxnet", 64, "forward"), train = ReportRun("mxnet", 64);
  forward.summary.step_ns_min = *train.summary.step_ns_min * 1.1;
  std::map<std::string, double> parts = Parts({forward, train});
  EXPECT_EQ(parts["backward and update"], 0);
}

TEST(ChartDataTest, ThreadScalingPrefersTheNamedCount) {
  RunRecord one = ReportRun("mxnet", 64, "train", 0, 1),
            two = ReportRun("mxnet", 64, "train", 0, 2), all = ReportRun("mxnet", 64);
  all.summary.step_ns_median = *two.summary.step_ns_median / 2;
  const ChartSet set = Only(AddThreadChart, Report({one, two, all}));
  const DataTable& table = set.data.at("threads");
  ASSERT_EQ(table.size(), 2u);
  EXPECT_EQ(table.At(0, "speed_up"), 1);
  EXPECT_EQ(table.At(1, "speed_up"), 1.6);
  EXPECT_EQ(table.At(1, "ideal"), 2);
  EXPECT_EQ(table.At(1, "efficiency"), 0.8);
  EXPECT_THAT(Only(AddThreadChart, Report({one})).charts, IsEmpty());
}

TEST(ChartDataTest, StepTimesAreQuantilesInMilliseconds) {
  const ChartSet set = Only(AddStepChart, Report({ReportRun("mxnet", 64)}));
  const DataTable& table = set.data.at("steps");
  ASSERT_EQ(table.size(), 1u);
  // Steps of 6.400, 6.401, … 6.499 ms.
  for (const auto& [column, ms] :
       {std::pair("least", 6.4), std::pair("p5", 6.40495), std::pair("p25", 6.42475),
        std::pair("p50", 6.4495), std::pair("p75", 6.47425), std::pair("p95", 6.49405),
        std::pair("most", 6.499)})
    EXPECT_NEAR(table.At(0, column).get<double>(), ms, 6e-4) << column;
  const Json& layers = set.charts[0].spec["layer"];
  EXPECT_EQ(layers[0]["encoding"]["x"]["field"], "least");
  EXPECT_EQ(layers[0]["encoding"]["x2"]["field"], "most");
  EXPECT_EQ(layers[2]["encoding"]["x"]["field"], "p25");
  EXPECT_EQ(layers[2]["encoding"]["x2"]["field"], "p75");
}

TEST(ChartDataTest, ThenAndNowTakesTheNearestBatchByRatio) {
  RunRecord half = ReportRun("mxnet", 64);
  half.cell.values[kAxisPrecision] = std::string("bf16");
  half.cell_id = half.cell.Id();
  const ChartSet set =
      Only(AddThenAndNowChart, Report({ReportRun("mxnet", 16), ReportRun("mxnet", 512),
                                       ReportRun("mxnet", 64, "forward"), half}));
  const DataTable& table = set.data.at("then_and_now");
  const std::vector<Json> now = Rows(table, {{"when", "this report"}});
  ASSERT_EQ(now.size(), 1u) << "inference and bf16 are not comparable";
  EXPECT_EQ(now[0]["batch"], 16) << "16 is a quarter of 64, 512 eight times it";
  EXPECT_EQ(now[0]["framework"], "mxnet, now");
  EXPECT_EQ(now[0]["hardware"], "pond, cpu, 2 threads");
  EXPECT_NEAR(now[0]["images_per_s"].get<double>(), 1e9 / (100e3 * (1 + 1.0 / 16)), 0.1);
  const std::vector<PublishedRate> rates = PublishedRates();
  ASSERT_EQ(table.size(), rates.size() + 1);
  EXPECT_NEAR(table.At(0, "images_per_s").get<double>(), rates[0].images_per_s,
              rates[0].images_per_s * 1e-5);
  EXPECT_EQ(table.At(0, "framework"), rates[0].framework);
  EXPECT_EQ(Titles(set.charts[0].choices).front(), "lenet on mnist");
}

TEST(ChartDataTest, GroupChoicesNeedEnoughDistinctValues) {
  const ReportData data = SmallReport();
  const auto batch = [](const ReportCell& cell) {
    return cell.measured() ? std::to_string(cell.cell.Integer(kAxisBatch)) : std::string();
  };
  EXPECT_THAT(Titles(GroupChoices(data, kGroupBatches, 2, batch)),
              ElementsAre("lenet on mnist, train", testing::_, testing::_));
  EXPECT_EQ(GroupChoices(data, kGroupBatches, 1, batch).size(), 5u) << "and threads 1 and 2";
  EXPECT_THAT(GroupChoices(data, kGroupBatches, 3, batch), IsEmpty());
}

TEST(ChartDataTest, BuildingBlocksAreWhatVegaLiteExpects) {
  const Json frame = SpecFrame("cells", Json::array({{{"filter", "x"}}}));
  EXPECT_EQ(frame["data"]["name"], "cells");
  EXPECT_EQ(frame["params"], Json::array({{{"name", "group"}, {"value", 0}}}));
  EXPECT_EQ(frame["transform"][0]["filter"], "x");
  const Json axis = LogAxis("batch", "batch size", {1, 2});
  EXPECT_EQ(axis["scale"]["type"], "log");
  EXPECT_EQ(axis["field"], "batch");
  EXPECT_EQ(axis["axis"]["values"], (Json{1, 2}));
  EXPECT_FALSE(LogAxis("mib", "MiB")["axis"].contains("values"));
  const Json tooltip = Tooltip({{"series", "worker", ""}, {"mib", "MiB", ".3~g"}});
  EXPECT_EQ(tooltip[0], (Json{{"field", "series"}, {"title", "worker"}}));
  EXPECT_EQ(tooltip[1]["format"], ".3~g");
  EXPECT_EQ(tooltip[1]["type"], "quantitative");
  EXPECT_EQ(GroupFilter(kGroupBatches), "datum.in_batches === group");
}

TEST(ChartDataTest, SeriesHaveTheirColourMarkerAndDashByName) {
  const ReportData data =
      Report({ReportRun("reference", 64), ReportRun("torch", 64), ReportRun("native", 64),
              FailedRun("caffe", Outcome::kUnsupported, "not installed")});
  const Json colour = SeriesColour(data);
  EXPECT_EQ(colour["scale"]["domain"], (Json{"native", "torch", "reference"}));
  EXPECT_EQ(colour["scale"]["range"][1], StyleOf("torch").colour);
  EXPECT_EQ(SeriesShape(data)["scale"]["range"][1], StyleOf("torch").shape);
  EXPECT_EQ(SeriesDash(data)["scale"]["range"][1], Json(StyleOf("torch").dash));
  EXPECT_TRUE(SeriesColour(data, false)["legend"].is_null());
}

TEST(ChartDataTest, LossesCountStepsWithoutEpochs) {
  RunRecord fixed = ReportRun("mxnet", 64), cycled = ReportRun("torch", 64);
  fixed.dropout = true;
  cycled.cell.values[kAxisInput] = std::string("cycled");
  cycled.cell.values[kAxisImages] = int64_t{640};
  cycled.cell_id = cycled.cell.Id();
  cycled.dropout = false;
  const ChartSet set = Only(AddLossCharts, Report({fixed, cycled}));
  for (const ChartChoice& choice : set.charts.at(1).choices) {
    const bool epochs = choice.title.find("cycled") != std::string::npos;
    EXPECT_EQ(choice.x_title, epochs ? "epochs" : "steps");
    EXPECT_EQ(choice.parameters["epochs"], epochs);
    EXPECT_EQ(choice.note, "") << "one curve";
    const Json figure = FigureSpec(set.charts[1], choice, false);
    EXPECT_EQ(figure["layer"][0]["encoding"]["x"]["title"], choice.x_title);
  }
  const std::vector<Json> rows = Rows(set.data.at("loss"), {{"series", "torch"}, {"step", 10}});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]["epoch"], 1);
}

TEST(ChartDataTest, LossesOfSeveralWorkersSayWhetherTheyCoincide) {
  const auto note = [](bool dropout) {
    RunRecord a = ReportRun("mxnet", 64), b = ReportRun("torch", 64);
    a.dropout = b.dropout = dropout;
    return Only(AddLossCharts, Report({a, b})).charts.at(1).choices.at(0).note;
  };
  EXPECT_THAT(note(false), testing::HasSubstr("The curves coincide"));
  EXPECT_THAT(note(true), testing::HasSubstr("own dropout masks"));
}

TEST(ChartDataTest, HalosHaveTheColourOfThePagesCards) {
  EXPECT_EQ(ChartTheme(false)["style"]["halo"]["stroke"], "#ffffff");
  EXPECT_EQ(ChartTheme(true)["style"]["halo"]["stroke"], "#191f21");
}

TEST(ChartDataTest, ThemesDifferInInkAndShareATransparentBackground) {
  const Json light = ChartTheme(false), dark = ChartTheme(true);
  EXPECT_EQ(light["background"], "transparent");
  EXPECT_EQ(dark["background"], "transparent");
  EXPECT_NE(light["title"]["color"], dark["title"]["color"]);
  EXPECT_NE(light["axis"]["gridColor"], dark["axis"]["gridColor"]);
}

}  // namespace
}  // namespace tench::chart_data_test
