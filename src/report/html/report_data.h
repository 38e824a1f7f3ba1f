// SPDX-License-Identifier: Apache-2.0
#pragma once
// The input of the HTML report, gathered in one walk over a store: the ranking, and per cell the
// additional data of charts. Long series are read for a bounded number of cells and thinned at
// once, so that a report of ten thousand runs stays small. Charts and sections are pure functions
// of this struct.
// Thread safety: a builder belongs to one thread; ReportData is passive.

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "report/summary.h"
#include "store/store.h"

namespace tench {

// A grouping collects cells that agree in all but some axes. A chart shows one group at a time.
enum Grouping : size_t {
  kGroupWorkers,         // cells differ in the worker
  kGroupBatches,         // … and the batch size
  kGroupDevices,         // … and the device
  kGroupThreads,         // worker and threads
  kGroupThreadsBatches,  // … and the batch size
  kGroupMachines,        // worker, batch size, device and machine
  kGroupPhases,          // worker and phase
  kGroupCurves,          // batch size and device, of one worker
  kGroupingCount,
};

// The column of the data set "cells" that holds the group's number, such as "in_batches".
std::string_view ColumnOf(Grouping grouping);

// Points of the charts over steps and time.
struct LossPoint {
  double epoch = 0, loss = 0;
};
struct UsePoint {
  double time_s = 0, rss_bytes = 0, swap_bytes = 0, cpus = 0;
  std::optional<double> gpu_use_percent, gpu_memory_bytes;
};

// Thinned from the newest run of a cell that has them.
struct CellSeries {
  std::vector<LossPoint> loss;
  bool epochs_known = true;  // else LossPoint::epoch counts steps
  std::vector<UsePoint> use;
  std::vector<double> step_ns_quantiles;  // 0, 5, 25, 50, 75, 95, 100 %
};

struct ReportCell {
  Cell cell;  // all axes
  // Name in charts: the worker, with version and options where several occur.
  std::string series;
  std::string machine, machine_id, fingerprint;
  RankRow row;
  std::optional<double> cpu_per_wall, cpu_energy_j, gpu_use_mean;  // of the newest ok run
  std::optional<int64_t> peak_swap_bytes, gpu_memory_peak_bytes;
  std::optional<double> spread;  // relative standard deviation of its runs' medians
  std::array<int64_t, kGroupingCount> group = {};
  CellSeries series_data;

  bool ranked() const { return row.rank > 0; }
  bool HasFlag(std::string_view flag) const;
  double ImageNs() const;  // of a ranked cell
};

struct ReportData {
  Ranking ranking;
  std::vector<ReportCell> cells;  // in the ranking's order
  std::array<std::vector<std::string>, kGroupingCount> group_titles;
  std::vector<std::string> series;  // all ReportCell::series, in legend order
  std::vector<ParityRecord> parities;
  int64_t cells_without_series = 0;  // left out to keep the report small
};

Result<ReportData> ReadReport(Store& store, const RankOptions& options);

// Builds a report from runs of any source.
class ReportBuilder {
 public:
  // A run that is not shown but contributes to its study's noise.
  void Observe(const RunRecord& run) { ranking_.Observe(run); }
  void Add(const RunRecord& run);
  // `series` is called for the runs whose series are shown; it may fail.
  Result<ReportData> Finish(const std::function<Result<RunSeries>(int64_t run)>& series) &&;

 private:
  struct Newest {
    int64_t run = 0;
    bool ok = false;
    RunSummary summary;
    Budget budget;
    std::vector<double> step_ns;  // medians of the ok runs
  };
  using Key = std::array<std::string, 3>;  // machine id, cell id, worker version

  RankingBuilder ranking_;
  std::map<Key, Newest> newest_;
};

}  // namespace tench
