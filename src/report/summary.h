// SPDX-License-Identifier: Apache-2.0
#pragma once
// Aggregates runs into ranked rows. Each cell's runs become one row. Rows that differ only in the
// worker, its version and its options form a group and are ranked by time per image. Rank reads all
// runs of a store, and at most one loss per row of the long series; the other functions are pure.
//
// Rules:
//  - A row's time is the geometric mean over its rounds of each run's shortest stretch of steps
//    (round_time.h), whose length depends on the steps of the group's rows. The time of a
//    row with at least kFewestRounds paired rounds is the fastest row's time times their ratio over
//    these rounds, which differs only if some rounds have no pair. So the quotient of the times is
//    the ratio. The median over rounds of each run's median step is a second time without a ratio.
//  - One attempt per round counts (round_time.h). A row whose counted runs include a disturbed one
//    has the flag `disturbed`; these rounds have no pair.
//  - The time of several runs has Student's t-interval of its logarithms. The median time of a
//    single run has its own 95 % interval.
//  - Runs of different machines, worker versions, builds, solvers, network fingerprints or
//    measuring rules never share a row; different machines or fingerprints never share a group.
//  - Only frameworks have a rank. Baseline and oracle are compared with the fastest framework, but
//    are neither ranked nor fastest. All roles are ranked together on request, between values of
//    an axis other than the worker, and in a group without a measured framework.
//  - The verdict of a row is against the fastest ranked row of its group, over the rounds in which
//    both ran. Holm's correction covers all pairs of the group with a ranked row, because the
//    fastest row was picked from them. A verdict is `ambiguous` if the medians say the opposite.
//  - The losses of a group's measured rows are of one step: the smallest number of steps, including
//    warm-up, of a counted attempt. A row shows its newest attempt.
//  - A cell's outcome is the most frequent one of its runs, a failure before `ok` in a tie. One
//    `wrong` run makes it `wrong`. Only `ok` cells are measured. `interrupted` runs count only if
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
#include "report/latency.h"
#include "report/round_time.h"
#include "report/run_selector.h"
#include "report/training.h"
#include "report/worker_limits.h"
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
  Role role = Role::kFramework;
  std::string cell_id;
  std::string worker, worker_version, build;
  std::map<std::string, std::string> options;
  std::string solver;  // the settings that no axis has
  int64_t rules = kRules;
  std::string cpu_model, isa;
  AxisValue by;            // value of the requested axis, or the machine's label
  std::string machine_id;  // by machine only; otherwise the group has it
  int64_t threads = 0;     // the resolved count, where the cell says 0
  int64_t runs_ok = 0, runs_failed = 0;
  Outcome outcome = Outcome::kOk;
  Outcome failure = Outcome::kOk;          // the most frequent failure, where runs_failed > 0
  std::string reason, reproducer;          // of the newest run with that failure
  std::vector<std::string> flags;          // of all its counted runs
  std::optional<Estimate> step_ns;         // the compared time
  std::optional<Estimate> median_step_ns;  // never compared
  std::vector<RoundTime> times;            // the counted attempts
  double ratio = 0;  // time per image over the fastest ranked row's; 0 = not measured
  // Against the fastest ranked row, paired by round; for all other measured rows.
  std::optional<RatioTest> against_best;
  bool interleaved = true;  // with the fastest row, in the same studies
  RatioVerdict verdict = RatioVerdict::kAmbiguous;
  int64_t step_flops = 0;
  std::optional<double> flops_per_s;
  bool flops_effective = false;  // direct_peak.h
  // Maxima over runs: of the timed steps without Build, and the resident set before Build.
  std::optional<int64_t> peak_rss_bytes, rss_before_build_bytes;
  // Medians over the ok runs: launch to the worker's first message, the build, and launch to the
  // end of the first step.
  std::optional<double> start_ns, build_ns, first_step_ns;
  // Medians over the ok runs of the times per image: the loader's CPU time, exposed input, and
  // step and input together. Of cycled input; the first with data_threads.
  std::optional<double> loading_ns, exposed_ns, end_to_end_ns;
  // Over the ok runs with a measurement: the median energy of the CPU packages per image, and the
  // share that the idle machine takes in the same time.
  std::optional<double> image_energy_j, idle_energy_share;
  int64_t energy_runs = 0;
  CellSettings settings;                            // that tuning selected
  std::optional<int64_t> tune_ns, tune_pays_steps;  // TuningRecord::PaysAfterSteps
  int64_t loss_run = 0;                             // the run of `loss`; 0 = none
  std::optional<double> loss;                       // at the group's loss_step
  std::optional<double> parity_error;               // parity_error.h
  std::string parity_tensor;                        // the tensor with that error
  std::optional<Latency> latency;                   // of cells with HasLatency

  bool measured() const { return outcome == Outcome::kOk && step_ns.has_value(); }
  bool HasFailed() const { return runs_failed > 0 || !measured(); }
};

struct RankGroup {
  Cell cell;  // the shared axes; the others are at their defaults
  std::string machine, machine_id;
  std::string fingerprint;
  int64_t parameters = 0, forward_flops_per_image = 0;
  int64_t loss_step = 0;      // of the rows' losses, from 1; 0 = no measured row
  std::vector<RankRow> rows;  // ranked ones first, then other measured ones, then failed ones
};

struct Ranking {
  std::optional<size_t> by;               // position in Axes(), or kByMachine
  std::vector<StudyRecord> studies;       // the studies of the runs
  std::vector<RankGroup> groups;          // ordered by their cells
  std::map<int64_t, NoiseSummary> noise;  // of the studies with sentinel readings
  std::vector<TrainingRow> trainings;     // of the runs with a test split
  WorkerLimits limits;                    // of the runs' workers
  int64_t runs = 0;
  bool several_machines = false, several_rules = false;
  bool all_roles = false;  // baseline and oracle are ranked like frameworks
  // Flags of every measured row, if there are several. A table shows them once.
  std::vector<std::string> common_flags;
  std::optional<double> price_per_hour;  // of the machine; the user's, in no currency

  // The price of a million images at the row's time per image; nullopt without a price or a time.
  std::optional<double> CostPerMillion(const RankGroup& group, const RankRow& row) const;

  int64_t FailedRows() const;
  // Sets the studies of the ranked runs, drops the noise of all others, and labels the FLOP/s above
  // the peaks that these studies measured.
  void SetStudies(std::vector<StudyRecord> those);
};

struct RankOptions {
  std::vector<int64_t> studies;  // empty = every run of the store
  std::optional<size_t> by;      // rows of one group differ in this axis only, ordered by it
  bool all_roles = false;
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
  explicit RankingBuilder(std::optional<size_t> by = std::nullopt, bool all_roles = false);
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
Estimate PerImage(const Ranking& ranking, const RankGroup& group, const RankRow& row,
                  StepTime time = StepTime::kShortest);

}  // namespace tench
