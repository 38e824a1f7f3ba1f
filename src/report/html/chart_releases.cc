// SPDX-License-Identifier: Apache-2.0
// Ten years of frameworks on one CPU: images per second against the release of a version.
#include <map>
#include <set>

#include "report/html/charts.h"
#include "report/html/published.h"

namespace tench {
namespace {

Json ReleaseSpec() {
  Json spec = SpecFrame("releases", Json::array({{{"filter", GroupFilter(kGroupWorkers)}}}));
  spec["encoding"] = {{"x",
                       {{"field", "released"},
                        {"type", "temporal"},
                        {"title", "release of the version"},
                        {"scale", {{"padding", 16}}}}},
                      {"y", LogAxis("images_per_s", "images per second, logarithmic")},
                      {"color", {{"field", "framework"}, {"type", "nominal"}, {"title", nullptr}}},
                      {"tooltip", Tooltip({{"framework", "framework", ""},
                                           {"series", "worker", ""},
                                           {"version", "version", ""},
                                           {"month", "released", ""},
                                           {"images_per_s", "images/s", ",.4~g"}})}};
  const Json line = {{"mark", {{"type", "line"}, {"strokeWidth", 2}}}};
  const Json points = {{"mark", {{"type", "point"}, {"filled", true}, {"size", 80}}},
                       {"encoding", {{"shape", {{"field", "framework"}, {"title", nullptr}}}}}};
  spec["layer"] = Json::array({line, points});
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
  for (const ReportCell& cell : data.cells) {
    if (month_of(cell).empty()) continue;
    const Release& release =
        *FindRelease(releases, cell.cell.Text(kAxisWorker), cell.row.worker_version);
    table.Add({cell.series, release.framework, cell.row.worker_version, release.month,
               release.month + "-01", ChartNumber(1e9 / cell.ImageNs()),
               cell.group[kGroupWorkers]});
  }
  set.data.emplace("releases", std::move(table));
  set.charts.push_back({"releases", "then", "Years of frameworks",
                        "Versions of each framework by their release, all measured on this "
                        "machine with the same weights and data. A line connects the versions of "
                        "one framework; up is faster.",
                        ReleaseSpec(), std::move(choices)});
}

}  // namespace tench
