// SPDX-License-Identifier: Apache-2.0
// The overview: images per second of every worker, one panel per comparison.
#include <algorithm>
#include <map>

#include "report/html/charts.h"

namespace tench {
namespace {

constexpr size_t kMaxPanels = 12;
// Width of the worker names; equal in all panels, so that bars are aligned.
constexpr int kLabelWidth = 84;
constexpr double kRoomForLabels = 1.5;  // axis length over the longest bar

struct Panel {
  int64_t group = 0;
  size_t ranked = 0;
  int64_t batch = 0;
  bool training = false;
};

// Among groups that differ only in the batch size, selects the one with the most workers, then the
// largest batch.
std::vector<Panel> ChoosePanels(const ReportData& data) {
  std::map<int64_t, Panel> groups;           // by kGroupWorkers
  std::map<int64_t, int64_t> batches_group;  // kGroupWorkers -> kGroupBatches
  for (const ReportCell& cell : data.cells) {
    if (!cell.ranked()) continue;
    Panel& panel = groups[cell.group[kGroupWorkers]];
    panel.group = cell.group[kGroupWorkers];
    panel.batch = cell.cell.Integer(kAxisBatch);
    panel.training = cell.cell.phase() == Phase::kTrain;
    ++panel.ranked;
    batches_group[panel.group] = cell.group[kGroupBatches];
  }
  std::map<int64_t, Panel> best;
  for (const auto& [group, panel] : groups) {
    const auto [found, is_new] = best.emplace(batches_group[group], panel);
    const Panel& known = found->second;
    if (!is_new && std::pair(panel.ranked, panel.batch) > std::pair(known.ranked, known.batch))
      found->second = panel;
  }
  std::vector<Panel> panels;
  for (const auto& [group, panel] : best) panels.push_back(panel);
  // Complete comparisons of training steps come first.
  std::stable_sort(panels.begin(), panels.end(), [](const Panel& a, const Panel& b) {
    return std::pair(a.training, a.ranked) > std::pair(b.training, b.ranked);
  });
  if (panels.size() > kMaxPanels) panels.resize(kMaxPanels);
  std::stable_sort(panels.begin(), panels.end(),
                   [](const Panel& a, const Panel& b) { return a.group < b.group; });
  return panels;
}

Json PanelSpec(const ReportData& data, int64_t number, const std::string& title,
               const std::vector<std::string>& order, double room) {
  const Json y = {{"field", "series"},
                  {"type", "nominal"},
                  {"title", nullptr},
                  {"sort", order},
                  {"axis",
                   {{"domain", false},
                    {"ticks", false},
                    {"labelPadding", 6},
                    {"labelLimit", kLabelWidth - 8},
                    {"minExtent", kLabelWidth},
                    {"maxExtent", kLabelWidth}}}};
  const Json x = {{"field", "images_per_s"},
                  {"type", "quantitative"},
                  {"title", nullptr},
                  {"scale", {{"domain", Json::array({0, ChartNumber(room)})}, {"nice", false}}},
                  {"axis", nullptr}};
  Json bar = {
      {"mark", {{"type", "bar"}, {"cornerRadiusEnd", 3}, {"height", {{"band", 0.72}}}}},
      {"encoding",
       {{"x", x},
        {"y", y},
        {"color", SeriesColour(data, false)},
        {"opacity", {{"condition", {{"test", "datum.rank === 1"}, {"value", 1}}}, {"value", 0.72}}},
        {"tooltip", Tooltip({{"series", "worker", ""},
                             {"images_per_s", "images/s", ",.4~r"},
                             {"ratio", "× the fastest's time", ".3~r"}})}}}};
  Json interval = {{"mark", {{"type", "rule"}, {"strokeWidth", 1.5}}},
                   {"encoding",
                    {{"x", {{"field", "rate_low"}, {"type", "quantitative"}}},
                     {"x2", {{"field", "rate_high"}}},
                     {"y", y}}}};
  Json label = {{"mark", {{"type", "text"}, {"align", "left"}, {"dx", 6}, {"fontSize", 12}}},
                {"encoding",
                 {{"x", {{"field", "rate_high"}, {"type", "quantitative"}}},
                  {"y", y},
                  {"text", {{"field", "label"}}}}}};
  return {{"title",
           {{"text", title}, {"fontSize", 13}, {"offset", 6}, {"limit", 320}, {"frame", "bounds"}}},
          {"width", 230},
          {"height", 24 * order.size()},
          {"transform", Json::array({{{"filter", fmt::format("datum.panel === {}", number)}}})},
          {"layer", Json::array({bar, interval, label})}};
}

std::string RateLabel(double rate, int64_t rank, double ratio) {
  const std::string text = rate >= 9999.5 ? fmt::format("{:.1f}k", rate / 1000)
                           : rate >= 100  ? fmt::format("{:.0f}", rate)
                                          : fmt::format("{:.3g}", rate);
  return rank == 1 ? text + " /s" : fmt::format("{}  ({:.2f}×)", text, ratio);
}

}  // namespace

void AddOverviewChart(const ReportData& data, ChartSet& set) {
  DataTable table(
      {"panel", "series", "rank", "ratio", "images_per_s", "rate_low", "rate_high", "label"});
  Json panels = Json::array();
  for (const Panel& panel : ChoosePanels(data)) {
    std::vector<std::string> order;
    double longest = 0;
    const auto number = static_cast<int64_t>(panels.size());
    // The cells of a group are ordered by rank.
    for (const ReportCell& cell : data.cells) {
      if (cell.group[kGroupWorkers] != panel.group || !cell.ranked() || cell.ImageNs() <= 0)
        continue;
      const double rate = 1e9 / cell.ImageNs();
      const Estimate& step = *cell.row.step_ns;
      const double low = step.high ? rate * step.value / *step.high : rate;
      const double high = step.low ? rate * step.value / *step.low : rate;
      table.Add({number, cell.series, cell.row.rank, ChartNumber(cell.row.ratio), ChartNumber(rate),
                 ChartNumber(low), ChartNumber(high),
                 RateLabel(rate, cell.row.rank, cell.row.ratio)});
      order.push_back(cell.series);
      longest = std::max(longest, high);
    }
    if (order.empty()) continue;
    panels.push_back(PanelSpec(data, number,
                               data.group_titles[kGroupWorkers][static_cast<size_t>(panel.group)],
                               order, longest * kRoomForLabels));
  }
  if (panels.empty()) return;
  set.data.emplace("overview", std::move(table));
  Json spec = SpecFrame("overview", Json::array());
  for (const char* key : {"width", "height", "autosize", "transform"}) spec.erase(key);
  spec["concat"] = std::move(panels);
  spec["columns"] = 3;
  spec["spacing"] = {{"row", 22}, {"column", 20}};
  set.charts.push_back(
      {"overview",
       "summary",
       "Images per second",
       "Images per second of every worker, with 95 % intervals; more is better. In brackets: how "
       "many times the fastest's time it takes. Each panel has its own scale. Where a network was "
       "measured at several batch sizes this is the one that most workers share.",
       std::move(spec),
       {{"", "", Json::object()}}});
}

}  // namespace tench
