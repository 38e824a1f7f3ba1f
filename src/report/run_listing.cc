// SPDX-License-Identifier: Apache-2.0
#include "report/run_listing.h"

#include <set>

#include "base/text.h"
#include "record/worker_version.h"
#include "report/record_json.h"
#include "report/row_text.h"

namespace tench {
namespace {

Json UnlessNegative(int64_t value) { return value < 0 ? Json(nullptr) : Json(value); }

std::string SecondsText(int64_t ns) { return fmt::format("{:.2f}", static_cast<double>(ns) / 1e9); }

}  // namespace

Json RunRow(const RunRecord& run) {
  static const std::set<std::string> spliced = {"cell", "summary", "network"};
  Json row = Json::object();
  const Json record = RecordToJson(run, nullptr);  // items() refers to it
  for (const auto& [name, value] : record.items()) {
    if (name == "worker") continue;  // the hello, an object; the axis of this name is in `cell`
    if (name == "threads") {
      row["threads_used"] = value;
    } else if (name == "cpus") {
      row["cpus_used"] = value;
    } else if (name == "budget" || name == "limits") {
      const std::string prefix = name == "budget" ? "budget_" : "limit_";
      for (const auto& [part, inner] : value.items()) row[prefix + part] = inner;
    } else if (spliced.contains(name)) {
      for (const auto& [part, inner] : value.items()) row[part] = inner;
    } else {
      row[name] = value;
    }
  }
  row["stretches"] = run.summary.stretches;
  return row;
}

std::vector<Json> StepRows(const RunSeries& series, const SliceSet& set) {
  std::vector<Json> rows;
  for (const StepPlace& place : StepOrder(series.warmup_ns.size(), series.step_ns.size(), set)) {
    const size_t i = rows.size();
    Json row = Json::object();
    row["step"] = i + 1;
    row["kind"] = place.timed ? "timed" : "warmup";
    row["step_ns"] = place.timed ? series.step_ns[place.index] : series.warmup_ns[place.index];
    row["input_ns"] = place.timed && place.index < series.input_ns.size()
                          ? Json(series.input_ns[place.index])
                          : Json(nullptr);
    row["loss"] = i < series.loss.size() ? RealToJson(series.loss[i]) : Json(nullptr);
    row["slice"] = place.slice > 0 ? Json(place.slice) : Json(nullptr);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<Json> SampleRows(const SampleSeries& samples) {
  std::vector<Json> rows;
  for (const Sample& sample : samples.samples()) {
    rows.push_back({{"time_ns", sample.time_ns},
                    {"processes", sample.processes},
                    {"threads", sample.threads},
                    {"rss_bytes", sample.rss_bytes},
                    {"swap_bytes", sample.swap_bytes},
                    {"hwm_bytes", sample.hwm_bytes},
                    {"cpu_ns", sample.cpu_ns},
                    {"minor_faults", sample.minor_faults},
                    {"major_faults", sample.major_faults},
                    {"voluntary_switches", sample.voluntary_switches},
                    {"involuntary_switches", sample.involuntary_switches},
                    {"gpu_use_percent", UnlessNegative(sample.gpu_use_percent)},
                    {"gpu_memory_bytes", UnlessNegative(sample.gpu_memory_bytes)}});
  }
  return rows;
}

TextTable RunTable() {
  return TextTable({{"run", Align::kRight},
                    {"study", Align::kRight, 3},
                    {"round", Align::kRight},
                    {"attempt", Align::kRight, 4},
                    {"worker"},
                    {"network"},
                    {"batch", Align::kRight},
                    {"phase"},
                    {"threads", Align::kRight, 5},
                    {"steps", Align::kRight, 2},
                    {"median/image", Align::kRight},
                    {"peak memory", Align::kRight, 3},
                    {"wall", Align::kRight, 5},
                    {"started", Align::kLeft, 6},
                    {"outcome"},
                    {"flags", Align::kLeft, 7}});
}

std::vector<std::string> RunCells(const RunRecord& run) {
  const auto image_ns = ImageNs(run);
  const auto memory = PeakMemoryBytes(run);
  return {std::to_string(run.id),
          run.study == 0 ? "" : std::to_string(run.study),
          run.study == 0 ? "" : std::to_string(run.round + 1),
          std::to_string(run.attempt + 1),
          PlainLine(run.cell.Text(kAxisWorker)),
          PlainLine(run.cell.Text(kAxisNetwork)),
          std::to_string(run.cell.Integer(kAxisBatch)),
          Name(run.cell.phase()),
          std::to_string(run.threads),
          std::to_string(run.summary.steps),
          image_ns ? HumanNs(*image_ns) : "",
          memory ? HumanBytes(*memory) : "",
          HumanNs(static_cast<double>(run.summary.wall_ns)),
          run.started_utc,
          Name(run.outcome),
          PlainLine(Join(run.flags, " "))};
}

TextTable StepTable(const RunSeries& series, const SliceSet& set) {
  const bool input = !series.input_ns.empty(), slices = !set.slices.empty();
  std::vector<TextColumn> columns = {{"step", Align::kRight}, {"kind"}};
  if (slices) columns.push_back({"slice", Align::kRight});
  columns.push_back({"time", Align::kRight});
  if (input) columns.push_back({"input", Align::kRight});
  columns.push_back({"loss", Align::kRight});
  TextTable table(columns);
  const auto time = [](const Json& ns) {
    return ns.is_null() ? std::string() : HumanNs(ns.get<double>());
  };
  for (const Json& row : StepRows(series, set)) {
    std::vector<std::string> cells = {row["step"].dump(), row["kind"].get<std::string>()};
    if (slices) cells.push_back(row["slice"].is_null() ? "" : row["slice"].dump());
    cells.push_back(time(row["step_ns"]));
    if (input) cells.push_back(time(row["input_ns"]));
    const Json& loss = row["loss"];
    cells.push_back(loss.is_null()     ? ""
                    : loss.is_string() ? loss.get<std::string>()
                                       : fmt::format("{:.6g}", loss.get<double>()));
    table.AddRow(std::move(cells));
  }
  return table;
}

TextTable SampleTable(const SampleSeries& samples) {
  TextTable table({{"seconds", Align::kRight},
                   {"processes", Align::kRight, 3},
                   {"threads", Align::kRight},
                   {"resident set", Align::kRight},
                   {"swap", Align::kRight, 1},
                   {"CPU seconds", Align::kRight},
                   {"major faults", Align::kRight, 2},
                   {"involuntary switches", Align::kRight, 2},
                   {"GPU %", Align::kRight, 4},
                   {"GPU memory", Align::kRight, 4}});
  for (const Sample& sample : samples.samples()) {
    table.AddRow({SecondsText(sample.time_ns), std::to_string(sample.processes),
                  std::to_string(sample.threads), HumanBytes(sample.rss_bytes),
                  HumanBytes(sample.swap_bytes), SecondsText(sample.cpu_ns),
                  std::to_string(sample.major_faults), std::to_string(sample.involuntary_switches),
                  sample.gpu_use_percent < 0 ? "" : std::to_string(sample.gpu_use_percent),
                  sample.gpu_memory_bytes < 0 ? "" : HumanBytes(sample.gpu_memory_bytes)});
  }
  return table;
}

}  // namespace tench
