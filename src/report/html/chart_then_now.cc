// SPDX-License-Identifier: Apache-2.0
// The published figures of 2018 beside the reader's own.
#include <cmath>
#include <map>
#include <set>

#include "report/html/charts.h"
#include "report/html/published.h"

namespace tench {
namespace {

using Pair = std::pair<std::string, std::string>;  // network, data

bool IsComparable(const ReportCell& cell, const Pair& pair) {
  const std::string& data = cell.cell.Text(kAxisData);
  return cell.measured() && cell.cell.Text(kAxisNetwork) == pair.first &&
         (data.empty() || data == pair.second) && cell.cell.phase() == Phase::kTrain &&
         cell.cell.Text(kAxisPrecision) == "f32";
}

// For each series, device and machine the cell with the nearest batch, by ratio, to the published
// one.
std::vector<const ReportCell*> OwnCells(const ReportData& data, const Pair& pair) {
  const double wanted = std::log(static_cast<double>(PublishedBatch(pair.second, pair.first)));
  std::map<std::array<std::string, 3>, const ReportCell*> nearest;
  const auto distance = [&](const ReportCell& cell) {
    return std::abs(
        std::log(static_cast<double>(std::max<int64_t>(cell.cell.Integer(kAxisBatch), 1))) -
        wanted);
  };
  for (const ReportCell& cell : data.cells) {
    if (!IsComparable(cell, pair)) continue;
    const ReportCell*& known = nearest[{cell.series, cell.cell.Text(kAxisDevice), cell.machine}];
    const bool nearer = known == nullptr || distance(cell) < distance(*known);
    const bool faster =
        known != nullptr && distance(cell) == distance(*known) && cell.ImageNs() < known->ImageNs();
    if (nearer || faster) known = &cell;
  }
  std::vector<const ReportCell*> cells;
  for (const auto& [key, cell] : nearest) cells.push_back(cell);
  return cells;
}

Json ThenAndNowSpec() {
  Json spec = SpecFrame("then_and_now", Json::array({{{"filter", "datum.pair === group"}}}));
  spec["height"] = {{"step", 26}};
  spec.erase("autosize");  // incompatible with a step height
  const Json x = {{"field", "images_per_s"},
                  {"type", "quantitative"},
                  {"title", "images per second, logarithmic"},
                  {"scale", {{"type", "log"}, {"nice", false}, {"padding", 16}}}};
  const Json y = {{"field", "framework"},
                  {"type", "nominal"},
                  {"title", nullptr},
                  {"sort", {{"field", "place"}}}};
  const Json hardware =
      Json::array({"this report", "2018: CPU", "2018: GPU, K20m", "2018: GPU, 2 × K20m",
                   "2018: GPU, P100", "2018: GPU, 2 × P100"});
  Json line = {{"mark", {{"type", "rule"}, {"opacity", 0.35}}},
               {"encoding",
                {{"y", y},
                 {"x",
                  {{"aggregate", "min"},
                   {"field", "images_per_s"},
                   {"type", "quantitative"},
                   {"scale", {{"type", "log"}}},
                   {"title", "images per second, logarithmic"}}},
                 {"x2", {{"aggregate", "max"}, {"field", "images_per_s"}}}}}};
  const Json tooltip = Tooltip({{"framework", "framework", ""},
                                {"hardware", "hardware", ""},
                                {"batch", "batch", ""},
                                {"images_per_s", "images/s", ",.4~g"}});
  const auto scale = [&](Json range) {
    return Json{{"domain", hardware}, {"range", std::move(range)}};
  };
  Json points = {
      {"mark", {{"type", "point"}, {"filled", true}, {"opacity", 1}}},
      {"encoding",
       {{"x", x},
        {"y", y},
        {"tooltip", tooltip},
        {"color",
         {{"field", "when"},
          {"type", "nominal"},
          {"title", nullptr},
          {"legend", {{"columns", 3}}},
          {"scale", scale({"#0e9384", "#8b959a", "#d9a400", "#d9a400", "#a855c7", "#a855c7"})}}},
        {"shape",
         {{"field", "when"},
          {"type", "nominal"},
          {"title", nullptr},
          {"legend", {{"columns", 3}}},
          {"scale", scale({"diamond", "circle", "circle", "square", "circle", "square"})}}},
        {"size",
         {{"condition", {{"test", "datum.when === 'this report'"}, {"value", 170}}},
          {"value", 65}}}}}};
  spec["layer"] = Json::array({line, points});
  return spec;
}

}  // namespace

void AddThenAndNowChart(const ReportData& data, ChartSet& set) {
  DataTable table({"pair", "framework", "when", "hardware", "images_per_s", "batch", "place"});
  std::vector<Pair> pairs;
  std::map<Pair, int64_t> known;
  std::vector<ChartChoice> own_choices, other_choices;
  const std::vector<PublishedRate> rates = PublishedRates();
  for (const PublishedRate& rate : rates) {
    const Pair pair{rate.network, rate.data};
    const auto [found, is_new] = known.emplace(pair, static_cast<int64_t>(known.size()));
    if (is_new) pairs.push_back(pair);
    std::string when = "2018: " + HardwareTitle(rate.hardware);
    if (rate.hardware.starts_with("cpu")) when = "2018: CPU";
    table.Add({found->second, rate.framework, when, HardwareTitle(rate.hardware),
               ChartNumber(rate.images_per_s), PublishedBatch(rate.data, rate.network), 1});
  }
  for (const Pair& pair : pairs) {
    const std::vector<const ReportCell*> own = OwnCells(data, pair);
    for (const ReportCell* cell : own) {
      const std::string& device = cell->cell.Text(kAxisDevice);
      std::string hardware = cell->machine + ", " + device;
      if (cell->row.threads > 0) hardware += fmt::format(", {} threads", cell->row.threads);
      // The suffix "now" distinguishes the reader's rows from those of 2018.
      std::string name = cell->series + (device == "cpu" ? ", now" : ", " + device + ", now");
      if (data.ranking.several_machines) name += " (" + cell->machine + ")";
      table.Add({known[pair], name, "this report", hardware, ChartNumber(1e9 / cell->ImageNs()),
                 cell->cell.Integer(kAxisBatch), 0});
    }
    ChartChoice choice{
        fmt::format("{} on {}", pair.first, pair.second), "", {{"group", known[pair]}}};
    (own.empty() ? other_choices : own_choices).push_back(std::move(choice));
  }
  set.data.emplace("then_and_now", std::move(table));
  own_choices.insert(own_choices.end(), other_choices.begin(), other_choices.end());
  set.charts.push_back(
      {"then-and-now", "then", "Then and now",
       "Grey, yellow and violet: the UPV report of 2018 with its versions and machines (two Xeon "
       "E5 of 2013 or 2016, Tesla K20m and P100), means of three runs. Green diamonds: this "
       "report, at the nearest measured batch size. The hardware differs, so the distance is not a "
       "comparison of frameworks.",
       ThenAndNowSpec(), std::move(own_choices)});
}

}  // namespace tench
