// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "base/text.h"
#include "record/run_flag.h"
#include "record/worker_version.h"
#include "report/group_answer.h"
#include "report/html/charts.h"
#include "report/html/comparison_view.h"
#include "report/record_json.h"
#include "report/row_text.h"
#include "stats/stats.h"

namespace tench {
namespace {

// Peak memory. An out-of-memory run without a sample counts as the machine's whole memory.
std::optional<double> MemoryBytes(const ReportData& data, const ReportCell& cell) {
  if (cell.row.peak_rss_bytes) return static_cast<double>(*cell.row.peak_rss_bytes);
  if (cell.row.outcome != Outcome::kOutOfMemory) return std::nullopt;
  for (const StudyRecord& study : data.ranking.studies) {
    const Json host = Json::parse(study.host_json, nullptr, false);
    if (study.machine_id == cell.machine_id && host.is_object() && host.contains("memory_bytes"))
      return host["memory_bytes"].get<double>();
  }
  return std::nullopt;
}

std::string MemoryState(const ReportCell& cell) {
  if (cell.row.outcome == Outcome::kOutOfMemory) return "out of memory";
  return cell.HasFlag(kFlagSwapped) || cell.peak_swap_bytes.value_or(0) > 0 ? "swapped" : "ok";
}

std::vector<std::string> CellColumns() {
  std::vector<std::string> columns = {"series",
                                      "role",
                                      "version",
                                      "machine",
                                      "rank",
                                      "threads_used",
                                      "image_ns",
                                      "low",
                                      "high",
                                      "images_per_s",
                                      "step_ns",
                                      "ratio",
                                      "ratio_low",
                                      "ratio_high",
                                      "verdict",
                                      "steps",
                                      "rounds",
                                      "gflops_per_s",
                                      "memory_bytes",
                                      "memory_state",
                                      "cpus",
                                      "energy_j",
                                      "gpu_use",
                                      "to_first_step_ns",
                                      "spread",
                                      "loss",
                                      "loss_step",
                                      "p50_ns",
                                      "p90_ns",
                                      "p99_ns",
                                      "parity_error",
                                      "flops_effective",
                                      "outcome",
                                      "runs_ok",
                                      "runs",
                                      "flags",
                                      "reason",
                                      "command",
                                      "options",
                                      "place",
                                      "start_ns",
                                      "build_ns",
                                      "tune_ns",
                                      "pays_after",
                                      "settings",
                                      "steal_share",
                                      "throttled_share",
                                      "won",
                                      "loading_ns",
                                      "exposed_ns",
                                      "end_to_end_ns",
                                      "image_energy_j"};
  for (const Axis& axis : Axes()) columns.push_back(axis.column);
  for (size_t i = 0; i < kGroupingCount; ++i)
    columns.emplace_back(ColumnOf(static_cast<Grouping>(i)));
  return columns;
}

// The fastest cells of the comparisons that have a winner.
std::set<const ReportCell*> WinnersOf(const ReportData& data) {
  std::set<const ReportCell*> winners;
  for (const ComparisonView& view : ComparisonsOf(data)) {
    if (view.answer.won()) winners.insert(&view.CellOf(*view.answer.fastest));
  }
  return winners;
}

// The median over the counted runs of a share of withheld CPU time.
std::optional<double> WithheldShare(const RankRow& row,
                                    std::optional<double> NoiseReadings::*share) {
  std::vector<double> shares;
  for (const RoundTime& time : row.times) {
    if (time.noise.*share) shares.push_back(*(time.noise.*share));
  }
  return shares.empty() ? std::nullopt : std::optional(Median(std::move(shares)));
}

std::string OptionsText(const ReportCell& cell) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : cell.row.options) parts.push_back(name + "=" + value);
  return Join(parts, " ");
}

}  // namespace

