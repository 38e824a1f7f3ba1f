// SPDX-License-Identifier: Apache-2.0
// The distribution of the step times of one run.
#include "report/html/charts.h"

namespace tench {

void AddStepChart(const ReportData& data, ChartSet& set) {
  DataTable table({"series", "least", "p5", "p25", "p50", "p75", "p95", "most",
                   std::string(ColumnOf(kGroupWorkers))});
  for (const ReportCell& cell : data.cells) {
    if (!cell.measured() || cell.series_data.step_ns_quantiles.empty()) continue;
    std::vector<Json> values = {cell.series};
    for (const double ns : cell.series_data.step_ns_quantiles)
      values.push_back(ChartNumber(ns / 1e6));
    values.emplace_back(cell.group[kGroupWorkers]);
    table.Add(std::move(values));
  }
  if (table.size() == 0) return;
  set.data.emplace("steps", std::move(table));
  Json spec = SpecFrame("steps", Json::array({{{"filter", GroupFilter(kGroupWorkers)}}}));
  spec["height"] = {{"step", 38}};
  spec.erase("autosize");  // incompatible with a step height
  const Json y = {
      {"field", "series"}, {"type", "nominal"}, {"title", nullptr}, {"sort", {{"field", "p50"}}}};
  const auto x = [](const std::string& field) {
    return Json{{"field", field},
                {"type", "quantitative"},
                {"title", "milliseconds per step, logarithmic"},
                {"scale", {{"type", "log"}, {"nice", false}, {"padding", 12}}}};
  };
  const Json tooltip = Tooltip({{"series", "worker", ""},
                                {"least", "fastest, ms", ".4~g"},
                                {"p5", "5 %", ".4~g"},
                                {"p25", "25 %", ".4~g"},
                                {"p50", "median", ".4~g"},
                                {"p75", "75 %", ".4~g"},
                                {"p95", "95 %", ".4~g"},
                                {"most", "slowest", ".4~g"}});
  const auto span = [&](const char* type, const char* from, const char* to, Json look) {
    look["type"] = type;
    return Json{{"mark", std::move(look)},
                {"encoding",
                 {{"y", y},
                  {"x", x(from)},
                  {"x2", {{"field", to}}},
                  {"color", SeriesColour(data, false)},
                  {"tooltip", tooltip}}}};
  };
  Json median = {{"mark", {{"type", "tick"}, {"color", "white"}, {"thickness", 2}, {"size", 16}}},
                 {"encoding", {{"y", y}, {"x", x("p50")}, {"tooltip", tooltip}}}};
  spec["layer"] =
      Json::array({span("rule", "least", "most", {{"strokeWidth", 1}, {"opacity", 0.6}}),
                   span("rule", "p5", "p95", {{"strokeWidth", 4}, {"opacity", 0.6}}),
                   span("bar", "p25", "p75", {{"height", 16}, {"cornerRadius", 2}}), median});
  const auto has_steps = [](const ReportCell& cell) {
    return cell.measured() && !cell.series_data.step_ns_quantiles.empty() ? cell.series
                                                                          : std::string();
  };
  set.charts.push_back({"step-times", "inside", "Step times",
                        "All timed steps of the newest run. Box: quartiles and median. Thick line: "
                        "5 % to 95 %. Thin line: all steps.",
                        std::move(spec), GroupChoices(data, kGroupWorkers, 1, has_steps)});
}

}  // namespace tench
