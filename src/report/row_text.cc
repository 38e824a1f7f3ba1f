// SPDX-License-Identifier: Apache-2.0
#include "report/row_text.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "record/run_flag.h"
#include "record/worker_version.h"
#include "report/group_answer.h"
#include "report/run_energy.h"
#include "stats/stats.h"

namespace tench {
namespace {

constexpr std::string_view kUsualSolver = "sgd";

// Four significant digits, without an exponent where possible.
std::string Digits(double value) {
  return std::abs(value) >= 1000 && std::abs(value) < 1e7 ? fmt::format("{:.0f}", value)
                                                          : fmt::format("{:.4g}", value);
}

std::string WorkerTitle(const std::string& worker, const std::string& version,
                        const std::string& build,
                        const std::map<std::string, std::string>& options) {
  std::string title = worker;
  if (!version.empty() && worker.ends_with("@" + version)) {
    // "name@version" already contains the version.
    title = worker.substr(0, worker.size() - version.size()) + ShownVersion(version, build);
  } else if (const std::string shown = ShownVersion(version, build); !shown.empty()) {
    title += " " + shown;
  }
  for (const auto& [name, value] : options) title += fmt::format(" {}={}", name, value);
  return title;
}

// Adds to the cell's axes a solver other than plain SGD, and the rules if rows differ in them.
std::string RowTitle(const Ranking& ranking, const RankRow& row) {
  std::string title = WorkerTitle(row.worker, row.worker_version, row.build, row.options);
  if (!row.solver.empty() && row.solver != kUsualSolver) title += " solver=" + row.solver;
  if (ranking.several_rules && row.rules != kNoRules)
    title += fmt::format(" (rules {})", row.rules);
  return title;
}

bool VariesWorker(const Ranking& ranking) { return !ranking.by || *ranking.by == kAxisWorker; }

std::vector<size_t> LeftOut(const Ranking& ranking) {
  return ranking.by ? std::vector{*ranking.by} : std::vector<size_t>();
}

}  // namespace

std::string LimitText(const std::string& worker, const std::string& limit) {
  return fmt::format("{} cannot use {}", worker, limit);
}

std::string SharedTitle(const Cell& cell, std::span<const size_t> left_out) {
  std::string title;
  const auto is_left_out = [&](size_t axis) {
    return std::find(left_out.begin(), left_out.end(), axis) != left_out.end();
  };
  const auto add = [&](std::string_view text) {
    title += fmt::format("{}{}", title.empty() ? "" : ", ", text);
  };
  if (!is_left_out(kAxisNetwork)) add(cell.Text(kAxisNetwork));
  if (!is_left_out(kAxisData) && !cell.Text(kAxisData).empty()) {
    title += (title.empty() ? "on " : " on ") + cell.Text(kAxisData);
  }
  if (!is_left_out(kAxisBatch)) add(fmt::format("batch {}", cell.Integer(kAxisBatch)));
  if (!is_left_out(kAxisPhase)) add(cell.Text(kAxisPhase));
  for (size_t i = 0; i < Axes().size(); ++i) {
    const bool said = i == kAxisWorker || i == kAxisNetwork || i == kAxisData || i == kAxisBatch ||
                      i == kAxisPhase || is_left_out(i);
    if (!said && cell.values[i] != Axes()[i].fallback)
      add(fmt::format("{}={}", Axes()[i].name, Axes()[i].Print(cell.values[i])));
  }
  return title;
}

std::string PlainLine(std::string_view text) {
  std::string line;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // C1 control characters are two bytes in UTF-8, and terminals interpret them.
    const bool is_c1 =
        byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (is_c1) ++i;
    line += byte < 0x20 || byte == 0x7f || is_c1 ? ' ' : text[i];
  }
  return line;
}

