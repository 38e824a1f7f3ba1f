// SPDX-License-Identifier: Apache-2.0
// Memory, CPUs and GPU over the time of a run, sampled from outside the worker.
#include "report/html/charts.h"

namespace tench {
namespace {

Json UsePanel(const ReportData& data, const std::string& field, const std::string& title,
              bool time_axis) {
  Json x = {{"field", "time_s"},
            {"type", "quantitative"},
            {"title", time_axis ? Json("seconds since the launch") : Json(nullptr)}};
  Json colour = SeriesColour(data);
  Json panel = {
      {"width", 600},
      {"height", 150},
      {"mark", {{"type", "line"}, {"interpolate", field == "cpus" ? "step-before" : "linear"}}},
      {"encoding",
       {{"x", x},
        {"y", {{"field", field}, {"type", "quantitative"}, {"title", title}}},
        {"color", colour},
        {"strokeDash", SeriesDash(data)},
        {"tooltip", Tooltip({{"series", "worker", ""},
                             {"time_s", "seconds", ".3~g"},
                             {field, title, ",.4~g"}})}}}};
  return panel;
}

}  // namespace

void AddUseChart(const ReportData& data, ChartSet& set) {
  DataTable table({"series", "time_s", "rss_mib", "swap_mib", "cpus", "gpu_percent", "gpu_mib",
                   std::string(ColumnOf(kGroupWorkers))});
  constexpr double kMib = 1 << 20;
  bool swapped = false, gpu = false;
  for (const ReportCell& cell : data.cells) {
    if (cell.series_data.use.size() < 2) continue;
    for (const UsePoint& point : cell.series_data.use) {
      swapped |= point.swap_bytes > 0;
      gpu |= point.gpu_use_percent || point.gpu_memory_bytes;
      const Json gpu_mib =
          point.gpu_memory_bytes ? ChartNumber(*point.gpu_memory_bytes / kMib) : Json(nullptr);
      table.Add({cell.series, ChartNumber(point.time_s), ChartNumber(point.rss_bytes / kMib),
                 ChartNumber(point.swap_bytes / kMib), ChartNumber(point.cpus),
                 ChartNumber(point.gpu_use_percent), gpu_mib, cell.group[kGroupWorkers]});
    }
  }
  if (table.size() == 0) return;
  set.data.emplace("use", std::move(table));
  Json spec = SpecFrame("use", Json::array({{{"filter", GroupFilter(kGroupWorkers)}}}));
  spec.erase("width"), spec.erase("height"), spec.erase("autosize");
  Json panels = Json::array({UsePanel(data, "rss_mib", "resident memory, MiB", false)});
  if (swapped) panels.push_back(UsePanel(data, "swap_mib", "swap, MiB", false));
  panels.push_back(UsePanel(data, "cpus", "CPUs in use", !gpu));
  if (gpu) {
    panels.push_back(UsePanel(data, "gpu_percent", "GPU in use, %", false));
    panels.push_back(UsePanel(data, "gpu_mib", "GPU memory, MiB", true));
  }
  spec["vconcat"] = std::move(panels);
  spec["spacing"] = 24;
  const auto has_use = [](const ReportCell& cell) {
    return cell.series_data.use.size() < 2 ? std::string() : cell.series;
  };
  set.charts.push_back({"use-over-time", "memory", "Over time",
                        "The newest run of each cell since its launch: start of the framework, "
                        "build of the network, warm-up, timed steps. Sampled ten times a second, "
                        "including children; a point is the maximum of its samples.",
                        std::move(spec), GroupChoices(data, kGroupWorkers, 1, has_use)});
}

}  // namespace tench
