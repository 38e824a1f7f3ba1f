// SPDX-License-Identifier: Apache-2.0
#pragma once
// The records of the store, as passive structs. A run's summary is stored beside it, so that tables
// never read the long series. Times are in nanoseconds, sizes in bytes. A value that was not
// measured is a std::nullopt or an empty vector, never a zero.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "axis/cell.h"
#include "plan/suite.h"
#include "record/budget.h"
#include "record/census.h"
#include "record/noise_readings.h"
#include "record/outcome.h"
#include "record/pairing.h"
#include "record/role.h"
#include "record/rules.h"

namespace tench {

// Build ids by the worker's name in a cell ("torch", "tensorflow@2.15"); "" = not installed.
using WorkerBuilds = std::map<std::string, std::string>;

// Timed steps per run by compared group (plan/matrix.h), planned before the group's first round.
using StepPlan = std::map<std::string, int64_t>;

// A compared group of a study in turns: the slices of each of its runs, or the reason why it is
// measured in rounds.
struct GroupTurns {
  int64_t slices = 0;  // 0 = in rounds
  std::string reason;

  bool operator==(const GroupTurns&) const = default;
};
using TurnPlan = std::map<std::string, GroupTurns>;

// One execution of a suite on one machine, with one set of worker builds.
struct StudyRecord {
  int64_t id = 0;
  std::string suite;  // its name
  std::string suite_fingerprint;
  std::string machine;  // label: the user's, or the host's name
  std::string machine_id;
  std::string host_json;  // facts about the machine at the start of the study
  std::string tench_version;
  std::string filter;  // --only as given, sorted; part of the study's identity
  std::string started_utc;
  uint64_t seed = 0;   // of the shuffled orders
  int64_t rounds = 0;  // planned
  int64_t cells = 0;   // planned
  int64_t rules = kRules;
  WorkerBuilds builds;
  std::string suite_text;  // the suite's YAML; "" in older files
  StepPlan step_plan;
  StudyPairing pairing = StudyPairing::kRounds;
  TurnPlan turn_plan;  // of a study in turns
};

// The key of a parity result. A result holds for one build on one CPU model and instruction set,
// because another CPU selects other kernels.
struct ParityKey {
  std::string worker, worker_version, build;
  std::string cpu_model, isa;
  std::string fingerprint;  // of the network
  std::string setting;      // device, precision and options

  bool operator==(const ParityKey&) const = default;
};

// The parity result of a build of a worker on a network.
struct ParityRecord {
  ParityKey key;
  Outcome outcome = Outcome::kOk;  // kOk = verified; kWrong; any other: not determined
  std::string reason;              // "" for kOk
  double worst = 0;                // the largest difference over its tolerance
  std::string worst_tensor;
  std::string checked_utc;
};

// One trial of a tuning: a short run of a cell with some settings.
struct TuningTrial {
  std::string candidate;  // "default", or what the candidate sets: "layout=channels_last"
  Outcome outcome = Outcome::kOk;
  std::string reason;             // "" if ok
  std::optional<double> step_ns;  // the shortest timed step
  int64_t wall_ns = 0;            // launch to end; 0 = not tried
};

// The settings that the trials of a cell's tuning selected. A study has one per cell of the tuned
// track, made before round 1 and never changed.
struct TuningRecord {
  int64_t study = 0;
  std::string cell_id;
  CellSettings settings;  // besides the cell's own
  std::vector<TuningTrial> trials;
  int64_t budget_ns = 0, spent_ns = 0;
  std::optional<double> default_step_ns, best_step_ns;
  std::string build;  // of the worker
  std::string tuned_utc;

