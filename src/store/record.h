// SPDX-License-Identifier: Apache-2.0
#pragma once
// The records of the store, as passive structs. A run's summary is stored beside it, so that tables
// never read the long series. Times are in nanoseconds, sizes in bytes. A value that was not
// measured is a std::nullopt or an empty vector, never a zero.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "axis/cell.h"
#include "plan/suite.h"
#include "record/budget.h"
#include "record/outcome.h"
#include "record/sentinel_reading.h"

namespace tench {

// One execution of a suite on one machine.
struct StudyRecord {
  int64_t id = 0;
  std::string suite;  // its name
  std::string suite_fingerprint;
  std::string machine;  // label: the host's name unless the user gave one
  std::string machine_id;
  std::string host_json;  // facts about the machine when the study began
  std::string tench_version;
  std::string filter;  // --only as given, sorted; part of what "the same command" means
  std::string started_utc;
  uint64_t seed = 0;   // of the shuffles
  int64_t rounds = 0;  // planned
  int64_t cells = 0;   // planned
};

// Whether a version of a worker computes a network rightly, as it was found once.
struct ParityRecord {
  std::string worker, worker_version;
  std::string fingerprint;         // of the network
  std::string setting;             // all else that it depends on: device, precision, options
  Outcome outcome = Outcome::kOk;  // kOk = verified; kWrong; any other: it could not be found out
  std::string reason;              // of what is not kOk
  double worst = 0;                // the largest difference over its allowance
  std::string worst_tensor;
  std::string checked_utc;
};

// The few numbers that tables need.
struct RunSummary {
  int64_t steps = 0, warmup_steps = 0;
  std::optional<double> step_ns_median, step_ns_mean, step_ns_stddev;
  std::optional<double> step_ns_low, step_ns_high;  // 95 % interval of the median
  std::optional<double> step_ns_min, step_ns_p5, step_ns_p95, step_ns_max;
  std::optional<double> input_ns_median;
  std::optional<double> first_loss, last_loss;
  std::optional<bool> converged;              // nullopt when the number of steps was fixed
  std::optional<int64_t> hello_ns, build_ns;  // launch to hello; Build alone
  // Kernel's high-water marks, and what was sampled from outside, with children.
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
  // The noise judgement of stats/noise.h, made when all runs of the study were known; nullopt = not
  // judged yet.
  std::optional<bool> slow, disturbed;
  int64_t wall_ns = 0;      // launch to end
  int64_t overhead_ns = 0;  // of it, outside the worker: launch to exec, reading, storing

  SentinelReadings sentinel() const {
    return {{sentinel_before_compute_ns.value_or(0), sentinel_before_memory_ns.value_or(0)},
            {sentinel_after_compute_ns.value_or(0), sentinel_after_memory_ns.value_or(0)}};
  }

  bool operator==(const RunSummary&) const = default;
};

// The long series, in a table of their own.
struct RunSeries {
  std::vector<int64_t> step_ns;  // timed steps
  std::vector<int64_t> warmup_ns;
  std::vector<int64_t> input_ns;  // timed steps; empty when input was fixed
  std::vector<double> loss;       // warm-up and timed, in order
  std::string samples;            // machine/sampler's own encoding
  std::string log;                // the end of the worker's stdout and stderr

  bool operator==(const RunSeries&) const = default;
};

struct RunRecord {
  int64_t id = 0;     // of the store
  int64_t study = 0;  // 0 = a single run, of no study
  int64_t round = 0;
  int64_t attempt = 0;  // > 0: repeated in the same round
  Cell cell;
  std::string cell_id;
  std::string block;
  Budget budget;
  Limits limits;
  int64_t threads = 0;  // really asked for, where the cell says 0
  Outcome outcome = Outcome::kOk;
  std::string reason;              // one line; empty when ok without remarks
  std::string reproducer;          // a command
  std::vector<std::string> flags;  // record/run_flag.h
  std::string started_utc;
  std::string machine, machine_id;
  std::string worker_version;
  std::string worker_json;       // the Hello: description, libraries, flush-to-zero
  std::string choices_json;      // what a tuned worker picked
  std::string environment_json;  // of the worker, after scrubbing
  std::string fingerprint;       // of the network
  int64_t parameters = 0;
  int64_t forward_flops_per_image = 0;
  int64_t step_flops = 0;  // of the phase, whole batch
  RunSummary summary;
};

}  // namespace tench
