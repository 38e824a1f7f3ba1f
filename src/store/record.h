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
#include "record/outcome.h"
#include "record/role.h"
#include "record/rules.h"
#include "record/sentinel_reading.h"

namespace tench {

// Build ids by the worker's name in a cell ("torch", "tensorflow@2.15"); "" = not installed.
using WorkerBuilds = std::map<std::string, std::string>;

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

// The scalars that tables need.
struct RunSummary {
  int64_t steps = 0, warmup_steps = 0;
  std::optional<double> step_ns_median, step_ns_mean, step_ns_stddev;
  std::optional<double> step_ns_low, step_ns_high;  // 95 % interval of the median
  std::optional<double> step_ns_min, step_ns_p5, step_ns_p95, step_ns_max;
  std::optional<double> input_ns_median;
  // Losses of the first three steps, including warm-up, and of the last step.
  std::optional<double> first_loss, second_loss, third_loss, last_loss;
  std::optional<bool> converged;              // nullopt for a fixed number of steps
  std::optional<int64_t> hello_ns, build_ns;  // launch to hello; Build alone
  // The kernel's high-water marks, and the peaks sampled from outside, including children.
  std::optional<int64_t> rss_before_build_bytes, build_peak_rss_bytes, steps_peak_rss_bytes;
  std::optional<int64_t> sampled_peak_rss_bytes, peak_swap_bytes;
  std::optional<int64_t> planned_bytes;
  std::optional<double> cpu_per_wall;  // over the timed steps; should be at most threads + 0.1
  std::optional<double> cpu_energy_j;
  std::optional<double> gpu_use_mean, gpu_use_peak, gpu_power_w_mean, gpu_power_w_peak;
  std::optional<int64_t> gpu_memory_peak_bytes;
  int64_t major_faults = 0, voluntary_switches = 0, involuntary_switches = 0;
  // The noise sentinel before and after the run.
  std::optional<int64_t> sentinel_before_compute_ns, sentinel_before_memory_ns;
  std::optional<int64_t> sentinel_after_compute_ns, sentinel_after_memory_ns;
  // The noise judgement (stats/noise.h), made after all runs of the study; nullopt = not judged
  // yet.
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

  bool operator==(const RunSeries&) const = default;
};

struct RunRecord {
  int64_t id = 0;     // assigned by the store
  int64_t study = 0;  // 0 = a single run, without a study
  int64_t round = 0;
  int64_t attempt = 0;  // > 0: repeated in the same round
  Cell cell;
  std::string cell_id;
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
  std::string choices_json;      // candidates that a tuned worker selected
  std::string environment_json;  // of the worker, after scrubbing
  std::string fingerprint;       // of the network
  int64_t parameters = 0;
  int64_t forward_flops_per_image = 0;
  int64_t step_flops = 0;       // of the phase and the whole batch
  std::optional<bool> dropout;  // whether a step draws dropout masks; nullopt = unknown
  RunSummary summary;

  Role role_or_usual() const { return role.value_or(UsualRole(cell.Text(kAxisWorker))); }
};

}  // namespace tench
