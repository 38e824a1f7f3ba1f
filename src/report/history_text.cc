// SPDX-License-Identifier: Apache-2.0
#include "report/history_text.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "record/worker_version.h"
#include "report/record_json.h"
#include "report/row_text.h"
#include "report/text_table.h"

namespace tench {
namespace {

std::string ChangePercent(double ratio) { return fmt::format("{:+.1f} %", (ratio - 1) * 100); }

std::string SeriesTitle(const HistorySeries& series) {
  return PlainLine(WorkerTitle(series.cell, "", "") + ": " + SharedTitle(series.cell, {}));
}

std::string SegmentTitle(const HistorySegment& segment) {
  std::vector<std::string> parts = {segment.machine};
  if (!segment.cpu_model.empty()) parts.push_back(segment.cpu_model);
  if (!segment.isa.empty()) parts.push_back(segment.isa);
  if (segment.rules != kNoRules) parts.push_back(fmt::format("rules: {}", segment.rules));
  if (!segment.libraries.empty()) parts.push_back(Join(segment.libraries, " "));
  return PlainLine(Join(parts, ", "));
}

std::string EstimateInterval(const Estimate& estimate) {
  if (!estimate.low || !estimate.high) return "";
  return fmt::format("{} … {}", HumanNs(*estimate.low), HumanNs(*estimate.high));
}

// `omitted` gets the names of the columns that do not fit.
std::string SegmentTable(const HistorySegment& segment, size_t width,
                         std::vector<std::string>& omitted) {
  TextTable table({{"study", Align::kRight},
                   {"begun", Align::kLeft},
                   {"version", Align::kLeft, 2},
                   {"time/image", Align::kRight},
                   {"95 %", Align::kRight, 1},
                   {"rounds", Align::kRight},
                   {"change", Align::kRight},
                   {"verdict", Align::kLeft},
                   {"", Align::kLeft}});
  for (size_t i = 0; i < segment.points.size(); ++i) {
    const HistoryPoint& point = segment.points[i];
    std::vector<std::string> notes;
    for (const LevelChange& change : segment.changes) {
      if (change.point == i) notes.push_back(ChangeText(change));
    }
    if (point.disturbed) notes.emplace_back("disturbed");
    const bool tested = point.change && point.change->rounds > 0;
    table.AddRow({fmt::format("{}", point.study), point.started_utc.substr(0, 10),
                  PlainLine(ShownVersion(point.worker_version, point.build)),
                  HumanNs(point.image_ns.value), EstimateInterval(point.image_ns),
                  fmt::format("{}", point.times.size()),
                  tested ? ChangePercent(point.change->ratio) : "",
                  point.change ? Name(point.verdict) : "", Join(notes, "; ")});
  }
  for (const std::string& name : table.Fit(width, 2)) {
    if (std::find(omitted.begin(), omitted.end(), name) == omitted.end()) omitted.push_back(name);
  }
  return table.RenderWrapped(width, 2);
}

struct LevelCounts {
  int64_t slower = 0, faster = 0, machine = 0, candidates = 0, failed = 0;
};

std::string FailureLine(const HistoryFailure& failure) {
  return fmt::format("failed in study {}: {}", failure.study, failure.text);
}

LevelCounts LevelCountsOf(const History& history) {
  LevelCounts counts;
  for (const HistorySeries& series : history.series) {
    for (const HistorySegment& segment : series.segments) {
      counts.failed += segment.failure ? 1 : 0;
      for (const LevelChange& change : segment.changes) {
        if (change.of_machine()) {
          ++counts.machine;
        } else if (change.candidate) {
          ++counts.candidates;
        } else {
          ++(change.slower() ? counts.slower : counts.faster);
        }
      }
    }
  }
  return counts;
}

Json PointToJson(const HistoryPoint& point) {
  const auto real = [](const std::optional<double>& value) {
    return value ? RealToJson(*value) : Json(nullptr);
  };
  const bool tested = point.change && point.change->rounds > 1;
  return {{"study", point.study},
          {"suite", point.suite},
          {"started_utc", point.started_utc},
          {"worker_version", point.worker_version},
          {"build", point.build},
          {"image_ns", RealToJson(point.image_ns.value)},
          {"image_ns_low", real(point.image_ns.low)},
          {"image_ns_high", real(point.image_ns.high)},
          {"rounds", point.times.size()},
          {"disturbed", point.disturbed},
          {"sentinel_ns", real(point.sentinel_ns)},
          {"ratio", point.change && point.change->rounds > 0 ? RealToJson(point.change->ratio)
                                                             : Json(nullptr)},
          {"ratio_low", tested ? RealToJson(point.change->interval.low) : Json(nullptr)},
          {"ratio_high", tested ? RealToJson(point.change->interval.high) : Json(nullptr)},
          {"verdict", point.change ? Json(Name(point.verdict)) : Json(nullptr)}};
}

Json ChangeToJson(const HistorySegment& segment, const LevelChange& change) {
  return {{"study", segment.points[change.point].study},
          {"ratio", RealToJson(change.ratio)},
          {"p", RealToJson(change.p)},
          {"state", change.candidate ? "candidate" : "confirmed"},
          {"cause", change.of_machine() ? Json("machine") : Json(nullptr)},
          {"sentinel_ratio",
           change.sentinel_ratio ? RealToJson(*change.sentinel_ratio) : Json(nullptr)}};
}

}  // namespace

std::string ChangeText(const LevelChange& change) {
  std::string text =
      fmt::format("{} by {:.1f} % from here on (p = {:.1g})", change.slower() ? "slower" : "faster",
                  std::abs(change.ratio - 1) * 100, change.p);
  if (change.of_machine())
    return fmt::format("the machine changed: {}, sentinel {}", text,
                       ChangePercent(*change.sentinel_ratio));
  if (change.sentinel_ratio)
    text += fmt::format(", only part of it by the machine: sentinel {}",
                        ChangePercent(*change.sentinel_ratio));
  return change.candidate ? "candidate: " + text : text;
}

std::string RenderHistory(const History& history, size_t width) {
  std::vector<std::string> omitted;
  std::string out =
      WrapText(fmt::format("time per image of each study; change and verdict: paired with the "
                           "study before, within {:g} %, same",
                           history.margin * 100),
               width, 0) +
      '\n';
  for (const HistorySeries& series : history.series) {
    out += '\n' + WrapText(SeriesTitle(series), width, 2) + '\n';
    for (const HistorySegment& segment : series.segments) {
      out += WrapText("  on " + SegmentTitle(segment), width, 4) + '\n';
      out += SegmentTable(segment, width, omitted);
      if (segment.failure) out += WrapText("  " + FailureLine(*segment.failure), width, 4) + '\n';
    }
  }
  if (!omitted.empty()) out += '\n' + WrapText(OmittedLine(omitted), width, 2);
  const LevelCounts counts = LevelCountsOf(history);
  out += fmt::format("\n{} cell{}: {} slower, {} faster, {} by the machine, {} candidate{}{}\n",
                     history.series.size(), history.series.size() == 1 ? "" : "s", counts.slower,
                     counts.faster, counts.machine, counts.candidates,
                     counts.candidates == 1 ? "" : "s",
                     counts.failed == 0 ? "" : fmt::format(", {} failed", counts.failed));
  if (counts.candidates > 0)
    out += "note: --rerun measures the candidates again, which confirms or dismisses them\n";
  return out;
}

Json HistoryToJson(const History& history) {
  Json all = Json::array();
  for (const HistorySeries& series : history.series) {
    Json segments = Json::array();
    for (const HistorySegment& segment : series.segments) {
      Json points = Json::array(), changes = Json::array();
      for (const HistoryPoint& point : segment.points) points.push_back(PointToJson(point));
      for (const LevelChange& change : segment.changes)
        changes.push_back(ChangeToJson(segment, change));
      segments.push_back(
          {{"machine", segment.machine},
           {"machine_id", segment.machine_id},
           {"cpu_model", segment.cpu_model},
           {"isa", segment.isa},
           {"libraries", segment.libraries},
           {"rules", segment.rules == kNoRules ? Json(nullptr) : Json(segment.rules)},
           {"points", std::move(points)},
           {"changes", std::move(changes)},
           {"failure", segment.failure ? Json{{"study", segment.failure->study},
                                              {"text", segment.failure->text}}
                                       : Json(nullptr)}});
    }
    Json one = {{"cell_id", series.cell_id}};
    PutAxes(one, series.cell);
    one["options"] = series.cell.options;
    one["solver"] = series.solver;
    one["fingerprint"] = series.fingerprint;
    one["segments"] = std::move(segments);
    all.push_back(std::move(one));
  }
  return {{"margin", history.margin}, {"cells", std::move(all)}};
}

Gate GateOf(const History& history) {
  Gate gate;
  gate.name = "history";
  for (const HistorySeries& series : history.series) {
    for (const HistorySegment& segment : series.segments) {
      if (!segment.newest) continue;
      GateCase one{series.cell.Text(kAxisWorker),
                   SeriesTitle(series) + " on " + PlainLine(segment.machine), "", std::nullopt};
      for (const LevelChange& change : segment.changes) {
        if (change.of_machine()) continue;
        // A candidate does not change a confirmed finding.
        if (change.candidate && (!change.slower() || one.finding)) continue;
        one.finding.reset();
        one.detail =
            fmt::format("study {}: {}", segment.points[change.point].study, ChangeText(change));
        if (change.slower())
          one.finding = change.candidate ? GateFinding::kAmbiguous : GateFinding::kSlower;
      }
      gate.cases.push_back(one);
      // A case of its own: a case has one finding, and the level's must not be hidden.
      if (segment.failure) {
        one.title += ", newest study";
        one.detail = fmt::format("study {}: {}", segment.failure->study, segment.failure->text);
        one.finding = GateFinding::kFailed;
        gate.cases.push_back(std::move(one));
      }
    }
  }
  return gate;
}

}  // namespace tench
