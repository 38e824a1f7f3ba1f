// SPDX-License-Identifier: Apache-2.0
#include "report/row_text.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace tench {
namespace {

// Four significant digits, without an exponent where possible.
std::string Digits(double value) {
  return std::abs(value) >= 1000 && std::abs(value) < 1e7 ? fmt::format("{:.0f}", value)
                                                          : fmt::format("{:.4g}", value);
}

std::string WorkerTitle(const std::string& worker, const std::string& version,
                        const std::map<std::string, std::string>& options) {
  std::string title = worker;
  // "name@version" already contains the version.
  if (!version.empty() && !worker.ends_with("@" + version)) title += " " + version;
  for (const auto& [name, value] : options) title += fmt::format(" {}={}", name, value);
  return title;
}

bool VariesWorker(const Ranking& ranking) { return !ranking.by || *ranking.by == kAxisWorker; }

std::vector<size_t> LeftOut(const Ranking& ranking) {
  return ranking.by ? std::vector{*ranking.by} : std::vector<size_t>();
}

}  // namespace

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
  text.name =
      PlainLine(VariesWorker(ranking) ? WorkerTitle(row.worker, row.worker_version, row.options)
                : ranking.by == kByMachine ? std::get<std::string>(row.by)
                                           : Axes()[*ranking.by].Print(row.by));
  if (row.step_ns) {
    const Estimate image = PerImage(ranking, group, row);
    text.image_time = HumanNs(image.value);
    if (image.low && image.high && image.value > 0) {
      text.interval = fmt::format("±{:.1f} %", (*image.high - *image.low) / 2 / image.value * 100);
    }
    if (image.value > 0) text.images_per_s = Digits(1e9 / image.value);
    text.step_time = HumanNs(row.step_ns->value);
  }
  if (row.flops_per_s) text.gflops_per_s = Digits(*row.flops_per_s / 1e9);
  if (row.peak_rss_bytes) text.peak_memory = HumanBytes(*row.peak_rss_bytes);
  if (row.last_loss) text.loss = fmt::format("{:.4g}", *row.last_loss);
  if (row.ratio > 0) text.ratio = fmt::format("{:.2f}", row.ratio);
  if (row.against_best) text.verdict = Name(row.verdict) + (row.interleaved ? "" : "*");
  text.outcome = Name(row.outcome);
  if (const int64_t runs = row.runs_ok + row.runs_failed; runs > 1 || row.runs_failed > 0) {
    text.outcome +=
        fmt::format(" {}/{}", row.outcome == Outcome::kOk ? row.runs_ok : row.runs_failed, runs);
  }
  text.flags = PlainLine(Join(row.flags, ", "));
  return text;
}

std::string GroupTitle(const Ranking& ranking, const RankGroup& group) {
  std::string title = SharedTitle(group.cell, LeftOut(ranking));
  if (!VariesWorker(ranking)) {
    const std::string version = group.rows.empty() ? "" : group.rows.front().worker_version;
    title = WorkerTitle(group.cell.Text(kAxisWorker), version, group.cell.options) + ": " + title;
  }
  if (ranking.several_machines) title += fmt::format(" ({})", group.machine);
  return PlainLine(title);
}

std::string CellTitle(const Ranking& ranking, const RankGroup& group, const RankRow& row) {
  std::string title = WorkerTitle(row.worker, row.worker_version, row.options) + ", " +
                      SharedTitle(CellOf(ranking, group, row), {});
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
  line += fmt::format("; {} run{} disturbed (more than {:.0f} %)", noise.disturbed,
                      noise.disturbed == 1 ? "" : "s", percent(kDisturbedAbove));
  return line;
}

std::vector<std::string> StudyLines(const Ranking& ranking) {
  std::vector<std::string> lines;
  for (const StudyRecord& study : ranking.studies) {
    lines.push_back(
        PlainLine(fmt::format("study {}: {} on {}, begun {}, {} cells × {} rounds planned{}",
                              study.id, study.suite, study.machine, study.started_utc, study.cells,
                              study.rounds, study.filter.empty() ? "" : ", only " + study.filter)));
    if (const auto noise = ranking.noise.find(study.id); noise != ranking.noise.end())
      lines.push_back(NoiseLine(noise->second));
  }
  return lines;
}

std::string WorkerTitle(const Cell& cell, const std::string& version) {
  return PlainLine(WorkerTitle(cell.Text(kAxisWorker), version, cell.options));
}

}  // namespace tench
