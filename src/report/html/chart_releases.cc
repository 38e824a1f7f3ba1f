// SPDX-License-Identifier: Apache-2.0
// Ten years of frameworks on one CPU: images per second against the release of a version.
#include <algorithm>
#include <map>
#include <set>

#include "report/html/charts.h"
#include "report/html/published.h"
#include "report/html/series_style.h"

namespace tench {
namespace {

// A scale with one value per framework: that of its newest worker, which the other charts show.
template <class Value>
Json FrameworkScale(const std::map<std::string, const Release*>& newest, Value value) {
  Json domain = Json::array(), range = Json::array();
  for (const auto& [framework, release] : newest) {
    domain.push_back(framework);
    range.push_back(value(StyleOf(release->worker)));
  }
  return {{"field", "framework"},
          {"type", "nominal"},
          {"title", nullptr},
          {"scale", {{"domain", std::move(domain)}, {"range", std::move(range)}}}};
}

Json Where(const char* condition) { return Json::array({{{"filter", condition}}}); }

Json ReleaseSpec(const std::map<std::string, const Release*>& newest) {
  Json spec = SpecFrame("releases", Json::array({{{"filter", GroupFilter(kGroupWorkers)}}}));
  const Json x = {{"field", "released"},
                  {"type", "temporal"},
                  {"title", "release of the version"},
                  {"axis", {{"format", "%Y"}, {"tickCount", "year"}}},
                  {"scale", {{"padding", 16}}}};
  const Json y = LogAxis("images_per_s", "images per second, logarithmic");
  const Json color = FrameworkScale(newest, [](const SeriesStyle& style) { return style.colour; });
  const Json shape = FrameworkScale(newest, [](const SeriesStyle& style) { return style.shape; });
  const Json tooltip = Tooltip({{"framework", "framework", ""},
                                {"series", "worker", ""},
                                {"version", "version", ""},
                                {"month", "released", ""},
                                {"images_per_s", "images/s", ",.4~g"}});
  // Of several series of a release, such as eager and compiled, the line passes the fastest.
  Json fastest = y;
  fastest["aggregate"] = "max";
  const Json line = {{"transform", Where("datum.released !== null")},
                     {"mark", {{"type", "line"}, {"strokeWidth", 2}}},
                     {"encoding", {{"x", x}, {"y", fastest}, {"color", color}}}};
  const Json points = {
      {"transform", Where("datum.released !== null")},
      {"mark", {{"type", "point"}, {"filled", true}, {"size", 80}}},
      {"encoding", {{"x", x}, {"y", y}, {"color", color}, {"tooltip", tooltip}, {"shape", shape}}}};
  const Json baseline = {{"transform", Where("datum.released === null")},
                         {"mark", {{"type", "rule"}, {"strokeDash", {6, 4}}, {"color", "#8b959a"}}},
                         {"encoding", {{"y", y}, {"tooltip", tooltip}}}};
  const Json label = {
      {"transform", Where("datum.released === null")},
      {"mark", {{"type", "text"}, {"align", "left"}, {"dx", 4}, {"dy", -7}, {"color", "#8b959a"}}},
      {"encoding", {{"x", {{"value", 0}}}, {"y", y}, {"text", {{"field", "series"}}}}}};
  spec["layer"] = Json::array({line, points, baseline, label});
  return spec;
}

// Whether the cells of a group include two versions of one framework, which a line connects.
bool HasHistory(const ReportData& data, const std::vector<Release>& releases, const Json& group) {
  std::map<std::string, std::set<std::string>> months;
  for (const ReportCell& cell : data.cells) {
    const Release* release =
        FindRelease(releases, cell.cell.Text(kAxisWorker), cell.row.worker_version);
    if (cell.measured() && release != nullptr && group == cell.group[kGroupWorkers])
      months[release->framework].insert(release->month);
  }
  return std::any_of(months.begin(), months.end(),
                     [](const auto& of_framework) { return of_framework.second.size() > 1; });
}

}  // namespace

void AddReleaseChart(const ReportData& data, ChartSet& set) {
  const std::vector<Release> releases = Releases();
  const auto month_of = [&](const ReportCell& cell) -> std::string {
    const Release* release =
        FindRelease(releases, cell.cell.Text(kAxisWorker), cell.row.worker_version);
    return cell.measured() && release != nullptr ? release->month : "";
  };
  std::vector<ChartChoice> choices = GroupChoices(data, kGroupWorkers, 2, month_of);
  std::erase_if(choices, [&](const ChartChoice& choice) {
    return !HasHistory(data, releases, choice.parameters["group"]);
  });
  if (choices.empty()) return;
  std::map<std::string, const Release*> newest;  // by framework
  DataTable table({"series", "framework", "version", "month", "released", "images_per_s",
                   std::string(ColumnOf(kGroupWorkers))});
  for (const ReportCell& cell : data.cells) {
    // The baseline is of today and belongs to no framework's line.
    if (cell.measured() && cell.row.role == Role::kBaseline) {
      table.Add({cell.series, cell.cell.Text(kAxisWorker), cell.row.worker_version, "", nullptr,
                 ChartNumber(1e9 / cell.ImageNs()), cell.group[kGroupWorkers]});
    }
    if (month_of(cell).empty()) continue;
    const Release& release =
        *FindRelease(releases, cell.cell.Text(kAxisWorker), cell.row.worker_version);
    table.Add({cell.series, release.framework, cell.row.worker_version, release.month,
               release.month + "-01", ChartNumber(1e9 / cell.ImageNs()),
               cell.group[kGroupWorkers]});
    const Release*& known = newest[release.framework];
    if (known == nullptr || known->month < release.month) known = &release;
  }
  set.data.emplace("releases", std::move(table));
  set.charts.push_back({"releases", "then", "Years of frameworks",
                        "Versions of each framework by their release, all measured on this "
                        "machine with the same weights and data. A line connects the fastest of "
                        "each version of one framework; the dashed line is the native engine. Up "
                        "is faster.",
                        ReleaseSpec(newest), std::move(choices)});
}

}  // namespace tench
