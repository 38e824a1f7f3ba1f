// SPDX-License-Identifier: Apache-2.0
// Speed-up of one worker, device, thread count or machine over another, against the batch size.
#include <algorithm>
#include <map>

#include "report/html/charts.h"

namespace tench {
namespace {

struct Contest {
  std::string id, tab, noun;
  Grouping grouping;
  std::string field;  // the column of "cells" in which the sides differ
  std::function<std::string(const ReportCell&)> value;
};

std::vector<Contest> Contests() {
  return {
      {"speed-up-worker", "Over a worker", "worker", kGroupBatches, "series",
       [](const auto& c) { return c.series; }},
      {"speed-up-device", "Over a device", "device", kGroupDevices, "device",
       [](const auto& c) { return c.cell.Text(kAxisDevice); }},
      {"speed-up-threads", "Over a thread count", "thread count", kGroupThreadsBatches,
       "threads_used", [](const auto& c) { return std::to_string(c.row.threads); }},
      {"speed-up-machine", "Over a machine", "machine and device", kGroupMachines, "place",
       [](const auto& c) { return c.machine + ", " + c.cell.Text(kAxisDevice); }},
  };
}

// One choice per group and baseline side. The slowest worker or the smallest thread count comes
// first, so that most ratios exceed one.
std::vector<ChartChoice> ContestChoices(const ReportData& data, const Contest& contest) {
  std::map<int64_t, std::map<std::string, double>> groups;  // longest time per image of each side
  for (const ReportCell& cell : data.cells) {
    if (!cell.measured()) continue;
    double& slowest = groups[cell.group[contest.grouping]][contest.value(cell)];
    slowest = std::max(slowest, cell.ImageNs());
  }
  std::vector<ChartChoice> choices;
  for (const auto& [group, sides] : groups) {
    if (sides.size() < 2) continue;
    std::vector<std::pair<double, std::string>> order;
    for (const auto& [side, slowest] : sides) {
      const double place = contest.field == "series"         ? -slowest
                           : contest.field == "threads_used" ? static_cast<double>(std::stoll(side))
                                                             : 0;
      order.emplace_back(place, side);
    }
    std::sort(order.begin(), order.end());
    for (const auto& [place, side] : order) {
      Json base = contest.field == "threads_used" ? Json(std::stoll(side)) : Json(side);
      choices.push_back({data.group_titles[contest.grouping][static_cast<size_t>(group)],
                         "over " + side,
                         {{"group", group}, {"base", std::move(base)}}});
    }
  }
  return choices;
}

Json SpeedUpSpec(const ReportData& data, const Contest& contest) {
  const bool between_workers = contest.field == "series";
  Json groupby = between_workers ? Json::array({"batch"}) : Json::array({"batch", "series"});
  Json spec = SpecFrame(
      "cells",
      Json::array(
          {{{"filter", GroupFilter(contest.grouping) +
                           " && datum.outcome === 'ok' && isValid(datum.image_ns)"}},
           {{"calculate", fmt::format("datum.{} === base ? datum.image_ns : null", contest.field)},
            {"as", "own"}},
           {{"joinaggregate", Json::array({{{"op", "max"}, {"field", "own"}, {"as", "base_ns"}}})},
            {"groupby", std::move(groupby)}},
           {{"calculate", "datum.base_ns / datum.image_ns"}, {"as", "speed_up"}},
           {{"filter",
             fmt::format("isValid(datum.base_ns) && datum.base_ns > 0 && datum.{} !== base",
                         contest.field)}},
           {{"calculate", "'' + datum.batch"}, {"as", "batch_text"}}}));
  spec["params"].push_back({{"name", "base"}, {"value", ""}});
  const Json x = {{"field", "batch_text"},
                  {"type", "ordinal"},
                  {"title", "batch size"},
                  {"sort", {{"field", "batch"}}},
                  {"axis", {{"labelAngle", 0}}}};
  const Json y = {{"field", "speed_up"},
                  {"type", "quantitative"},
                  {"title", "times as fast"},
                  {"scale", {{"zero", true}}}};
  Json bars = {{"mark", {{"type", "bar"}, {"cornerRadiusEnd", 2}}},
               {"encoding",
                {{"x", x},
                 {"y", y},
                 {"color", SeriesColour(data)},
                 {"xOffset", {{"field", "series"}, {"type", "nominal"}, {"sort", data.series}}},
                 {"tooltip", Tooltip({{"series", "worker", ""},
                                      {contest.field, contest.noun, ""},
                                      {"batch", "batch", ""},
                                      {"speed_up", "times as fast", ".3~g"}})}}}};
  if (!between_workers) {
    bars["encoding"]["opacity"] = {{"field", contest.field},
                                   {"type", "ordinal"},
                                   {"title", contest.noun},
                                   {"scale", {{"range", {0.55, 1}}}}};
    bars["encoding"]["xOffset"] = {{"field", "side"}, {"type", "nominal"}};
    spec["transform"].push_back(
        {{"calculate", fmt::format("datum.series + ' ' + datum.{}", contest.field)},
         {"as", "side"}});
  }
  Json even = {{"mark", {{"type", "rule"}, {"strokeDash", {4, 4}}}},
               {"encoding", {{"y", {{"datum", 1}}}}}};
  spec["layer"] = Json::array({bars, even});
  return spec;
}

}  // namespace

void AddSpeedUpCharts(const ReportData& data, ChartSet& set) {
  for (const Contest& contest : Contests()) {
    if (contest.grouping == kGroupMachines && !data.ranking.several_machines) continue;
    std::vector<ChartChoice> choices = ContestChoices(data, contest);
    if (choices.empty()) continue;
    set.charts.push_back({contest.id, "batch", contest.tab,
                          fmt::format("Speed-up over the chosen {0}: its time per image divided by "
                                      "the others'. Points above the dashed line are faster.",
                                      contest.noun),
                          SpeedUpSpec(data, contest), std::move(choices)});
  }
}

}  // namespace tench
