// SPDX-License-Identifier: Apache-2.0
#include "report/record_json.h"

#include <algorithm>

#include "record/evaluation.h"
#include "report/direct_peak.h"

namespace tench {
namespace {

// Text of a worker or of an older version: embedded as JSON if it parses, otherwise as a string.
Json Embedded(const std::string& text) {
  if (text.empty()) return nullptr;
  Json json = Json::parse(text, nullptr, false);
  return json.is_discarded() ? Json(text) : json;
}

Json CellToJson(const Cell& cell) {
  Json json = Json::object();
  PutAxes(json, cell);
  json["options"] = cell.options;
  return json;
}

Json BudgetToJson(const Budget& budget) {
  return {{"warmup_steps", budget.warmup_steps},
          {"fixed_steps", budget.fixed_steps},
          {"epochs", budget.epochs},
          {"min_steps", budget.min_steps},
          {"min_time_ns", budget.min_time_ns},
          {"relative_interval", budget.relative_interval},
          {"time_limit_ns", budget.time_limit_ns},
          {"test_data", budget.test_data},
          {"eval_every", budget.eval_every},
          {"until", budget.until}};
}

Json LimitsToJson(const Limits& limits) {
  return {{"timeout_ns", limits.timeout_ns},
          {"memory_bytes", limits.memory_bytes},
          {"swap", limits.swap == SwapPolicy::kKill ? "kill" : "allow"}};
}

Json EvaluationsToJson(const std::string& text) {
  const Result<std::vector<Evaluation>> evaluations = DecodeEvaluations(text);
  Json json = Json::array();
  if (!evaluations.ok()) return json;
  for (const Evaluation& one : *evaluations)
    json.push_back({{"step", one.step},
                    {"samples", one.samples},
                    {"loss", RealToJson(one.loss)},
                    {"top1", OptionalToJson(one.top1)},
                    {"top5", OptionalToJson(one.top5)},
                    {"train_ns", one.train_ns},
                    {"eval_ns", one.eval_ns}});
  return json;
}

Json SummaryToJson(const RunRecord& record) {
  const RunSummary& s = record.summary;
  Json json = Json::object();
  json["steps"] = s.steps;
  json["warmup_steps"] = s.warmup_steps;
  json["step_ns_median"] = OptionalToJson(s.step_ns_median);
  json["step_ns_low"] = OptionalToJson(s.step_ns_low);
  json["step_ns_high"] = OptionalToJson(s.step_ns_high);
  json["step_ns_mean"] = OptionalToJson(s.step_ns_mean);
  json["step_ns_stddev"] = OptionalToJson(s.step_ns_stddev);
  json["step_ns_min"] = OptionalToJson(s.step_ns_min);
  json["step_ns_p5"] = OptionalToJson(s.step_ns_p5);
  json["step_ns_p95"] = OptionalToJson(s.step_ns_p95);
  json["step_ns_max"] = OptionalToJson(s.step_ns_max);
  json["image_ns"] = OptionalToJson(ImageNs(record));
  json["images_per_s"] = OptionalToJson(ImagesPerSecond(record));
  const std::optional<double> flops_per_s = FlopsPerSecond(record);
  json["flops_per_s"] = OptionalToJson(flops_per_s);
  json["flops_effective"] =
      flops_per_s ? Json(ChoosesWinograd(record.choices_json)) : Json(nullptr);
  json["input_ns_median"] = OptionalToJson(s.input_ns_median);
  json["input_ns_mean"] = OptionalToJson(s.input_ns_mean);
  json["loading_ns_per_image"] = OptionalToJson(s.loading_ns_per_image);
  json["end_to_end_ns_per_image"] = OptionalToJson(s.end_to_end_ns_per_image);
  json["test_loss"] = OptionalToJson(s.test_loss);
  json["test_top1"] = OptionalToJson(s.test_top1);
  json["test_top5"] = OptionalToJson(s.test_top5);
  json["evaluation_ns"] = OptionalToJson(s.evaluation_ns);
  json["target_ns"] = OptionalToJson(s.target_ns);
  json["target_epochs"] = OptionalToJson(s.target_epochs);
  json["evaluations"] = EvaluationsToJson(s.evaluations);
  json["first_loss"] = OptionalToJson(s.first_loss);
  json["second_loss"] = OptionalToJson(s.second_loss);
  json["third_loss"] = OptionalToJson(s.third_loss);
  json["last_loss"] = OptionalToJson(s.last_loss);
  json["losses_agree"] = OptionalToJson(s.losses_agree);
  json["converged"] = OptionalToJson(s.converged);
  json["hello_ns"] = OptionalToJson(s.hello_ns);
  json["build_ns"] = OptionalToJson(s.build_ns);
  json["first_step_ns"] = OptionalToJson(s.first_step_ns);
  json["compilations"] = OptionalToJson(s.compilations);
  json["tune_ns"] = OptionalToJson(s.tune_ns);
  json["tune_pays_steps"] = OptionalToJson(s.tune_pays_steps);
  json["rss_before_build_bytes"] = OptionalToJson(s.rss_before_build_bytes);
  json["build_peak_rss_bytes"] = OptionalToJson(s.build_peak_rss_bytes);
  json["steps_peak_rss_bytes"] = OptionalToJson(s.steps_peak_rss_bytes);
  json["sampled_peak_rss_bytes"] = OptionalToJson(s.sampled_peak_rss_bytes);
  json["peak_swap_bytes"] = OptionalToJson(s.peak_swap_bytes);
  json["planned_bytes"] = OptionalToJson(s.planned_bytes);
  json["cpu_per_wall"] = OptionalToJson(s.cpu_per_wall);
  json["cpu_energy_j"] = OptionalToJson(s.cpu_energy_j);
  json["steps_energy_j"] = OptionalToJson(s.steps_energy_j);
  json["idle_power_w"] = OptionalToJson(s.idle_power_w);
  json["energy_window_ns"] = OptionalToJson(s.energy_window_ns);
  json["energy_readings"] = OptionalToJson(s.energy_readings);
  json["energy_packages"] = s.energy_packages;
  json["energy_problem"] = s.energy_problem;
  json["gpu_use_mean"] = OptionalToJson(s.gpu_use_mean);
  json["gpu_use_peak"] = OptionalToJson(s.gpu_use_peak);
  json["gpu_power_w_mean"] = OptionalToJson(s.gpu_power_w_mean);
  json["gpu_power_w_peak"] = OptionalToJson(s.gpu_power_w_peak);
  json["gpu_memory_peak_bytes"] = OptionalToJson(s.gpu_memory_peak_bytes);
  json["major_faults"] = s.major_faults;
  json["voluntary_switches"] = s.voluntary_switches;
  json["involuntary_switches"] = s.involuntary_switches;
  json["sentinel_before_compute_ns"] = OptionalToJson(s.sentinel_before_compute_ns);
  json["sentinel_before_memory_ns"] = OptionalToJson(s.sentinel_before_memory_ns);
  json["sentinel_after_compute_ns"] = OptionalToJson(s.sentinel_after_compute_ns);
  json["sentinel_after_memory_ns"] = OptionalToJson(s.sentinel_after_memory_ns);
  json["steal_share"] = OptionalToJson(s.steal_share);
  json["throttled_share"] = OptionalToJson(s.throttled_share);
  json["slices"] = Embedded(s.slices);
  json["slow"] = OptionalToJson(s.slow);
  json["disturbed"] = OptionalToJson(s.disturbed);
  json["wall_ns"] = s.wall_ns;
  json["overhead_ns"] = s.overhead_ns;
  return json;
}

}  // namespace

void PutAxes(Json& json, const Cell& cell) {
  for (size_t i = 0; i < cell.values.size(); ++i) {
    std::visit([&](const auto& value) { json[Axes()[i].column] = value; }, cell.values[i]);
  }
}

std::optional<double> ImageNs(const RunRecord& record) {
  if (!record.summary.step_ns_median) return std::nullopt;
  return *record.summary.step_ns_median / static_cast<double>(record.cell.Integer(kAxisBatch));
}

std::optional<double> ImagesPerSecond(const RunRecord& record) {
  const std::optional<double> image_ns = ImageNs(record);
  if (!image_ns || *image_ns <= 0) return std::nullopt;
  return 1e9 / *image_ns;
}

std::optional<double> FlopsPerSecond(const RunRecord& record) {
  const std::optional<double> step_ns = record.summary.step_ns_median;
  if (!step_ns || *step_ns <= 0 || record.step_flops <= 0) return std::nullopt;
  return static_cast<double>(record.step_flops) * 1e9 / *step_ns;
}

std::optional<int64_t> PeakMemoryBytes(const RunRecord& record) {
  // The samples include Build.
  const RunSummary& summary = record.summary;
  return summary.steps_peak_rss_bytes ? summary.steps_peak_rss_bytes
                                      : summary.sampled_peak_rss_bytes;
}

Json RecordToJson(const RunRecord& record, const RunSeries* series) {
  Json json = Json::object();
  json["id"] = record.id;
  json["study"] = record.study;
  json["round"] = record.round;
  json["attempt"] = record.attempt;
  json["repetition"] = record.repetition;
  json["cell_id"] = record.cell_id;
  json["cell"] = CellToJson(record.cell);
  json["settings"] = record.settings;
  json["block"] = record.block;
  json["budget"] = BudgetToJson(record.budget);
  json["limits"] = LimitsToJson(record.limits);
  json["threads"] = record.threads;
  json["cpus"] = Embedded(record.cpus_json);
  json["flush_to_zero"] = record.flush_to_zero.empty() ? Json(nullptr) : Json(record.flush_to_zero);
  json["outcome"] = Name(record.outcome);
  json["reason"] = record.reason;
  json["flags"] = record.flags;
  json["reproducer"] = record.reproducer;
  json["conditions"] = Embedded(record.conditions);
  json["started_utc"] = record.started_utc;
  json["machine"] = record.machine;
  json["machine_id"] = record.machine_id;
  json["cpu_model"] = record.cpu_model;
  json["isa"] = record.isa;
  json["worker_version"] = record.worker_version;
  json["build"] = record.build;
  json["role"] = Name(record.role_or_usual());
  json["rules"] = record.rules;
  json["solver"] = record.solver;
  json["dropout"] = OptionalToJson(record.dropout);
  json["worker"] = Embedded(record.worker_json);
  json["choices"] = Embedded(record.choices_json);
  json["environment"] = Embedded(record.environment_json);
  json["network"] = {{"fingerprint", record.fingerprint},
                     {"parameters", record.parameters},
                     {"forward_flops_per_image", record.forward_flops_per_image},
                     {"step_flops", record.step_flops}};
  json["summary"] = SummaryToJson(record);
  if (series != nullptr) {
    Json loss = Json::array();
    for (const double value : series->loss) loss.push_back(RealToJson(value));
    json["series"] = {{"warmup_ns", series->warmup_ns},
                      {"step_ns", series->step_ns},
                      {"input_ns", series->input_ns},
                      {"loss", std::move(loss)},
                      {"log", series->log}};
  }
  return json;
}

}  // namespace tench
