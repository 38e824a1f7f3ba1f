// SPDX-License-Identifier: Apache-2.0
#include "report/html/report_data.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

#include "record/worker_version.h"
#include "report/anonymous.h"
#include "report/html/thinning.h"
#include "report/row_text.h"
#include "report/stored_facts.h"

namespace tench {
namespace {

constexpr size_t kMaxCellsWithSeries = 400;

struct GroupingRow {
  std::string_view column;
  // Axes in which the cells of a group may differ, besides the worker.
  std::vector<size_t> left_out;
  bool across_machines = false, of_one_worker = false;
};

const std::array<GroupingRow, kGroupingCount>& Groupings() {
  static const std::array<GroupingRow, kGroupingCount> rows = {{
      {"in_workers", {}},
      {"in_batches", {kAxisBatch}},
      {"in_devices", {kAxisBatch, kAxisDevice}},
      {"in_threads", {kAxisThreads}},
      {"in_threads_batches", {kAxisThreads, kAxisBatch}},
      {"in_machines", {kAxisBatch, kAxisDevice}, true},
      {"in_phases", {kAxisPhase}},
      {"in_curves", {kAxisBatch, kAxisDevice}, false, true},
  }};
  return rows;
}

// The axes besides network, data, batch and phase in which all cells of several comparisons agree.
// Titles leave them out, because the page names them once.
std::vector<size_t> CommonAxes(const ReportData& data) {
  constexpr std::array<size_t, 5> kAlwaysNamed = {kAxisWorker, kAxisNetwork, kAxisData, kAxisBatch,
                                                  kAxisPhase};
  std::vector<size_t> common;
  if (data.ranking.groups.size() < 2) return common;
  for (size_t axis = 0; axis < kAxisCount; ++axis) {
    const auto differs = [&](const ReportCell& cell) {
      return cell.cell.values[axis] != data.cells.front().cell.values[axis];
    };
    const bool named =
        std::find(kAlwaysNamed.begin(), kAlwaysNamed.end(), axis) != kAlwaysNamed.end();
    if (!named && std::none_of(data.cells.begin(), data.cells.end(), differs))
      common.push_back(axis);
  }
  return common;
}

void GroupCells(ReportData& data) {
  const std::vector<size_t> common = CommonAxes(data);
  for (const size_t axis : common) {
    const AxisValue& value = data.cells.front().cell.values[axis];
    if (value != Axes()[axis].fallback)
      data.common_axes.push_back(
          PlainLine(fmt::format("{}={}", Axes()[axis].name, Axes()[axis].Print(value))));
  }
  for (size_t grouping = 0; grouping < kGroupingCount; ++grouping) {
    const GroupingRow& row = Groupings()[grouping];
    std::unordered_map<std::string, int64_t> known;
    for (ReportCell& cell : data.cells) {
      Cell shared = cell.cell;
      shared.values[kAxisWorker] = Axes()[kAxisWorker].fallback;
      shared.options.clear();
      for (const size_t axis : row.left_out) shared.values[axis] = Axes()[axis].fallback;
      std::string key = shared.Label() + '\n' + cell.fingerprint + '\n';
      if (!row.across_machines) key += cell.machine_id;
      if (row.of_one_worker) key += '\n' + cell.series;
      const auto [found, is_new] =
          known.emplace(std::move(key), static_cast<int64_t>(known.size()));
      cell.group[grouping] = found->second;
      if (!is_new) continue;
      std::vector<size_t> left_out = row.left_out;
      left_out.insert(left_out.end(), common.begin(), common.end());
      std::string title = SharedTitle(cell.cell, left_out);
      if (row.of_one_worker) title = cell.series + ": " + title;
      if (data.ranking.several_machines && !row.across_machines)
        title += fmt::format(" ({})", cell.machine);
      data.group_titles[grouping].push_back(PlainLine(title));
    }
  }
}

// A name contains the version and options only where the worker alone is ambiguous.
void NameSeries(ReportData& data) {
  std::map<std::string, std::set<std::string>> versions;
  std::map<std::string, std::set<std::map<std::string, std::string>>> options;
  for (const ReportCell& cell : data.cells) {
    if (const std::string version = ShownVersion(cell.row.worker_version, cell.row.build);
        !version.empty())
      versions[cell.row.worker].insert(version);
    options[cell.row.worker].insert(cell.row.options);
  }
  std::set<std::string> names;
  for (ReportCell& cell : data.cells) {
    const std::string& worker = cell.row.worker;
    std::string name = worker;
    const std::string version = ShownVersion(cell.row.worker_version, cell.row.build);
    if (versions[worker].size() > 1 && !version.empty()) name += " " + version;
    if (options[worker].size() > 1) {
      for (const auto& [option, value] : cell.row.options)
        name += fmt::format(" {}={}", option, value);
    }
    cell.series = PlainLine(name);
    names.insert(cell.series);
  }
  data.series.assign(names.begin(), names.end());
  // The baseline (native) comes first, the oracle (reference) last.
  const auto place = [](const std::string& name) {
    return name.starts_with("native") ? 0 : name.starts_with("reference") ? 2 : 1;
  };
  std::stable_sort(data.series.begin(), data.series.end(),
                   [&](const std::string& a, const std::string& b) { return place(a) < place(b); });
}

// A profile has the name of its cell, if the report has that cell.
void NameProfiles(ReportData& data) {
  for (CellProfile& profile : data.profiles) {
    for (const ReportCell& cell : data.cells) {
      if (cell.row.cell_id == profile.cell_id) profile.series = cell.series;
    }
    if (std::find(data.series.begin(), data.series.end(), profile.series) == data.series.end())
      data.series.push_back(profile.series);
  }
}

std::optional<double> SpreadOf(const std::vector<double>& rounds) {
  if (rounds.size() < 2) return std::nullopt;
  double mean = 0, squares = 0;
  for (const double value : rounds) mean += value / static_cast<double>(rounds.size());
  for (const double value : rounds) squares += (value - mean) * (value - mean);
  if (mean <= 0) return std::nullopt;
  return std::sqrt(squares / static_cast<double>(rounds.size() - 1)) / mean;
}

std::optional<double> ToFirstStep(const RunSummary& summary, const CellSeries& series) {
  if (summary.first_step_ns) return static_cast<double>(*summary.first_step_ns);
  // Runs of older files.
  if (!summary.hello_ns || !summary.build_ns || !series.first_step_ns) return std::nullopt;
  return static_cast<double>(*summary.hello_ns + *summary.build_ns) + *series.first_step_ns;
}

}  // namespace

std::string_view ColumnOf(Grouping grouping) { return Groupings()[grouping].column; }

bool ReportCell::HasFlag(std::string_view flag) const {
  return std::find(row.flags.begin(), row.flags.end(), flag) != row.flags.end();
}

double ReportCell::ImageNs() const {
  Check(row.step_ns.has_value(), "a cell without a time has no time per image");
  return row.step_ns->value / static_cast<double>(std::max<int64_t>(cell.Integer(kAxisBatch), 1));
}

void ReportBuilder::Add(const RunRecord& run) {
  ranking_.Add(run);
  Newest& newest = newest_[{run.machine_id, run.cell_id, run.worker_version, run.build, run.solver,
                            std::to_string(run.rules)}];
  const bool ok = run.outcome == Outcome::kOk;
  if (ok || !newest.ok) {
    newest.run = run.id;
    newest.ok = ok;
    newest.summary = run.summary;
    newest.budget = run.budget;
    newest.dropout = run.dropout;
  }
  if (ok && run.summary.step_ns_median) newest.step_ns.push_back(*run.summary.step_ns_median);
}

Result<ReportData> ReportBuilder::Finish(
    const std::function<Result<RunSeries>(int64_t run)>& series,
    const std::function<Status(Ranking&)>& complete) && {
  ReportData data;
  size_t with_series = 0;
  data.ranking = std::move(ranking_).Finish();
  if (complete) TENCH_TRY(complete(data.ranking));
  for (const RankGroup& group : data.ranking.groups) {
    for (const RankRow& row : group.rows) {
      ReportCell& cell = data.cells.emplace_back();
      cell.cell = CellOf(data.ranking, group, row);
      cell.machine = group.machine;
      cell.machine_id = group.machine_id;
      cell.fingerprint = group.fingerprint;
      cell.row = row;
      cell.loss_step = group.loss_step;
      const auto found = newest_.find({group.machine_id, row.cell_id, row.worker_version, row.build,
                                       row.solver, std::to_string(row.rules)});
      if (found == newest_.end()) continue;
      const Newest& newest = found->second;
      cell.cpu_per_wall = newest.summary.cpu_per_wall;
      cell.cpu_energy_j = newest.summary.cpu_energy_j;
      cell.gpu_use_mean = newest.summary.gpu_use_mean;
      cell.peak_swap_bytes = newest.summary.peak_swap_bytes;
      cell.gpu_memory_peak_bytes = newest.summary.gpu_memory_peak_bytes;
      cell.spread = SpreadOf(newest.step_ns);
      cell.dropout = newest.dropout;
      if (newest.summary.steps == 0) continue;
      if (with_series++ >= kMaxCellsWithSeries) {
        ++data.cells_without_series;
        continue;
      }
      cell.series_data = Thinned(TENCH_TRY(series(newest.run)), cell.cell, newest.budget);
      if (auto evaluations = DecodeEvaluations(newest.summary.evaluations); evaluations.ok())
        cell.series_data.evaluations = *std::move(evaluations);
      cell.to_first_step_ns = ToFirstStep(newest.summary, cell.series_data);
    }
  }
  NameSeries(data);
  GroupCells(data);
  return data;
}

Result<ReportData> ReadReport(Store& store, const RankOptions& options, bool anonymous) {
  Anonymizer names;
  if (anonymous) {
    for (StudyRecord& study : TENCH_TRY(store.Studies())) names.Apply(std::move(study));
  }
  ReportBuilder builder(options.all_roles);
  std::vector<StudyRecord> studies = TENCH_TRY(ReadRuns(
      store, options,
      [&](const RunRecord& run) {
        if (anonymous) {
          builder.Add(names.Apply(run));
        } else {
          builder.Add(run);
        }
      },
      [&](const RunRecord& run) { builder.Observe(run); }));
  std::vector<ParityRecord> parities = TENCH_TRY(store.Parities());
  if (anonymous) {
    for (StudyRecord& study : studies) study = names.Apply(std::move(study));
    for (ParityRecord& parity : parities) parity = names.Apply(std::move(parity));
  }
  ReportData data =
      TENCH_TRY(std::move(builder).Finish([&](int64_t run) { return store.Series(run); },
                                          [&](Ranking& ranking) {
                                            ranking.SetStudies(std::move(studies));
                                            return AddStoredFacts(store, ranking);
                                          }));
  data.parities = std::move(parities);
  data.profiles = TENCH_TRY(ReadProfiles(store, options.only, anonymous ? &names : nullptr));
  NameProfiles(data);
  // The report may be of one study; a trend needs all of them.
  if (TENCH_TRY(store.Studies()).size() > 1) {
    HistoryOptions history;
    history.only = options.only;
    data.history = TENCH_TRY(ReadHistory(store, history));
    for (HistorySeries& series : data.history.series) {
      for (HistorySegment& segment : series.segments) {
        if (anonymous) segment.machine = names.Text(segment.machine);
      }
    }
  }
  return data;
}

}  // namespace tench
