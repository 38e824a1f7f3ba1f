// SPDX-License-Identifier: Apache-2.0
#include "report/html/chart.h"

#include <algorithm>
#include <set>

#include "report/html/series_style.h"

namespace tench {
namespace {

// The workers that are drawn: one that never ran has no colour and no legend entry.
std::vector<std::string> DrawnSeries(const ReportData& data) {
  std::set<std::string> drawn;
  for (const ReportCell& cell : data.cells) {
    if (cell.row.step_ns || !cell.series_data.loss.empty()) drawn.insert(cell.series);
  }
  for (const CellProfile& profile : data.profiles) drawn.insert(profile.series);
  std::vector<std::string> ordered = data.series;
  std::erase_if(ordered, [&](const std::string& series) { return !drawn.contains(series); });
  return ordered;
}

// An encoding of the field "series" whose scale has one value per worker.
template <class Value>
Json SeriesEncoding(const ReportData& data, Value value) {
  Json domain = Json::array(), range = Json::array();
  for (const std::string& series : DrawnSeries(data)) {
    domain.push_back(series);
    range.push_back(value(StyleOf(series)));
  }
  return {{"field", "series"},
          {"type", "nominal"},
          {"title", nullptr},
          {"scale", {{"domain", std::move(domain)}, {"range", std::move(range)}}}};
}

}  // namespace

Json ChartTheme(bool dark) {
  const char* ink = dark ? "#dfe6e4" : "#1d2629";
  const char* soft = dark ? "#93a29f" : "#5c6b72";
  const char* line = dark ? "#2f3a3e" : "#e3e8e6";
  const char* card = dark ? "#191f21" : "#ffffff";  // the page's background of charts
  const Json axis = {{"labelColor", soft},  {"titleColor", soft},     {"gridColor", line},
                     {"domainColor", line}, {"tickColor", line},      {"labelFontSize", 12},
                     {"titleFontSize", 12}, {"titleFontWeight", 500}, {"labelLimit", 220},
                     {"titlePadding", 10}};
  return {
      {"background", "transparent"},
      {"font", "Inter, 'Segoe UI', Roboto, 'Helvetica Neue', 'DejaVu Sans', sans-serif"},
      {"axis", axis},
      {"view", {{"stroke", nullptr}}},
      {"title",
       {{"color", ink},
        {"subtitleColor", soft},
        {"fontSize", 14},
        {"fontWeight", 600},
        {"anchor", "start"},
        {"offset", 14},
        {"subtitleFontSize", 12}}},
      {"header",
       {{"labelColor", ink}, {"titleColor", ink}, {"labelFontSize", 13}, {"labelFontWeight", 600}}},
      {"legend",
       {{"labelColor", ink},
        {"titleColor", soft},
        {"labelFontSize", 12},
        {"titleFontSize", 12},
        {"orient", "bottom"},
        {"direction", "horizontal"},
        {"columns", 4},
        {"symbolStrokeWidth", 2},
        {"labelLimit", 260}}},
      {"text", {{"color", ink}}},
      {"style", {{"halo", {{"stroke", card}, {"strokeWidth", 4}, {"strokeJoin", "round"}}}}},
      {"rule", {{"color", soft}}},
      {"line", {{"strokeWidth", 2}}},
      {"point", {{"size", 50}}}};
}

Json FigureSpec(const Chart& chart, const ChartChoice& choice, bool dark) {
  Json spec = chart.spec;
  for (Json& parameter : spec["params"]) {
    const std::string& name = parameter["name"].get_ref<const std::string&>();
    if (choice.parameters.contains(name)) parameter["value"] = choice.parameters[name];
  }
  Json title = {{"text", choice.title}};
  if (!choice.detail.empty()) title["subtitle"] = choice.detail;
  if (!choice.title.empty()) spec["title"] = std::move(title);
  if (!choice.x_title.empty()) {
    for (Json& layer : spec["layer"]) layer["encoding"]["x"]["title"] = choice.x_title;
  }
  spec["config"] = ChartTheme(dark);
  return spec;
}

Json SpecFrame(std::string_view data_name, Json transform) {
  return {{"$schema", "https://vega.github.io/schema/vega-lite/v6.json"},
          {"width", 640},
          {"height", 320},
          {"autosize", {{"type", "fit-x"}, {"contains", "padding"}}},
          {"data", {{"name", data_name}}},
          {"params", Json::array({{{"name", "group"}, {"value", 0}}})},
          {"transform", std::move(transform)}};
}

Json SeriesColour(const ReportData& data, bool legend) {
  Json colour = SeriesEncoding(data, [](const SeriesStyle& style) { return style.colour; });
  colour["legend"] = legend ? Json{{"symbolOpacity", 1}, {"symbolSize", 90}} : Json(nullptr);
  return colour;
}

Json SeriesShape(const ReportData& data) {
  return SeriesEncoding(data, [](const SeriesStyle& style) { return style.shape; });
}

Json SeriesDash(const ReportData& data) {
  Json dash = SeriesEncoding(data, [](const SeriesStyle& style) { return Json(style.dash); });
  dash["legend"] = nullptr;
  return dash;
}

Json Tooltip(std::initializer_list<std::array<std::string, 3>> fields) {
  Json tooltip = Json::array();
  for (const auto& [field, title, format] : fields) {
    Json entry = {{"field", field}, {"title", title}};
    if (!format.empty()) entry["format"] = format, entry["type"] = "quantitative";
    tooltip.push_back(std::move(entry));
  }
  return tooltip;
}

Json LogAxis(const std::string& field, const std::string& title,
             const std::vector<int64_t>& ticks) {
  Json axis = {{"grid", true}};
  if (!ticks.empty()) axis["values"] = ticks;
  return {{"field", field},
          {"type", "quantitative"},
          {"title", title},
          {"scale", {{"type", "log"}, {"nice", false}, {"padding", 12}}},
          {"axis", std::move(axis)}};
}

std::string GroupFilter(Grouping grouping) {
  return fmt::format("datum.{} === group", ColumnOf(grouping));
}

std::vector<ChartChoice> GroupChoices(const ReportData& data, Grouping grouping, size_t least,
                                      const std::function<std::string(const ReportCell&)>& wanted) {
  // Training comes first, because most readers look for it.
  std::map<std::pair<bool, int64_t>, std::set<std::string>> values;
  for (const ReportCell& cell : data.cells) {
    const std::string value = wanted(cell);
    const bool trains = cell.cell.phase() == Phase::kTrain || grouping == kGroupPhases;
    if (!value.empty()) values[{!trains, cell.group[grouping]}].insert(value);
  }
  std::vector<ChartChoice> choices;
  for (const auto& [key, distinct] : values) {
    if (distinct.size() < least) continue;
    choices.push_back({data.group_titles[grouping][static_cast<size_t>(key.second)],
                       "",
                       {{"group", key.second}}});
  }
  return choices;
}

}  // namespace tench
