// SPDX-License-Identifier: Apache-2.0
#pragma once
// From runs to rows: every cell's runs become one row, and rows that differ only in their worker,
// its version and its options form a group and are ranked within it by time per image. Pure but for
// Rank, which walks a store; it never reads the long series.
//
// A row's time is the median over its ok runs of each run's own median; of several attempts at one
// round one counts (round_time.h), and a row of which a disturbed run counts has the flag
// `disturbed`. Its 95 % interval is, with one run, that run's own interval of the median; with
// more, Student's t-interval of the runs' log medians, widened where needed to hold the median.
// Runs of another machine, of another version of the worker or of a network with another
// fingerprint are never mixed into one row, nor other machines or fingerprints into one group.
//
// The verdict of a ranked row is against the fastest of its group, from the shortest steps of
// rounds in which both ran (round_time.h), with Holm's correction over the group.
//
// A cell's outcome is the most frequent one of its runs, a failure before `ok` when even; one
// `wrong` run makes it `wrong`. Only `ok` cells have a rank. `interrupted` runs count only where
// there is nothing else.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "axis/cell.h"
#include "base/error.h"
#include "report/round_time.h"
#include "report/run_selector.h"
#include "store/store.h"

namespace tench {

// A time in nanoseconds and its 95 % interval, where one is known.
struct Estimate {
  double value = 0;
  std::optional<double> low, high;
};

// Instead of a position in Axes(): rows of one group differ in their machine, and perhaps in the
// worker's version.
inline constexpr size_t kByMachine = kAxisCount;

struct RankRow {
  int64_t rank = 0;  // 1 = fastest of its group; 0 = not ranked
  std::string cell_id;
  std::string worker, worker_version;
  std::map<std::string, std::string> options;
  AxisValue by;            // value of the axis that was asked for, or the machine's label
  std::string machine_id;  // by machine only; otherwise the group has it
  int64_t threads = 0;     // really used
  int64_t runs_ok = 0, runs_failed = 0;
  Outcome outcome = Outcome::kOk;
  Outcome failure = Outcome::kOk;  // the most frequent failure, where runs_failed > 0
  std::string reason, reproducer;  // of the newest run that failed so
  std::vector<std::string> flags;  // of all its counted runs
  std::optional<Estimate> step_ns;
  double ratio = 0;  // time per image over that of the group's fastest; 0 when not ranked
  // Against the group's fastest, round by round; of ranks below the first.
  std::optional<RatioTest> against_best;
  bool interleaved = true;  // with the fastest, in the same studies
  RatioVerdict verdict = RatioVerdict::kAmbiguous;
  std::optional<double> flops_per_s;
  std::optional<int64_t> peak_rss_bytes;  // the largest of all runs
  std::optional<double> last_loss;        // of the newest ok run

  bool HasFailed() const { return runs_failed > 0 || rank == 0; }
};

struct RankGroup {
  Cell cell;  // what the rows share; the rest is at its default
  std::string machine, machine_id;
  std::string fingerprint;
  int64_t parameters = 0, forward_flops_per_image = 0;
  std::vector<RankRow> rows;  // ranked ones first
};

struct Ranking {
  std::optional<size_t> by;               // position in Axes(), or kByMachine
  std::vector<StudyRecord> studies;       // that the runs are of
  std::vector<RankGroup> groups;          // ordered by their cells
  std::map<int64_t, NoiseSummary> noise;  // of the studies that the sentinel watched
  int64_t runs = 0;
  bool several_machines = false;

  int64_t FailedRows() const;
  // The studies that the ranked runs are of; what was learnt of others' noise is dropped.
  void SetStudies(std::vector<StudyRecord> those);
};

struct RankOptions {
  std::optional<int64_t> study;  // nullopt = every run of the store
  std::optional<size_t> by;      // rows of one group differ in this axis only, and are in its order
  RunSelector only;
};

Result<Ranking> Rank(Store& store, const RankOptions& options);

// Hands every run that the options choose to `add`, and the other runs of the same studies to
// `observe`. Gives the studies of the chosen ones.
Result<std::vector<StudyRecord>> ReadRuns(Store& store, const RankOptions& options,
                                          const std::function<void(const RunRecord&)>& add,
                                          const std::function<void(const RunRecord&)>& observe);

// Rank's own work, for runs from anywhere.
class RankingBuilder {
 public:
  explicit RankingBuilder(std::optional<size_t> by = std::nullopt);
  RankingBuilder(RankingBuilder&&) noexcept;
  ~RankingBuilder();

  // A run that is not ranked but belongs to a study whose noise it tells about.
  void Observe(const RunRecord& run);
  void Add(const RunRecord& run);
  Ranking Finish() &&;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// The whole cell of a row.
Cell CellOf(const Ranking& ranking, const RankGroup& group, const RankRow& row);
// The row's time per image; it must have a time.
Estimate PerImage(const Ranking& ranking, const RankGroup& group, const RankRow& row);

}  // namespace tench
