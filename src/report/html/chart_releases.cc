// SPDX-License-Identifier: Apache-2.0
// Ten years of frameworks on one CPU: images per second against the release of a version.
#include <map>
#include <set>

#include "report/html/charts.h"
#include "report/html/published.h"

namespace tench {
namespace {

Json Where(const char* condition) { return Json::array({{{"filter", condition}}}); }

Json ReleaseSpec(const std::set<std::string>& frameworks) {
  Json spec = SpecFrame("releases", Json::array({{{"filter", GroupFilter(kGroupWorkers)}}}));
  const Json x = {{"field", "released"},
                  {"type", "temporal"},
                  {"title", "release of the version"},
                  {"axis", {{"format", "%b %Y"}}},
                  {"scale", {{"padding", 16}}}};
  const Json y = LogAxis("images_per_s", "images per second, logarithmic");
  // One explicit domain, so that colours and shapes share one legend.
  const Json framework = {{"field", "framework"},
                          {"type", "nominal"},
                          {"title", nullptr},
                          {"scale", {{"domain", frameworks}}}};
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
                     {"encoding", {{"x", x}, {"y", fastest}, {"color", framework}}}};
  const Json points = {
      {"transform", Where("datum.released !== null")},
      {"mark", {{"type", "point"}, {"filled", true}, {"size", 80}}},
      {"encoding",
       {{"x", x}, {"y", y}, {"color", framework}, {"tooltip", tooltip}, {"shape", framework}}}};
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

}  // namespace

void AddReleaseChart(const ReportData& data, ChartSet& set) {
  const std::vector<Release> releases = Releases();
  const auto month_of = [&](const ReportCell& cell) -> std::string {
    const Release* release =
        FindRelease(releases, cell.cell.Text(kAxisWorker), cell.row.worker_version);
    return cell.measured() && release != nullptr ? release->month : "";
  };
  // A single month is no history.
  std::vector<ChartChoice> choices = GroupChoices(data, kGroupWorkers, 2, month_of);
  if (choices.empty()) return;
  DataTable table({"series", "framework", "version", "month", "released", "images_per_s",
                   std::string(ColumnOf(kGroupWorkers))});
  std::set<std::string> frameworks;
  for (const ReportCell& cell : data.cells) {
    // The baseline is of today and belongs to no framework's line.
    if (cell.measured() && cell.row.role == Role::kBaseline) {
      table.Add({cell.series, cell.cell.Text(kAxisWorker), cell.row.worker_version, "", nullptr,
                 ChartNumber(1e9 / cell.ImageNs()), cell.group[kGroupWorkers]});
    }
    if (month_of(cell).empty()) continue;
    const Release& release =
        *FindRelease(releases, cell.cell.Text(kAxisWorker), cell.row.worker_version);
    frameworks.insert(release.framework);
    table.Add({cell.series, release.framework, cell.row.worker_version, release.month,
               release.month + "-01", ChartNumber(1e9 / cell.ImageNs()),
               cell.group[kGroupWorkers]});
  }
  set.data.emplace("releases", std::move(table));
  set.charts.push_back({"releases", "then", "Years of frameworks",
                        "Versions of each framework by their release, all measured on this "
                        "machine with the same weights and data. A line connects the fastest of "
                        "each version of one framework; the dashed line is the native engine. Up "
                        "is faster.",
                        ReleaseSpec(frameworks), std::move(choices)});
}

}  // namespace tench
