// SPDX-License-Identifier: Apache-2.0
#pragma once
// The history of each cell over the studies of a store: one point per study with the worker's
// version and build, the time per image and its interval, and the change from the point before.
// Level changes are change points (stats/history) of the times. docs/history.md states the rules.
//
//  - A segment has the points of one machine, CPU model, instruction set, set of libraries and
//    version of the measuring rules. Times of different segments are never compared.
//  - A level change is confirmed if it does not rest on one point. A change at the newest point is
//    a candidate, until a further study confirms it. A single spike is neither.
//  - If the noise sentinel's series changes at the same point in the same direction, and by enough
//    to explain the cell's change, the machine is the cause.
//  - A failed run is no point. A cell that fails in its newest study has a failure, or a worker
//  that
//    crashes would look as good as one that was not measured.
// Thread safety: no shared state; a builder belongs to one thread.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "axis/cell.h"
#include "base/error.h"
#include "report/round_time.h"
#include "report/run_selector.h"
#include "report/summary.h"
#include "store/store.h"

namespace tench {

struct HistoryOptions {
  RunSelector only;
  int64_t since = 0;  // the first study
  double margin = kDefaultMargin;
  double max_p = 0.001;
};

struct HistoryPoint {
  int64_t study = 0;
  std::string started_utc, suite, worker_version, build;
  Estimate image_ns;
  std::vector<RoundTime> times;       // counted attempts
  bool disturbed = false;             // one of them is
  std::optional<double> sentinel_ns;  // median over all runs of the study
  // From the point before in its segment; verdicts are Holm-corrected over the segment.
  std::optional<RatioTest> change;
  RatioVerdict verdict = RatioVerdict::kAmbiguous;
  // To measure the cell again.
  Budget budget;
  Limits limits;
};

struct LevelChange {
  size_t point = 0;  // the first point of the new level
  double ratio = 1;  // mean time after it over the mean before
  double p = 1;
  bool candidate = false;  // not confirmed yet
  // Set if the sentinel's series changes at the same point in the same direction.
  std::optional<double> sentinel_ratio;

  bool slower() const { return ratio > 1; }
  // Whether the machine is the cause: the sentinel changed by at least half as much as the cell, on
  // a logarithmic scale.
  bool of_machine() const;
};

// Failed runs of a cell.
struct HistoryFailure {
  int64_t study = 0;
  std::string text;  // "crashed, 2 of 5 runs: signal SIGSEGV"
};

struct HistorySegment {
  std::string machine, machine_id, cpu_model, isa;
  std::vector<std::string> libraries;  // file names
  int64_t rules = kRules;
  std::vector<HistoryPoint> points;  // in the order of the studies
  std::vector<LevelChange> changes;  // in the order of the points
  bool newest = false;               // of its cell on its machine
  // Of the newest segment: the newest study of the cell failed, in whole or in part.
  std::optional<HistoryFailure> failure;
};

struct HistorySeries {
  Cell cell;
  std::string cell_id, fingerprint, solver;
  std::vector<HistorySegment> segments;  // by their first study
};

struct History {
  double margin = kDefaultMargin;
  std::vector<HistorySeries> series;  // ordered by their cells
};

// Of the matching runs that belong to a study; may be empty.
Result<History> ReadHistory(Store& store, const HistoryOptions& options);

// Builds a history from runs of any source.
class HistoryBuilder {
 public:
  explicit HistoryBuilder(HistoryOptions options) : options_(std::move(options)) {}
  // A run that is not shown but contributes to its study's noise and sentinel readings.
  void Observe(const RunRecord& run);
  void Add(const RunRecord& run);
  History Finish(const std::vector<StudyRecord>& studies) &&;

 private:
  // The identity of a row of a study's ranking.
  using RowKey = std::tuple<int64_t, std::string, std::string, std::string, std::string, int64_t>;
  struct Extra {
    std::vector<std::string> libraries;
    Budget budget;
    Limits limits;
  };

  HistoryOptions options_;
  std::map<int64_t, RankingBuilder> studies_;
  std::map<int64_t, std::vector<double>> sentinel_ns_;
  std::map<RowKey, Extra> extras_;  // of the rows with a time
};

}  // namespace tench
