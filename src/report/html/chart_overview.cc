// SPDX-License-Identifier: Apache-2.0
// The overview: images per second of every worker, one panel per comparison.
#include <algorithm>

#include "report/html/charts.h"
#include "report/html/comparison_view.h"
#include "report/row_text.h"

namespace tench {
namespace {

// Drawing more panels takes a browser many seconds; the tables have all comparisons.
constexpr size_t kMaxPanels = 80;
// Width of the worker names; equal in all panels, so that bars are aligned.
constexpr int kLabelWidth = 84;
constexpr double kRoomForLabels = 1.5;  // axis length over the longest bar or whisker
constexpr double kRoomForLine = 1.03;   // axis length over the baseline
constexpr double kMostWhisker = 1.25;   // a whisker ends at this multiple of the longest bar

Json PanelSpec(const ReportData& data, int64_t number, const std::string& title,
               const std::vector<std::string>& order, double room, bool baseline) {
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
  Json line = {
      {"mark", {{"type", "rule"}, {"strokeDash", {4, 3}}, {"strokeWidth", 1.5}}},
      {"transform", Json::array({{{"filter", "datum.series === datum.first"}}})},
      {"encoding",
       {{"x", {{"field", "baseline_rate"}, {"type", "quantitative"}}},
        {"tooltip", Tooltip({{"baseline", "baseline", ""},
                             {"baseline_rate", "images/s", ",.4~r"},
                             {"baseline_share", "the fastest's share of its speed", ".0%"}})}}}};
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
  // Keeps a label legible where the baseline crosses it.
  Json halo = label;
  halo["mark"]["style"] = "halo";
  return {{"title",
           {{"text", title}, {"fontSize", 13}, {"offset", 6}, {"limit", 320}, {"frame", "bounds"}}},
          {"width", 230},
          {"height", 24 * order.size()},
          {"transform", Json::array({{{"filter", fmt::format("datum.panel === {}", number)}}})},
          {"layer", baseline ? Json::array({bar, line, interval, halo, label})
                             : Json::array({bar, interval, label})}};
}

std::string RateLabel(double rate, const RankRow& row) {
  const std::string text = RateText(rate);
  return row.rank == 1 ? text + " /s" : fmt::format("{}  ({:.2f}×)", text, row.ratio);
}

}  // namespace

void AddOverviewChart(const ReportData& data, ChartSet& set) {
  DataTable table({"panel", "series", "first", "rank", "ratio", "images_per_s", "rate_low",
                   "rate_high", "label", "baseline", "baseline_rate", "baseline_share"});
  Json panels = Json::array();
  size_t left_out = 0;
  for (const ComparisonView& view : ComparisonsOf(data)) {
    std::vector<const ReportCell*> bars;
    double longest = 0;
    for (const ReportCell& cell : view.cells) {
      const bool is_line = cell.row.role == Role::kBaseline && cell.row.rank == 0;
      if (!cell.measured() || cell.ImageNs() <= 0 || is_line) continue;
      bars.push_back(&cell);
      longest = std::max(longest, 1e9 / cell.ImageNs());
    }
    if (bars.empty()) continue;
    if (panels.size() == kMaxPanels) {
      ++left_out;
      continue;
    }
    const RankRow* baseline = view.answer.baseline;
    const double best_rate = 1e9 / bars[0]->ImageNs();
    std::optional<double> baseline_rate;
    if (baseline != nullptr && baseline->ratio > 0) baseline_rate = best_rate / baseline->ratio;
    const auto number = static_cast<int64_t>(panels.size());
    std::vector<std::string> order;
    double reach = longest;
    for (const ReportCell* cell : bars) {
      const double rate = 1e9 / cell->ImageNs();
      double low = rate, high = rate;
      if (const auto interval = RatioInterval(cell->row); interval && interval->low > 0) {
        low = rate * cell->row.ratio / interval->high;
        high = std::min(rate * cell->row.ratio / interval->low, longest * kMostWhisker);
      }
      table.Add({number, cell->series, bars[0]->series, cell->row.rank,
                 ChartNumber(cell->row.ratio), ChartNumber(rate), ChartNumber(low),
                 ChartNumber(high), RateLabel(rate, cell->row),
                 baseline != nullptr ? Json(view.SeriesOf(*baseline)) : Json(nullptr),
                 ChartNumber(baseline_rate),
                 baseline != nullptr ? ChartNumber(baseline->ratio) : Json(nullptr)});
      order.push_back(cell->series);
      reach = std::max(reach, high);
    }
    panels.push_back(
        PanelSpec(data, number, view.Title(data), order,
                  std::max(reach * kRoomForLabels, baseline_rate.value_or(0) * kRoomForLine),
                  baseline_rate.has_value()));
  }
  if (panels.empty()) return;
  set.data.emplace("overview", std::move(table));
  Json spec = SpecFrame("overview", Json::array());
  for (const char* key : {"width", "height", "autosize", "transform"}) spec.erase(key);
  spec["concat"] = std::move(panels);
  spec["columns"] = 3;
  spec["spacing"] = {{"row", 22}, {"column", 20}};
  std::string caption =
      "Images per second of every worker; more is better. In brackets: time over the fastest "
      "framework's time; whiskers: its 95 % interval. Dashed line: the baseline. Each panel has "
      "its "
      "own scale.";
  if (left_out > 0)
    caption += fmt::format(" {} more comparisons are in the table below.", left_out);
  set.charts.push_back({"overview",
                        "summary",
                        "Images per second",
                        std::move(caption),
                        std::move(spec),
                        {{"", "", Json::object()}}});
}

}  // namespace tench