RowText TextOf(const Ranking& ranking, const RankGroup& group, const RankRow& row) {
  RowText text;
  text.rank = row.rank > 0 ? fmt::format("{}", row.rank) : "";
  text.name = PlainLine(VariesWorker(ranking)      ? RowTitle(ranking, row)
                        : ranking.by == kByMachine ? std::get<std::string>(row.by)
                                                   : Axes()[*ranking.by].Print(row.by));
  if (row.step_ns) {
    const Estimate image = PerImage(ranking, group, row);
    text.image_time = HumanNs(image.value);
    if (image.value > 0) text.images_per_s = Digits(1e9 / image.value);
    text.step_time = HumanNs(row.step_ns->value);
  }
  if (row.median_step_ns)
    text.median_time = HumanNs(PerImage(ranking, group, row, StepTime::kMedian).value);
  if (const auto window_ns = MedianWindowNs(row)) text.window = HumanNs(*window_ns);
  if (row.flops_per_s) text.gflops_per_s = FlopsText(*row.flops_per_s, row.flops_effective);
  if (row.peak_rss_bytes) text.peak_memory = HumanBytes(*row.peak_rss_bytes);
  if (row.rss_before_build_bytes) text.before_build = HumanBytes(*row.rss_before_build_bytes);
  if (row.parity_error) text.parity_error = fmt::format("{:.2g}", *row.parity_error);
  if (row.loss) text.loss = fmt::format("{:.4g}", *row.loss);
  if (row.ratio > 0) text.ratio = fmt::format("{:.2f}", row.ratio);
  if (row.against_best) text.verdict = Name(row.verdict) + (row.interleaved ? "" : "*");
  if (const auto interval = RatioInterval(row)) text.interval = IntervalText(*interval);
  if (row.measured() && row.rank == 0) text.name += fmt::format(" ({})", Name(row.role));
  if (row.latency) {
    text.p50 = HumanNs(row.latency->p50_ns);
    if (row.latency->p90_ns) text.p90 = HumanNs(*row.latency->p90_ns);
    if (row.latency->p99_ns) text.p99 = HumanNs(*row.latency->p99_ns);
  }
  if (row.first_step_ns) text.first_step = HumanNs(*row.first_step_ns);
  if (row.loading_ns) text.loading = HumanNs(*row.loading_ns);
  if (row.exposed_ns) text.exposed = HumanNs(*row.exposed_ns);
  if (row.end_to_end_ns) text.end_to_end = HumanNs(*row.end_to_end_ns);
  if (row.image_energy_j) text.energy = EnergyText(*row.image_energy_j);
  if (row.idle_energy_share)
    text.idle_energy = fmt::format("{:.0f} %", 100 * *row.idle_energy_share);
  if (const auto cost = ranking.CostPerMillion(group, row))
    text.cost = fmt::format("{:.3g}", *cost);
  if (row.tune_ns) text.tuning = HumanNs(static_cast<double>(*row.tune_ns));
  if (row.tune_pays_steps) text.pays_after = fmt::format("{}", *row.tune_pays_steps);
  text.steps = StepsText(row.times);
  text.rounds = row.times.empty() ? "" : fmt::format("{}", row.times.size());
  text.outcome = Name(row.outcome);
  if (const int64_t runs = row.runs_ok + row.runs_failed; runs > 1 || row.runs_failed > 0) {
    text.outcome +=
        fmt::format(" {}/{}", row.outcome == Outcome::kOk ? row.runs_ok : row.runs_failed, runs);
  }
  text.flags = PlainLine(Join(OwnFlags(ranking, row), ", "));
  return text;
}

std::string StepsText(std::span<const RoundTime> times) {
  if (times.empty()) return "";
  const auto [least, most] = std::minmax_element(
      times.begin(), times.end(),
      [](const RoundTime& a, const RoundTime& b) { return a.timed_steps < b.timed_steps; });
  return least->timed_steps == most->timed_steps
             ? fmt::format("{}", least->timed_steps)
             : fmt::format("{}–{}", least->timed_steps, most->timed_steps);
}

std::optional<double> MedianWindowNs(const RankRow& row) {
  std::vector<double> windows;
  for (const RoundTime& time : row.times) {
    if (time.window_ns > 0) windows.push_back(time.window_ns);
  }
  return windows.empty() ? std::nullopt : std::optional(Median(std::move(windows)));
}