DataTable CellTable(const ReportData& data) {
  const std::set<const ReportCell*> winners = WinnersOf(data);
  DataTable table(CellColumns());
  for (const ReportCell& cell : data.cells) {
    const RankRow& row = cell.row;
    std::optional<double> image, low, high, rate, ratio_low, ratio_high;
    const auto images = static_cast<double>(std::max<int64_t>(cell.cell.Integer(kAxisBatch), 1));
    if (row.step_ns) {
      image = row.step_ns->value / images;
      if (*image > 0) rate = 1e9 / *image;
      if (const auto interval = RatioInterval(row); interval && row.ratio > 0) {
        ratio_low = interval->low;
        ratio_high = interval->high;
        low = *image / row.ratio * interval->low;
        high = *image / row.ratio * interval->high;
      }
    }
    std::vector<Json> values = {
        cell.series,
        Name(row.role),
        ShownVersion(row.worker_version, row.build),
        cell.machine,
        row.rank > 0 ? Json(row.rank) : Json(nullptr),
        row.threads,
        ChartNumber(image),
        ChartNumber(low),
        ChartNumber(high),
        ChartNumber(rate),
        row.step_ns ? ChartNumber(row.step_ns->value) : Json(nullptr),
        row.ratio > 0 ? ChartNumber(row.ratio) : Json(nullptr),
        ChartNumber(ratio_low),
        ChartNumber(ratio_high),
        row.against_best ? Json(Name(row.verdict)) : Json(nullptr),
        StepsText(row.times),
        row.times.size(),
        row.flops_per_s ? ChartNumber(*row.flops_per_s / 1e9) : Json(nullptr),
        ChartNumber(MemoryBytes(data, cell)),
        MemoryState(cell),
        ChartNumber(cell.cpu_per_wall),
        ChartNumber(cell.cpu_energy_j),
        ChartNumber(cell.gpu_use_mean),
        ChartNumber(cell.to_first_step_ns),
        ChartNumber(cell.spread),
        ChartNumber(row.loss),
        row.loss ? Json(cell.loss_step) : Json(nullptr),
        row.latency ? ChartNumber(row.latency->p50_ns) : Json(nullptr),
        row.latency ? ChartNumber(row.latency->p90_ns) : Json(nullptr),
        row.latency ? ChartNumber(row.latency->p99_ns) : Json(nullptr),
        ChartNumber(row.parity_error),
        row.flops_effective,
        Name(row.outcome),
        row.runs_ok,
        row.runs_ok + row.runs_failed,
        Join(OwnFlags(data.ranking, row), " "),
        row.reason,
        row.reproducer.empty() ? "tench run " + WithSettings(cell.cell, row.settings).Flags()
                               : row.reproducer,
        OptionsText(cell),
        cell.machine + ", " + cell.cell.Text(kAxisDevice),
        ChartNumber(row.start_ns),
        ChartNumber(row.build_ns),
        row.tune_ns ? ChartNumber(static_cast<double>(*row.tune_ns)) : Json(nullptr),
        row.tune_pays_steps ? Json(*row.tune_pays_steps) : Json(nullptr),
        SettingsText(row.settings),
        ChartNumber(WithheldShare(row, &NoiseReadings::steal_share)),
        ChartNumber(WithheldShare(row, &NoiseReadings::throttled_share)),
        winners.contains(&cell),
        ChartNumber(row.loading_ns),
        ChartNumber(row.exposed_ns),
        ChartNumber(row.end_to_end_ns),
        ChartNumber(row.image_energy_j)};
    for (const AxisValue& value : cell.cell.values)
      std::visit([&](const auto& plain) { values.emplace_back(plain); }, value);
    for (const int64_t group : cell.group) values.emplace_back(group);
    table.Add(std::move(values));
  }
  return table;
}

DataTable RoundTable(const ReportData& data) {
  DataTable table({"cell", "study", "round", "attempt", "shortest_ns", "median_ns", "steps",
                   "disturbed", "steal_share", "throttled_share"});
  for (size_t i = 0; i < data.cells.size(); ++i) {
    for (const RoundTime& time : data.cells[i].row.times) {
      table.Add({i, time.study, time.round + 1, time.attempt, ChartNumber(time.compared_ns),
                 ChartNumber(time.image_ns), time.timed_steps, time.disturbed,
                 ChartNumber(time.noise.steal_share), ChartNumber(time.noise.throttled_share)});
    }
  }
  return table;
}

ChartSet MakeCharts(const ReportData& data) {
  ChartSet set;
  set.data.emplace("cells", CellTable(data));
  set.data.emplace("rounds", RoundTable(data));
  AddOverviewChart(data, set);
  AddBatchCharts(data, set);
  AddSpeedUpCharts(data, set);
  AddLossCharts(data, set);
  AddAccuracyCharts(data, set);
  AddUseChart(data, set);
  AddPeakMemoryChart(data, set);
  AddPhaseChart(data, set);
  AddThreadChart(data, set);
  AddStepChart(data, set);
  AddWhyCharts(data, set);
  AddRooflineChart(data, set);
  AddTrendChart(data, set);
  AddReleaseChart(data, set);
  AddThenAndNowChart(data, set);
  return set;
}

}  // namespace tench
