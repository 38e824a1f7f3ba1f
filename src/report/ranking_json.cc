// SPDX-License-Identifier: Apache-2.0
#include "report/ranking_json.h"

#include <algorithm>

#include "record/worker_version.h"
#include "report/record_json.h"
#include "report/row_text.h"

namespace tench {
namespace {

void PutEstimate(Json& json, const std::string& name, const std::optional<Estimate>& estimate) {
  json[name] = estimate ? RealToJson(estimate->value) : Json(nullptr);
  json[name + "_low"] = estimate ? OptionalToJson(estimate->low) : Json(nullptr);
  json[name + "_high"] = estimate ? OptionalToJson(estimate->high) : Json(nullptr);
}

// Against the group's fastest row, paired by round.
void PutPaired(Json& json, const RankRow& row) {
  const RatioTest test = row.against_best.value_or(RatioTest{});
  const bool has_interval = test.rounds >= kFewestRounds;
  json["verdict"] = row.against_best ? Json(Name(row.verdict)) : Json(nullptr);
  json["paired_rounds"] = row.against_best ? Json(test.rounds) : Json(nullptr);
  json["paired_ratio"] = test.rounds > 0 ? RealToJson(test.ratio) : Json(nullptr);
  json["paired_ratio_low"] = has_interval ? RealToJson(test.interval.low) : Json(nullptr);
  json["paired_ratio_high"] = has_interval ? RealToJson(test.interval.high) : Json(nullptr);
  json["interleaved"] = test.rounds > 0 ? Json(row.interleaved) : Json(nullptr);
}

// Timed steps of the shortest counted attempt.
int64_t LeastSteps(const RankRow& row) {
  int64_t least = row.times.front().timed_steps;
  for (const RoundTime& time : row.times) least = std::min(least, time.timed_steps);
  return least;
}

Json NoiseToJson(const Ranking& ranking, int64_t study) {
  const auto found = ranking.noise.find(study);
  if (found == ranking.noise.end()) return nullptr;
  const NoiseSummary& noise = found->second;
  return {{"runs", noise.runs},
          {"disturbed", noise.disturbed},
          {"usual_steal_share", OptionalToJson(noise.usual_steal)},
          {"usual_throttled_share", OptionalToJson(noise.usual_throttled)},
          {"usual_slowdown", RealToJson(noise.usual_slowdown)},
          {"high_slowdown", RealToJson(noise.high_slowdown)}};
}

Json TurnPlanToJson(const TurnPlan& plan) {
  Json json = Json::object();
  for (const auto& [group, turns] : plan)
    json[group] = {{"slices", turns.slices}, {"reason", turns.reason}};
  return json;
}

Json StudyToJson(const Ranking& ranking, const StudyRecord& study) {
  Json host = Json::parse(study.host_json, nullptr, false);
  return {{"id", study.id},
          {"suite", study.suite},
          {"suite_fingerprint", study.suite_fingerprint},
          {"machine", study.machine},
          {"machine_id", study.machine_id},
          {"tench_version", study.tench_version},
          {"filter", study.filter},
          {"started_utc", study.started_utc},
          {"seed", study.seed},
          {"rounds", study.rounds},
          {"cells", study.cells},
          {"rules", study.rules},
          {"step_plan", study.step_plan},
          {"pairing", Name(study.pairing)},
          {"turn_plan", TurnPlanToJson(study.turn_plan)},
          {"builds", study.builds},
          {"noise", NoiseToJson(ranking, study.id)},
          {"host", host.is_discarded() ? Json(nullptr) : std::move(host)}};
}

Json FigureToJson(const std::optional<TrainingFigure>& figure) {
  if (!figure) return nullptr;
  return {{"runs", figure->runs},
          {"mean", RealToJson(figure->mean)},
          {"low", OptionalToJson(figure->low)},
          {"high", OptionalToJson(figure->high)}};
}

Json TrainingToJson(const TrainingRow& row) {
  Cell cell = row.cell;
  cell.values[kAxisWorker] = row.worker;
  Json json = {{"machine", row.machine}};
  PutAxes(json, cell);
  json.erase("seed");  // a row holds all seeds
  json["options"] = row.options;
  json["worker_version"] = ShownVersion(row.worker_version, row.build);
  json["test_data"] = row.test_data;
  json["until"] = row.until;
  json["samples"] = row.samples;
  json["runs"] = row.runs;
  json["seeds"] = row.seeds;
  json["reached"] = row.reached;
  json["target_ns"] = FigureToJson(row.target_ns);
  json["target_epochs"] = FigureToJson(row.target_epochs);
  json["target_energy_j"] = FigureToJson(row.target_joules);
  json["top1"] = FigureToJson(row.top1);
  json["top5"] = FigureToJson(row.top5);
  json["loss"] = FigureToJson(row.loss);
  json["evaluation_ns"] = FigureToJson(row.evaluation_ns);
  return json;
}

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

Json RowToJson(const Ranking& ranking, const RankGroup& group, const RankRow& row) {
  const Cell cell = CellOf(ranking, group, row);
  std::optional<Estimate> image_ns;
  if (row.step_ns) image_ns = PerImage(ranking, group, row);
  Json json = Json::object();
  const bool by_machine = ranking.by == kByMachine;
  json["machine"] = by_machine ? std::get<std::string>(row.by) : group.machine;
  json["machine_id"] = by_machine ? row.machine_id : group.machine_id;
  json["cell_id"] = row.cell_id;
  PutAxes(json, cell);
  json["options"] = row.options;
  json["solver"] = row.solver;
  json["worker_version"] = ShownVersion(row.worker_version, row.build);
  json["build"] = row.build;
  json["rules"] = row.rules == kNoRules ? Json(nullptr) : Json(row.rules);
  json["cpu_model"] = row.cpu_model;
  json["isa"] = row.isa;
  json["threads_used"] = row.threads;
  json["outcome"] = Name(row.outcome);
  json["runs_ok"] = row.runs_ok;
  json["runs_failed"] = row.runs_failed;
  json["rank"] = row.rank > 0 ? Json(row.rank) : Json(nullptr);
  json["ratio_to_best"] = row.ratio > 0 ? RealToJson(row.ratio) : Json(nullptr);
  PutPaired(json, row);
  PutEstimate(json, "image_ns", image_ns);
  PutEstimate(json, "step_ns", row.step_ns);
  std::optional<Estimate> median_image_ns;
  if (row.median_step_ns) median_image_ns = PerImage(ranking, group, row, StepTime::kMedian);
  PutEstimate(json, "median_image_ns", median_image_ns);
  json["window_ns"] = OptionalToJson(MedianWindowNs(row));
  json["images_per_s"] =
      image_ns && image_ns->value > 0 ? RealToJson(1e9 / image_ns->value) : Json(nullptr);
  json["flops_per_s"] = OptionalToJson(row.flops_per_s);
  json["flops_effective"] = row.flops_per_s ? Json(row.flops_effective) : Json(nullptr);
  json["peak_rss_bytes"] = OptionalToJson(row.peak_rss_bytes);
  json["rss_before_build_bytes"] = OptionalToJson(row.rss_before_build_bytes);
  json["start_ns"] = OptionalToJson(row.start_ns);
  json["build_ns"] = OptionalToJson(row.build_ns);
  json["first_step_ns"] = OptionalToJson(row.first_step_ns);
  json["loading_ns"] = OptionalToJson(row.loading_ns);
  json["exposed_input_ns"] = OptionalToJson(row.exposed_ns);
  json["end_to_end_ns"] = OptionalToJson(row.end_to_end_ns);
  json["image_energy_j"] = OptionalToJson(row.image_energy_j);
  json["idle_energy_share"] = OptionalToJson(row.idle_energy_share);
  json["cost_per_million_images"] = OptionalToJson(ranking.CostPerMillion(group, row));
  json["settings"] = row.settings;
  json["tune_ns"] = OptionalToJson(row.tune_ns);
  json["tune_pays_steps"] = OptionalToJson(row.tune_pays_steps);
  json["parity_error"] = OptionalToJson(row.parity_error);
  json["parity_tensor"] = row.parity_tensor;
  json["loss_step"] = row.loss ? Json(group.loss_step) : Json(nullptr);
  json["loss"] = OptionalToJson(row.loss);
  json["flags"] = row.flags;
  json["failure"] = row.runs_failed > 0 ? Json(Name(row.failure)) : Json(nullptr);
  json["reason"] = row.reason;
  json["reproducer"] = row.reproducer;
  json["fingerprint"] = group.fingerprint;
  json["parameters"] = group.parameters;
  json["forward_flops_per_image"] = group.forward_flops_per_image;
  json["role"] = Name(row.role);
  json["rounds"] = row.times.size();
  json["steps"] = row.times.empty() ? Json(nullptr) : Json(LeastSteps(row));
  const Latency latency = row.latency.value_or(Latency{});
  json["latency_p50_ns"] = row.latency ? RealToJson(latency.p50_ns) : Json(nullptr);
  json["latency_p90_ns"] = OptionalToJson(latency.p90_ns);
  json["latency_p99_ns"] = OptionalToJson(latency.p99_ns);
  return json;
}

std::string RenderJson(const Ranking& ranking) {
  std::string out = "{\"studies\": [";
  for (bool first = true; const StudyRecord& study : ranking.studies) {
    out += (std::exchange(first, false) ? "\n" : ",\n") + Dump(StudyToJson(ranking, study));
  }
  out += "],\n\"rows\": [";
  bool first = true;
  for (const RankGroup& group : ranking.groups) {
    for (const RankRow& row : group.rows)
      out += (std::exchange(first, false) ? "\n" : ",\n") + Dump(RowToJson(ranking, group, row));
  }
  out += "],\n\"trainings\": [";
  first = true;
  for (const TrainingRow& row : ranking.trainings)
    out += (std::exchange(first, false) ? "\n" : ",\n") + Dump(TrainingToJson(row));
  return out + "]}\n";
}

}  // namespace tench
