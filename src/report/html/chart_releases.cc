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

Json ReleaseSpec(const std::map<std::string, const Release*>& newest) {
  Json spec = SpecFrame("releases", Json::array({{{"filter", GroupFilter(kGroupWorkers)}}}));
  spec["encoding"] = {
      {"x",
       {{"field", "released"},
        {"type", "temporal"},
        {"title", "release of the version"},
        {"axis", {{"format", "%Y"}, {"tickCount", "year"}}},
        {"scale", {{"padding", 16}}}}},
      {"y", LogAxis("images_per_s", "images per second, logarithmic")},
      {"color", FrameworkScale(newest, [](const SeriesStyle& style) { return style.colour; })},
      {"tooltip", Tooltip({{"framework", "framework", ""},
                           {"series", "worker", ""},
                           {"version", "version", ""},
                           {"month", "released", ""},
                           {"images_per_s", "images/s", ",.4~g"}})}};
  const Json line = {{"mark", {{"type", "line"}, {"strokeWidth", 2}}}};
  const Json points = {
      {"mark", {{"type", "point"}, {"filled", true}, {"size", 80}}},
      {"encoding",
       {{"shape", FrameworkScale(newest, [](const SeriesStyle& style) { return style.shape; })}}}};
  spec["layer"] = Json::array({line, points});
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
                        "machine with the same weights and data. A line connects the versions of "
                        "one framework; up is faster.",
                        ReleaseSpec(newest), std::move(choices)});
}

}  // namespace tench
