// SPDX-License-Identifier: Apache-2.0
#include "run/session/run_summary.h"

#include <algorithm>

#include "stats/stats.h"
#include "stats/stretch.h"

namespace tench {
namespace {

// Workers report 0 for a value that they cannot determine.
std::optional<int64_t> Positive(int64_t value) {
  return value > 0 ? std::optional(value) : std::nullopt;
}

void AddGpu(const GpuUse& use, RunSummary& summary) {
  if (use.utilisation_percent.count > 0) {
    summary.gpu_use_mean = use.utilisation_percent.mean;
    summary.gpu_use_peak = use.utilisation_percent.peak;
  }
  if (use.power_w.count > 0) {
    summary.gpu_power_w_mean = use.power_w.mean;
    summary.gpu_power_w_peak = use.power_w.peak;
  }
  const MeanPeak& memory =
      use.process_memory_bytes.count > 0 ? use.process_memory_bytes : use.memory_used_bytes;
  if (memory.count > 0) summary.gpu_memory_peak_bytes = static_cast<int64_t>(memory.peak);
}

void AddEnergy(const EnergyUse& use, RunSummary& summary) {
  summary.energy_packages = use.packages;
  summary.energy_problem = use.problem;
  if (use.readings == 0) return;
  summary.energy_window_ns = use.window_ns;
  summary.energy_readings = use.readings;
  summary.idle_power_w = use.idle_w;
  summary.steps_energy_j = use.joules;
}

}  // namespace

void AddSteps(const RunSeries& series, RunSummary& summary) {
  summary.steps = static_cast<int64_t>(series.step_ns.size());
  summary.warmup_steps = static_cast<int64_t>(series.warmup_ns.size());
  if (!series.loss.empty()) {
    summary.first_loss = series.loss.front();
    if (series.loss.size() > 1) summary.second_loss = series.loss[1];
    if (series.loss.size() > 2) summary.third_loss = series.loss[2];
    summary.last_loss = series.loss.back();
  }
  if (!series.input_ns.empty()) {
    const Summary input = Summarize(series.input_ns);
    summary.input_ns_median = input.median;
    summary.input_ns_mean = input.mean;
  }
  if (series.step_ns.empty()) return;
  const Summary steps = Summarize(series.step_ns);
  summary.step_ns_median = steps.median;
  summary.step_ns_mean = steps.mean;
  if (steps.count > 1) {
    summary.step_ns_stddev = steps.stddev;
    summary.step_ns_low = steps.median_interval.low;
    summary.step_ns_high = steps.median_interval.high;
  }
  summary.step_ns_min = steps.min;
  summary.step_ns_p5 = steps.p5;
  summary.step_ns_p95 = steps.p95;
  summary.step_ns_max = steps.max;
  summary.stretches = StretchProfile::Of(series.step_ns).Encode();
}

void AddEvaluations(std::vector<Evaluation> evaluations, const Job& job, RunSummary& summary) {
  if (evaluations.empty()) return;
  summary.evaluation_ns = 0;
  for (Evaluation& one : evaluations) {
    if (job.images > 0)
      one.epochs = static_cast<double>(one.step) * static_cast<double>(job.batch) /
                   static_cast<double>(job.images);
    *summary.evaluation_ns += one.eval_ns;
    if (summary.target_ns || !job.evaluation.until.ReachedBy(one)) continue;
    summary.target_ns = one.train_ns;
    summary.target_epochs = one.epochs;
  }
  const Evaluation& last = evaluations.back();
  summary.test_loss = last.loss;
  summary.test_top1 = last.top1;
  summary.test_top5 = last.top5;
  summary.evaluations = EncodeEvaluations(evaluations);
}

RunSummary Summarise(const ProtocolState& protocol, const Job& job, const Observations& seen) {
  RunSummary summary;
  AddSteps(protocol.series(), summary);
  if (summary.input_ns_mean && summary.step_ns_mean)
    summary.end_to_end_ns_per_image =
        (*summary.step_ns_mean + *summary.input_ns_mean) / static_cast<double>(job.batch);
  AddEvaluations(protocol.evaluations(), job, summary);
  summary.hello_ns = seen.hello_ns;
  summary.first_step_ns = seen.first_step_ns;
  summary.compilations = Positive(protocol.compilations());
  if (const auto& hello = protocol.hello())
    summary.rss_before_build_bytes = Positive(hello->rss_bytes);
  if (const auto& built = protocol.built()) {
    summary.build_ns = built->build_ns;
    summary.build_peak_rss_bytes = Positive(built->peak_rss_bytes);
    summary.planned_bytes = Positive(built->planned_bytes);
  }
  if (const auto& done = protocol.done()) {
    const bool open_ended = job.budget.fixed_steps == 0 && job.budget.epochs == 0;
    if (open_ended) summary.converged = done->converged;
    summary.steps_peak_rss_bytes = Positive(done->peak_rss_bytes);
    if (done->loaded_samples > 0)
      summary.loading_ns_per_image =
          static_cast<double>(done->loading_ns) / static_cast<double>(done->loaded_samples);
    if (done->wall_ns > 0)
      summary.cpu_per_wall = static_cast<double>(done->cpu_ns) / static_cast<double>(done->wall_ns);
  }
  if (!seen.samples.empty()) {
    summary.sampled_peak_rss_bytes = seen.samples.PeakRssBytes();
    summary.peak_swap_bytes = seen.samples.PeakSwapBytes();
    summary.major_faults = seen.samples.peak().major_faults;
    summary.voluntary_switches = seen.samples.peak().voluntary_switches;
    summary.involuntary_switches = seen.samples.peak().involuntary_switches;
  }
  if (seen.exit) {
    summary.major_faults = std::max(summary.major_faults, seen.exit->major_faults);
    summary.voluntary_switches =
        std::max(summary.voluntary_switches, seen.exit->voluntary_switches);
    summary.involuntary_switches =
        std::max(summary.involuntary_switches, seen.exit->involuntary_switches);
  }
  if (seen.gpu < seen.gpus.uses().size()) AddGpu(seen.gpus.uses()[seen.gpu], summary);
  summary.cpu_energy_j = seen.cpu_energy_j;
  AddEnergy(seen.energy, summary);
  summary.steal_share = seen.withheld.steal;
  summary.throttled_share = seen.withheld.throttled;
  return summary;
}

}  // namespace tench