std::vector<std::string> OwnFlags(const Ranking& ranking, const RankRow& row) {
  std::vector<std::string> own;
  for (const std::string& flag : row.flags) {
    if (!HasFlag(ranking.common_flags, flag)) own.push_back(flag);
  }
  return own;
}

std::string RateText(double images_per_s) {
  return images_per_s >= 9999.5 ? fmt::format("{:.1f}k", images_per_s / 1000)
         : images_per_s >= 100  ? fmt::format("{:.0f}", images_per_s)
                                : fmt::format("{:.3g}", images_per_s);
}

std::string FlopsText(double flops_per_s, bool effective) {
  return Digits(flops_per_s / 1e9) + (effective ? " effective" : "");
}

std::string LossTitle(const RankGroup& group) {
  return fmt::format("loss at step {}", group.loss_step);
}

std::string GroupTitle(const Ranking& ranking, const RankGroup& group) {
  std::string title = SharedTitle(group.cell, LeftOut(ranking));
  if (!VariesWorker(ranking)) {
    const RankRow front = group.rows.empty() ? RankRow() : group.rows.front();
    title = WorkerTitle(group.cell, front.worker_version, front.build) + ": " + title;
  }
  if (ranking.several_machines) title += fmt::format(" ({})", group.machine);
  return PlainLine(title);
}

std::string CellTitle(const Ranking& ranking, const RankGroup& group, const RankRow& row) {
  std::string title = RowTitle(ranking, row) + ", " + SharedTitle(CellOf(ranking, group, row), {});
  if (ranking.several_machines) title += fmt::format(" ({})", group.machine);
  if (ranking.by == kByMachine) title += fmt::format(" ({})", std::get<std::string>(row.by));
  return PlainLine(title);
}

std::string FailureTitle(const RankRow& row) {
  if (row.runs_failed == 0) return Name(row.outcome);
  const int64_t runs = row.runs_ok + row.runs_failed;
  return fmt::format("{}, {} of {} run{}", Name(row.failure), row.runs_failed, runs,
                     runs == 1 ? "" : "s");
}

std::string NoiseLine(const NoiseSummary& noise) {
  const auto percent = [](double slowdown) { return (slowdown - 1) * 100; };
  std::string line = fmt::format(
      "noise: around {} runs the sentinel was {:.0f} % above its median (median), {:.0f} % (95 % "
      "of runs below)",
      noise.runs, percent(noise.usual_slowdown), percent(noise.high_slowdown));
  line += fmt::format("; {} run{} disturbed (more than {:.0f} %, or stolen or throttled time)",
                      noise.disturbed, noise.disturbed == 1 ? "" : "s", percent(kDisturbedAbove));
  if (noise.usual_steal.value_or(0) >= 0.005)
    line += fmt::format("; {:.0f} % of the CPU time was stolen (median)", *noise.usual_steal * 100);
  if (noise.usual_throttled.value_or(0) >= 0.005)
    line += fmt::format("; {:.0f} % was throttled (median)", *noise.usual_throttled * 100);
  return line;
}

std::vector<std::string> StudyLines(const Ranking& ranking) {
  std::vector<std::string> lines;
  for (const StudyRecord& study : ranking.studies) {
    lines.push_back(PlainLine(
        fmt::format("study {}: {} on {}, begun {}, {} cells × {} rounds planned{}, rules: {}{}",
                    study.id, study.suite, study.machine, study.started_utc, study.cells,
                    study.rounds, study.filter.empty() ? "" : ", only " + study.filter, study.rules,
                    study.pairing == StudyPairing::kTurns ? ", pairing: turns" : "")));
    if (const auto noise = ranking.noise.find(study.id); noise != ranking.noise.end())
      lines.push_back(NoiseLine(noise->second));
  }
  if (!ranking.common_flags.empty())
    lines.push_back(PlainLine("all measured rows: " + Join(ranking.common_flags, ", ")));
  return lines;
}

std::string WorkerTitle(const Cell& cell, const std::string& version, const std::string& build) {
  return PlainLine(WorkerTitle(cell.Text(kAxisWorker), version, build, cell.options));
}

}  // namespace tench
