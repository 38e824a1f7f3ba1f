// SPDX-License-Identifier: Apache-2.0
// Time per image over the studies of the store, with its changes of level.
#include <map>

#include "record/worker_version.h"
#include "report/history_text.h"
#include "report/html/charts.h"
#include "report/row_text.h"

namespace tench {
namespace {

constexpr const char* kGroupColumn = "in_trend";

// "lower" is better, so a slower level points up.
std::string MarkOf(const LevelChange& change) {
  if (change.of_machine()) return "machine";
  if (change.candidate) return "candidate";
  return change.slower() ? "slower" : "faster";
}

struct Trend {
  DataTable table = DataTable({"worker", "study", "begun", "version", "image_ms", "low_ms",
                               "high_ms", "verdict", "level", "note", "segment", kGroupColumn});
  std::vector<ChartChoice> choices;
};

void AddSegment(const HistorySegment& segment, const std::string& worker, int64_t number,
                int64_t group, DataTable& table) {
  const auto ms = [](const std::optional<double>& ns) {
    return ns ? ChartNumber(*ns / 1e6) : Json(nullptr);
  };
  for (size_t i = 0; i < segment.points.size(); ++i) {
    const HistoryPoint& point = segment.points[i];
    Json level = nullptr, note = nullptr;
    for (const LevelChange& change : segment.changes) {
      if (change.point == i) level = MarkOf(change), note = ChangeText(change);
    }
    table.Add({worker, point.study, point.started_utc.substr(0, 10),
               ShownVersion(point.worker_version, point.build), ms(point.image_ns.value),
               ms(point.image_ns.low), ms(point.image_ns.high),
               point.change ? Json(Name(point.verdict)) : Json(nullptr), level, note, number,
               group});
  }
}

// A group has the cells that differ only in the worker, on one machine.
Trend TrendOf(const History& history, bool several_machines) {
  Trend trend;
  std::map<std::string, int64_t> groups;
  std::map<int64_t, size_t> most_points;
  std::map<int64_t, std::string> titles;
  int64_t number = 0;
  for (const HistorySeries& series : history.series) {
    for (const HistorySegment& segment : series.segments) {
      std::string title = SharedTitle(series.cell, {});
      if (several_machines) title += fmt::format(" ({})", segment.machine);
      const auto [found, is_new] = groups.emplace(title + '\n' + series.fingerprint, groups.size());
      const int64_t group = found->second;
      titles[group] = PlainLine(title);
      most_points[group] = std::max(most_points[group], segment.points.size());
      AddSegment(segment, PlainLine(WorkerTitle(series.cell, "", "")), number++, group,
                 trend.table);
    }
  }
  for (const auto& [group, title] : titles) {
    if (most_points[group] > 1) trend.choices.push_back({title, "", {{"group", group}}});
  }
  return trend;
}

}  // namespace

void AddTrendChart(const ReportData& data, ChartSet& set) {
  Trend trend = TrendOf(data.history, data.ranking.several_machines);
  if (trend.choices.empty()) return;
  set.data.emplace("trend", std::move(trend.table));
  Json spec = SpecFrame(
      "trend", Json::array({{{"filter", fmt::format("datum.{} === group", kGroupColumn)}}}));
  const Json x = {{"field", "study"}, {"type", "ordinal"}, {"title", "study"}};
  const auto y = [](const char* field) {
    return Json{{"field", field},
                {"type", "quantitative"},
                {"title", "milliseconds per image"},
                {"scale", {{"zero", false}, {"padding", 12}}}};
  };
  const Json colour = {{"field", "worker"}, {"type", "nominal"}, {"title", nullptr}};
  const Json segment = {{"field", "segment"}, {"type", "nominal"}};
  const Json tooltip = Tooltip({{"worker", "worker", ""},
                                {"study", "study", ""},
                                {"begun", "begun", ""},
                                {"version", "version", ""},
                                {"image_ms", "ms per image", ".4~g"},
                                {"verdict", "against the study before", ""},
                                {"note", "change of level", ""}});
  Json lines = {{"mark", {{"type", "line"}, {"point", {{"size", 45}, {"filled", true}}}}},
                {"encoding",
                 {{"x", x},
                  {"y", y("image_ms")},
                  {"color", colour},
                  {"detail", segment},
                  {"tooltip", tooltip}}}};
  Json intervals = {{"mark", {{"type", "rule"}, {"strokeWidth", 1.5}, {"opacity", 0.8}}},
                    {"encoding",
                     {{"x", x},
                      {"y", y("low_ms")},
                      {"y2", {{"field", "high_ms"}}},
                      {"color", colour},
                      {"detail", segment}}}};
  Json levels = {
      {"transform", Json::array({{{"filter", "datum.level !== null"}}})},
      {"mark", {{"type", "point"}, {"size", 260}, {"strokeWidth", 2}, {"filled", false}}},
      {"encoding",
       {{"x", x},
        {"y", y("image_ms")},
        {"color", colour},
        {"shape",
         {{"field", "level"},
          {"type", "nominal"},
          {"title", "change of level"},
          {"scale",
           {{"domain", {"slower", "faster", "machine", "candidate"}},
            {"range", {"triangle-up", "triangle-down", "square", "diamond"}}}}}},
        {"tooltip", tooltip}}}};
  spec["layer"] = Json::array({intervals, lines, levels});
  set.charts.push_back(
      {"trend", "trend", "Time over studies",
       "Less is better. A line ends where the machine, the CPU model or a library changed. Marks "
       "are changes of level: confirmed ones, those that the noise sentinel shows as well, and "
       "candidates that one more study would confirm or dismiss.",
       std::move(spec), std::move(trend.choices)});
}

}  // namespace tench
