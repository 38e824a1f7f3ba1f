// SPDX-License-Identifier: Apache-2.0
#pragma once
// Aggregates runs into ranked rows. Each cell's runs become one row. Rows that differ only in the
// worker, its version and its options form a group and are ranked by time per image. Rank walks a
// store and never reads the long series; all else is pure.
//
// Rules:
//  - A row's time is the median over its ok runs of each run's median step. One attempt per round
//    counts (round_time.h). A row whose counted runs include a disturbed one has the flag
//    `disturbed`.
//  - The 95 % interval of a single run is its own interval of the median. That of several runs is
//    Student's t-interval of their log medians, widened where needed to contain the median.
//  - Runs of different machines, worker versions or network fingerprints never share a row;
//    different machines or fingerprints never share a group.
//  - The verdict of a ranked row is against the fastest row of its group, from the shortest steps
//    of the rounds in which both ran, with Holm's correction over the group.
//  - A cell's outcome is the most frequent one of its runs, a failure before `ok` in a tie. One
//    `wrong` run makes it `wrong`. Only `ok` cells have a rank. `interrupted` runs count only if
//    there is no other.
//
// Thread safety: no shared state; a builder belongs to one thread.

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

// Used in place of a position in Axes(): rows of one group differ in the machine, and possibly in
// the worker's version.
inline constexpr size_t kByMachine = kAxisCount;

struct RankRow {
  int64_t rank = 0;  // 1 = fastest of its group; 0 = not ranked
  std::string cell_id;
  std::string worker, worker_version;
  std::map<std::string, std::string> options;
  AxisValue by;            // value of the requested axis, or the machine's label
  std::string machine_id;  // by machine only; otherwise the group has it
  int64_t threads = 0;     // the resolved count, where the cell says 0
  int64_t runs_ok = 0, runs_failed = 0;
  Outcome outcome = Outcome::kOk;
  Outcome failure = Outcome::kOk;  // the most frequent failure, where runs_failed > 0
  std::string reason, reproducer;  // of the newest run with that failure
  std::vector<std::string> flags;  // of all its counted runs
  std::optional<Estimate> step_ns;
  double ratio = 0;  // time per image over the fastest row's; 0 = not ranked
  // Against the fastest row, paired by round; for ranks after the first.
  std::optional<RatioTest> against_best;
  bool interleaved = true;  // with the fastest row, in the same studies
  RatioVerdict verdict = RatioVerdict::kAmbiguous;
  std::optional<double> flops_per_s;
  std::optional<int64_t> peak_rss_bytes;  // maximum over runs
  std::optional<double> last_loss;        // of the newest ok run

  bool HasFailed() const { return runs_failed > 0 || rank == 0; }
};

struct RankGroup {
  Cell cell;  // the shared axes; the others are at their defaults
  std::string machine, machine_id;
  std::string fingerprint;
  int64_t parameters = 0, forward_flops_per_image = 0;
  std::vector<RankRow> rows;  // ranked ones first
};

struct Ranking {
  std::optional<size_t> by;               // position in Axes(), or kByMachine
  std::vector<StudyRecord> studies;       // the studies of the runs
  std::vector<RankGroup> groups;          // ordered by their cells
  std::map<int64_t, NoiseSummary> noise;  // of the studies with sentinel readings
  int64_t runs = 0;
  bool several_machines = false;

  int64_t FailedRows() const;
  // Sets the studies of the ranked runs and drops the noise of all others.
  void SetStudies(std::vector<StudyRecord> those);
};

struct RankOptions {
  std::optional<int64_t> study;  // nullopt = every run of the store
  std::optional<size_t> by;      // rows of one group differ in this axis only, ordered by it
  RunSelector only;
};

Result<Ranking> Rank(Store& store, const RankOptions& options);

// Passes every selected run to `add`, and the other runs of the same studies to `observe`. Returns
// the studies of the selected runs.
Result<std::vector<StudyRecord>> ReadRuns(Store& store, const RankOptions& options,
                                          const std::function<void(const RunRecord&)>& add,
                                          const std::function<void(const RunRecord&)>& observe);

// Ranks runs from any source.
class RankingBuilder {
 public:
  explicit RankingBuilder(std::optional<size_t> by = std::nullopt);
  RankingBuilder(RankingBuilder&&) noexcept;
  ~RankingBuilder();

  // A run that is not ranked but contributes to its study's noise.
  void Observe(const RunRecord& run);
  void Add(const RunRecord& run);
  Ranking Finish() &&;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// The full cell of a row.
Cell CellOf(const Ranking& ranking, const RankGroup& group, const RankRow& row);
// The row's time per image; it must have a time.
Estimate PerImage(const Ranking& ranking, const RankGroup& group, const RankRow& row);

}  // namespace tench