  // The number of steps after which the faster steps have saved the tuning's time; nullopt if no
  // candidate was faster.
  std::optional<int64_t> PaysAfterSteps() const;
};

// The scalars that tables need.
struct RunSummary {
  int64_t steps = 0, warmup_steps = 0;
  std::optional<double> step_ns_median, step_ns_mean, step_ns_stddev;
  std::optional<double> step_ns_low, step_ns_high;  // 95 % interval of the median
  std::optional<double> step_ns_min, step_ns_p5, step_ns_p95, step_ns_max;
  std::string stretches;  // stats/stretch.h; "" = unknown
  std::string slices;     // of a run in turns (stats/slice.h); "" = not in turns
  std::optional<double> input_ns_median;
  // With a loader (data_threads): its CPU time per sample. With cycled input: the mean input time
  // per step, and step and input per sample.
  std::optional<double> loading_ns_per_image, input_ns_mean, end_to_end_ns_per_image;
  // Of runs with a test split: the evaluations (record/evaluation.h), the last one's results, and
  // the time of all. For a target that was reached: the training time and the epochs before it.
  std::string evaluations;
  std::optional<double> test_loss, test_top1, test_top5;
  std::optional<int64_t> evaluation_ns, target_ns;
  std::optional<double> target_epochs;
  // Losses of the first three steps, including warm-up, and of the last step.
  std::optional<double> first_loss, second_loss, third_loss, last_loss;
  std::optional<bool> converged;              // nullopt for a fixed number of steps
  std::optional<int64_t> hello_ns, build_ns;  // launch to hello; Build alone
  std::optional<int64_t> first_step_ns;       // launch to the end of the first step
  std::optional<int64_t> compilations;        // during the timed steps; nullopt = none reported
  // Of the cell's tuning: its time, and TuningRecord::PaysAfterSteps.
  std::optional<int64_t> tune_ns, tune_pays_steps;
  // The kernel's high-water marks, and the peaks sampled from outside, including children.
  std::optional<int64_t> rss_before_build_bytes, build_peak_rss_bytes, steps_peak_rss_bytes;
  std::optional<int64_t> sampled_peak_rss_bytes, peak_swap_bytes;
  std::optional<int64_t> planned_bytes;
  std::optional<double> cpu_per_wall;  // over the timed steps; should be at most threads + 0.1
  std::optional<double> cpu_energy_j;  // of the whole run, from launch to exit
  // Over the timed steps (record/energy_use.h). `energy_problem` is why there is no value; all are
  // empty in older files.
  std::optional<double> steps_energy_j, idle_power_w;
  std::optional<int64_t> energy_window_ns, energy_readings;
  std::string energy_packages, energy_problem;
  std::optional<double> gpu_use_mean, gpu_use_peak, gpu_power_w_mean, gpu_power_w_peak;
  std::optional<int64_t> gpu_memory_peak_bytes;
  int64_t major_faults = 0, voluntary_switches = 0, involuntary_switches = 0;
  // The noise sentinel before and after the run.
  std::optional<int64_t> sentinel_before_compute_ns, sentinel_before_memory_ns;
  std::optional<int64_t> sentinel_after_compute_ns, sentinel_after_memory_ns;
  // Shares of the CPUs' time that were withheld (record/noise_readings.h).
  std::optional<double> steal_share, throttled_share;
  // The noise judgement (stats/noise.h), made after all runs of the study; nullopt = not judged
  // yet. `slow` is from the run's own steps; by rules before 3 it implies `disturbed`.
  std::optional<bool> slow, disturbed;
  // The judgement of loss_judgement.h, made after all runs too; nullopt = not judged, or not
  // comparable. A run whose losses disagree with those of other workers is `wrong`.
  std::optional<bool> losses_agree;
  int64_t wall_ns = 0;      // launch to end
  int64_t overhead_ns = 0;  // part of wall_ns outside the worker: launch to exec, reading, storing

  SentinelReadings sentinel() const {
    return {{sentinel_before_compute_ns.value_or(0), sentinel_before_memory_ns.value_or(0)},
            {sentinel_after_compute_ns.value_or(0), sentinel_after_memory_ns.value_or(0)}};
  }
  NoiseReadings noise() const { return {sentinel(), steal_share, throttled_share}; }

  bool operator==(const RunSummary&) const = default;
};

// The long series, stored in their own table.
struct RunSeries {
  std::vector<int64_t> step_ns;  // timed steps
  std::vector<int64_t> warmup_ns;
  std::vector<int64_t> input_ns;  // timed steps; empty for fixed input
  std::vector<double> loss;       // warm-up and timed, in order
  std::string samples;            // encoded by machine/sampler
  std::string log;                // the tail of the worker's stdout and stderr
  Census census = {};             // of a profiled run; without steps otherwise

  bool operator==(const RunSeries&) const = default;
};

struct RunRecord {
  int64_t id = 0;     // assigned by the store
  int64_t study = 0;  // 0 = a single run, without a study
  int64_t round = 0;
  int64_t attempt = 0;  // > 0: repeated in the same round
  // Of the round of its compared group: 0, or how often the group's round was repeated before.
  int64_t repetition = 0;
  Cell cell;
  std::string cell_id;
  CellSettings settings;  // that tuning selected, besides the cell's own
  std::string block;
  Budget budget;
  Limits limits;
  int64_t threads = 0;  // resolved: the number of CPUs if the cell says 0
  Outcome outcome = Outcome::kOk;
  std::string reason;              // one line; empty if ok without remarks
  std::string reproducer;          // a command
  std::vector<std::string> flags;  // record/run_flag.h
  std::string conditions;          // JSON, decides on a retry (run/study/retry.h); "" = unknown
  std::string started_utc;
  std::string machine, machine_id;
  std::string cpu_model, isa;
  std::string worker_version;
  std::string build;         // of the worker; "" = not installed, or older than build ids
  std::optional<Role> role;  // as the worker stated it; nullopt = it did not start, or older
  int64_t rules = kRules;
  std::string solver;            // beyond its axes: "sgd", "nesterov", "sgd clip_gradients=35"
  std::string worker_json;       // the Hello: description, libraries, flush-to-zero
  std::string flush_to_zero;     // of the computing threads: "on", "off", "mixed"; "" = unknown
  std::string cpus_json;         // the run's CPUs, cores and NUMA nodes (machine/placement.h)
  std::string choices_json;      // what the worker selected by itself
  std::string environment_json;  // of the worker, after scrubbing
  std::string fingerprint;       // of the network
  int64_t parameters = 0;
  int64_t forward_flops_per_image = 0;
  int64_t step_flops = 0;       // of the phase and the whole batch
  std::optional<bool> dropout;  // whether a step draws dropout masks; nullopt = unknown
  RunSummary summary;

  // The cell that was executed: the cell with the settings of its tuning, on the untuned track.
  Cell ExecutedCell() const { return WithSettings(cell, settings); }
  Role role_or_usual() const { return role.value_or(UsualRole(cell.Text(kAxisWorker))); }
};

}  // namespace tench
