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
#include "report/history.h"
#include "report/html/cell_profile.h"
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
  double step = 0, loss = 0;  // steps count from 1, including warm-up
};
struct UsePoint {
  double time_s = 0, rss_bytes = 0, swap_bytes = 0, cpus = 0;
  std::optional<double> gpu_use_percent, gpu_memory_bytes;
};

// Thinned from the newest run of a cell that has them.
struct CellSeries {
  std::vector<LossPoint> loss;
  // nullopt if there are no epochs: one resident batch, or a data set of unknown size.
  std::optional<double> steps_per_epoch;
  std::vector<UsePoint> use;
  std::vector<double> step_ns_quantiles;  // 0, 5, 25, 50, 75, 95, 100 %
  std::optional<double> first_step_ns;    // usually a warm-up step
  std::vector<Evaluation> evaluations;    // on the test split
};

struct ReportCell {
  Cell cell;  // all axes
  // Name in charts: the worker, with version and options where several occur.
  std::string series;
  std::string machine, machine_id, fingerprint;
  RankRow row;
  int64_t loss_step = 0;                                           // of the row's loss
  std::optional<double> cpu_per_wall, cpu_energy_j, gpu_use_mean;  // of the newest ok run
  std::optional<int64_t> peak_swap_bytes, gpu_memory_peak_bytes;
  // From the launch to the end of the first step: start-up, build and that step, of the newest ok
  // run.
  std::optional<double> to_first_step_ns;
  std::optional<bool> dropout;   // whether a step draws dropout masks
  std::optional<double> spread;  // relative standard deviation of its runs' medians
  std::array<int64_t, kGroupingCount> group = {};
  CellSeries series_data;

  bool measured() const { return row.measured(); }
  bool HasFlag(std::string_view flag) const;
  double ImageNs() const;  // of a ranked cell
};

struct ReportData {
  Ranking ranking;
  std::vector<ReportCell> cells;  // in the ranking's order
  std::array<std::vector<std::string>, kGroupingCount> group_titles;
  std::vector<std::string> common_axes;  // "threads=1": of all cells, so that no title names it
  std::vector<std::string> series;       // all ReportCell::series, in legend order
  std::vector<ParityRecord> parities;
  std::vector<CellProfile> profiles;  // of any study, and of runs without one
  History history;                    // of the cells, over the studies of the report
  int64_t cells_without_series = 0;   // left out to keep the report small
};

// `anonymous` removes names of machines and paths (report/anonymous.h).
Result<ReportData> ReadReport(Store& store, const RankOptions& options, bool anonymous = false);

// Builds a report from runs of any source.
class ReportBuilder {
 public:
  explicit ReportBuilder(bool all_roles = false) : ranking_(std::nullopt, all_roles) {}

  // A run that is not shown but contributes to its study's noise.
  void Observe(const RunRecord& run) { ranking_.Observe(run); }
  void Add(const RunRecord& run);
  // `series` is called for the runs whose series are shown, and `complete` for the ranking before
  // its rows are copied; both may fail.
  Result<ReportData> Finish(const std::function<Result<RunSeries>(int64_t run)>& series,
                            const std::function<Status(Ranking&)>& complete = nullptr) &&;

 private:
  struct Newest {
    int64_t run = 0;
    bool ok = false;
    RunSummary summary;
    Budget budget;
    std::optional<bool> dropout;
    std::vector<double> step_ns;  // medians of the ok runs
  };
  // The identity of a row: machine id, cell id, worker version, build, solver and rules.
  using Key = std::array<std::string, 6>;

  RankingBuilder ranking_;
  std::map<Key, Newest> newest_;
};

}  // namespace tench
