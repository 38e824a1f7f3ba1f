// SPDX-License-Identifier: Apache-2.0
// Thread scaling: speed-up over the smallest thread count, and parallel efficiency.
#include <map>
#include <set>

#include "report/html/charts.h"

namespace tench {
namespace {

Json ThreadPanel(const ReportData& data, const std::set<int64_t>& counts, const std::string& field,
                 const std::string& title, const std::string& ideal) {
  const Json x = {{"field", "threads"},
                  {"type", "quantitative"},
                  {"title", "threads"},
                  {"scale", {{"zero", false}, {"padding", 12}}},
                  {"axis", {{"values", counts}}}};
  const Json y = {
      {"field", field}, {"type", "quantitative"}, {"title", title}, {"scale", {{"zero", true}}}};
  Json lines = {{"mark", {{"type", "line"}, {"point", {{"size", 55}}}}},
                {"encoding",
                 {{"x", x},
                  {"y", y},
                  {"color", SeriesColour(data)},
                  {"strokeDash", SeriesDash(data)},
                  {"tooltip", Tooltip({{"series", "worker", ""},
                                       {"threads", "threads", ""},
                                       {"speed_up", "speed-up", ".3~g"},
                                       {"efficiency", "efficiency", ".0%"}})}}}};
  Json perfect = {
      {"mark",
       {{"type", "line"}, {"strokeDash", {4, 4}}, {"color", "#8b959a"}, {"strokeWidth", 1.5}}},
      {"encoding",
       {{"x", x}, {"y", {{"field", ideal}, {"type", "quantitative"}, {"title", title}}}}}};
  if (field == "efficiency") lines["encoding"]["y"]["axis"] = {{"format", ".0%"}};
  return {{"width", 600}, {"height", 190}, {"layer", Json::array({perfect, lines})}};
}

}  // namespace

void AddThreadChart(const ReportData& data, ChartSet& set) {
  // threads = 0 (all CPUs) may resolve to a count that another cell names; the named one is
  // preferred.
  std::map<std::pair<int64_t, std::string>, std::map<int64_t, const ReportCell*>> curves;
  for (const ReportCell& cell : data.cells) {
    if (!cell.measured() || cell.row.threads <= 0) continue;
    const ReportCell*& known = curves[{cell.group[kGroupThreads], cell.series}][cell.row.threads];
    if (known == nullptr || cell.cell.Integer(kAxisThreads) > 0) known = &cell;
  }
  DataTable table({"series", "threads", "speed_up", "efficiency", "ideal", "one",
                   std::string(ColumnOf(kGroupThreads))});
  std::vector<ChartChoice> choices;
  std::set<int64_t> counts;
  for (const auto& [key, points] : curves) {
    if (points.size() < 2) continue;
    const auto& [fewest, base] = *points.begin();
    for (const auto& [threads, cell] : points) {
      counts.insert(threads);
      const double speed_up = base->ImageNs() / cell->ImageNs();
      const double ideal = static_cast<double>(threads) / static_cast<double>(fewest);
      table.Add({cell->series, threads, ChartNumber(speed_up), ChartNumber(speed_up / ideal),
                 ChartNumber(ideal), 1, key.first});
    }
    if (choices.empty() || choices.back().parameters["group"] != key.first) {
      choices.push_back({data.group_titles[kGroupThreads][static_cast<size_t>(key.first)],
                         "",
                         {{"group", key.first}}});
    }
  }
  if (table.size() == 0) return;
  set.data.emplace("threads", std::move(table));
  Json spec = SpecFrame("threads", Json::array({{{"filter", GroupFilter(kGroupThreads)}}}));
  spec.erase("width"), spec.erase("height"), spec.erase("autosize");
  spec["vconcat"] = Json::array({ThreadPanel(data, counts, "speed_up", "speed-up", "ideal"),
                                 ThreadPanel(data, counts, "efficiency", "efficiency", "one")});
  spec["spacing"] = 24;
  set.charts.push_back({"threads", "inside", "Threads",
                        "Speed-up over the smallest measured thread count, and parallel efficiency "
                        "(speed-up per thread); dashed: linear scaling.",
                        std::move(spec), std::move(choices)});
}

}  // namespace tench
