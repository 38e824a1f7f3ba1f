// SPDX-License-Identifier: Apache-2.0
#pragma once
// Records for tests: a run in which every field has a distinct value, and a small study. Not part
// of the product.

#include <string>

#include "base/error.h"
#include "store/record.h"

namespace tench {

inline Cell TestCell(const std::string& worker = "reference", const std::string& network = "lenet",
                     int64_t batch = 64) {
  Cell cell;
  cell.values[kAxisWorker] = worker;
  cell.values[kAxisNetwork] = network;
  cell.values[kAxisData] = std::string("mnist");
  cell.values[kAxisBatch] = batch;
  return cell;
}

inline StudyRecord TestStudy(const std::string& suite = "quick") {
  StudyRecord study;
  study.suite = suite;
  study.suite_fingerprint = "0123456789abcdef";
  study.machine = "pond";
  study.machine_id = "pond-id";
  study.host_json = R"({"cpu":"fish"})";
  study.tench_version = "0.1.0";
  study.filter = "batch=1";
  study.started_utc = "2026-01-02T03:04:05Z";
  study.seed = 0xfedcba9876543210;  // more than an int64 holds
  study.rounds = 5;
  study.cells = 12;
  study.builds = {{"reference", "1a2b3c4d5e6f7081"}, {"theano", ""}};
  study.step_plan = {{"network=lenet batch=64", 25}};
  study.pairing = StudyPairing::kTurns;
  study.turn_plan = {{"network=lenet batch=64", {6, ""}}, {"network=mlp", {0, "no \"reason\""}}};
  study.suite_text = "worker: reference\nnetwork: lenet\n";
  return study;
}

inline ParityRecord TestParity(const std::string& worker = "native") {
  ParityRecord parity;
  parity.key = {worker, "1.0", "1a2b3c4d5e6f7081", "Fish 9000", "avx2", "f00d", "device=cpu"};
  parity.worst = 0.5;
  parity.worst_tensor = "gradients of conv1";
  parity.checked_utc = "2026-01-02T00:00:00Z";
  return parity;
}

inline TuningRecord TestTuning(int64_t study, const std::string& cell_id = "f00d") {
  TuningRecord tuning;
  tuning.study = study;
  tuning.cell_id = cell_id;
  tuning.settings = {{"layout", "nhwc"}, {"env.NAME", "1"}};
  tuning.trials = {{"default", Outcome::kOk, "", 2e6, 1'000'000},
                   {"env.NAME=1", Outcome::kCrashed, "signal 11", std::nullopt, 2'000'000}};
  tuning.budget_ns = 30'000'000'000, tuning.spent_ns = 3'000'000;
  tuning.default_step_ns = 2e6, tuning.best_step_ns = 1e6;
  tuning.build = "1a2b3c4d5e6f7081";
  tuning.tuned_utc = "2026-01-02T03:04:05Z";
  return tuning;
}

inline RunSummary TestSummary() {
  RunSummary s;
  s.steps = 100, s.warmup_steps = 3;
  s.step_ns_median = 10.5e6, s.step_ns_mean = 11e6, s.step_ns_stddev = 0.25e6,
  s.step_ns_low = 10.4e6, s.step_ns_high = 10.6e6;
  s.step_ns_min = 9e6, s.step_ns_p5 = 9.5e6, s.step_ns_p95 = 12e6, s.step_ns_max = 20e6;
  s.input_ns_median = 1234.5;
  s.first_loss = 2.302585, s.second_loss = 2.25, s.third_loss = 2.125, s.last_loss = 0.125;
  s.converged = true;
  s.hello_ns = 1'000'001, s.build_ns = 2'000'002, s.first_step_ns = 4'000'003;
  s.tune_ns = 5'000'004, s.tune_pays_steps = 15, s.compilations = 16;
  s.rss_before_build_bytes = 3 << 20, s.build_peak_rss_bytes = 4 << 20,
  s.steps_peak_rss_bytes = 5 << 20;
  s.sampled_peak_rss_bytes = 6 << 20, s.peak_swap_bytes = 7;
  s.planned_bytes = 8;
  s.cpu_per_wall = 1.99, s.cpu_energy_j = 3.5;
  s.idle_power_w = 40.5;
  s.energy_window_ns = 1'500'000'000, s.energy_readings = 16;
  s.energy_packages = "package-0";
  s.gpu_use_mean = 0.5, s.gpu_use_peak = 0.9, s.gpu_power_w_mean = 100, s.gpu_power_w_peak = 200;
  s.gpu_memory_peak_bytes = 9;
  s.major_faults = 10, s.voluntary_switches = 11, s.involuntary_switches = 12;
  s.sentinel_before_compute_ns = 3'000'001, s.sentinel_before_memory_ns = 3'000'002;
  s.sentinel_after_compute_ns = 3'000'003, s.sentinel_after_memory_ns = 3'000'004;
  s.steal_share = 0.25, s.throttled_share = 0.125;
  s.losses_agree = true;
  s.wall_ns = 13, s.overhead_ns = 14;
  return s;
}

inline RunRecord TestRun(int64_t study = 0, int64_t round = 0, const Cell& cell = TestCell()) {
  RunRecord run;
  run.study = study;
  run.round = round;
  run.cell = cell;
  run.cell_id = cell.Id();
  run.settings = {{"layout", "nhwc"}, {"env.NAME", "1"}};
  run.block = "cnn";
  run.budget = Budget{4, 5, 6, 7, 8, 0.125, 9};
  run.limits = Limits{10, 11, SwapPolicy::kKill};
  run.threads = 2;
  run.reason = "none";
  run.reproducer = "tench run " + cell.Flags();
  run.flags = {"unconverged", "unverified"};
  run.conditions = R"({"devices":["cpu x2"]})";
  run.started_utc = "2026-01-02T03:04:06Z";
  run.machine = "pond";
  run.machine_id = "pond-id";
  run.cpu_model = "Fish 9000";
  run.isa = "avx2";
  run.worker_version = "1.0";
  run.build = "1a2b3c4d5e6f7081";
  run.solver = "sgd";
  run.worker_json = R"({"name":"reference"})";
  run.choices_json = R"({"layout":"nchw"})";
  run.environment_json = R"({"PATH":"/bin"})";
  run.fingerprint = "00000000deadbeef";
  run.parameters = 431'080;
  run.forward_flops_per_image = 4'586'000;
  run.step_flops = 880'512'000;
  run.dropout = false;
  run.repetition = 1;
  run.flush_to_zero = "mixed";
  run.cpus_json = R"({"cpus":"0-1"})";
  run.summary = TestSummary();
  return run;
}

inline RunSeries TestSeries() {
  RunSeries series;
  series.step_ns = {1, -2, int64_t{1} << 60};
  series.warmup_ns = {100};
  series.input_ns = {7, 8, 9};
  series.loss = {2.3, 1.0, 0.5, -0.25};
  series.samples = std::string("a\0b", 3);
  series.log = "worker said \xff and died\n";
  series.census = {"profile of native",
                   4,
                   {{"conv1", "forward", KernelGroup::kConvolution, "conv", "jit:avx2", "mb1ic3",
                     "", 4, 100, 200, 300, true}}};
  return series;
}

}  // namespace tench
