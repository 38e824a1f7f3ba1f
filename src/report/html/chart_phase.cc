// SPDX-License-Identifier: Apache-2.0
// Forward, backward and update of a train step, as differences of the measured phases.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "report/html/charts.h"

namespace tench {
namespace {

struct Parts {
  std::string series;
  std::map<Phase, double> image_ns;
};

// (name, nanoseconds per image, place in the stack)
using Part = std::tuple<std::string, double, int>;

std::vector<Part> Stack(const std::map<Phase, double>& image_ns) {
  const auto of = [&](Phase phase) -> std::optional<double> {
    const auto found = image_ns.find(phase);
    return found == image_ns.end() ? std::nullopt : std::optional(found->second);
  };
  const auto forward = of(Phase::kForward), gradient = of(Phase::kGradient),
             train = of(Phase::kTrain);
  std::vector<Part> parts;
  double below = 0;
  const auto add = [&](const char* name, double until, int place) {
    // Noise can make a containing phase the shorter one.
    parts.emplace_back(name, std::max(0.0, until - below), place);
    below = std::max(below, until);
  };
  if (forward) add("forward", *forward, 0);
  if (gradient) add(forward ? "backward" : "forward and backward", *gradient, forward ? 1 : 3);
  if (train) add(gradient ? "update" : "backward and update", *train, gradient ? 2 : 4);
  return parts;
}

}  // namespace

void AddPhaseChart(const ReportData& data, ChartSet& set) {
  std::map<std::pair<int64_t, std::string>, Parts> stacks;
  for (const ReportCell& cell : data.cells) {
    if (!cell.measured()) continue;
    Parts& parts = stacks[{cell.group[kGroupPhases], cell.series}];
    parts.series = cell.series;
    parts.image_ns[cell.cell.phase()] = cell.ImageNs();
  }
  DataTable table({"series", "part", "image_ms", "place", std::string(ColumnOf(kGroupPhases))});
  std::set<std::string> present;
  for (const auto& [key, parts] : stacks) {
    if (parts.image_ns.size() < 2) continue;
    for (const auto& [name, image_ns, place] : Stack(parts.image_ns)) {
      table.Add({parts.series, name, ChartNumber(image_ns / 1e6), place, key.first});
      present.insert(name);
    }
  }
  if (table.size() == 0) return;
  set.data.emplace("phases", std::move(table));
  Json spec = SpecFrame("phases", Json::array({{{"filter", GroupFilter(kGroupPhases)}}}));
  spec["height"] = {{"step", 34}};
  spec.erase("autosize");  // incompatible with a step height
  constexpr std::array<std::pair<const char*, const char*>, 5> kParts = {
      {{"forward", "#3b7dd8"},
       {"backward", "#e4572e"},
       {"update", "#d9a400"},
       {"forward and backward", "#8a6d4b"},
       {"backward and update", "#c2456f"}}};
  Json names = Json::array(), colours = Json::array();
  for (const auto& [name, colour] : kParts) {
    if (!present.contains(name)) continue;
    names.push_back(name);
    colours.push_back(colour);
  }
  spec["mark"] = {{"type", "bar"}, {"height", {{"band", 0.7}}}};
  spec["encoding"] = {{"y",
                       {{"field", "series"},
                        {"type", "nominal"},
                        {"title", nullptr},
                        {"sort", {{"field", "image_ms"}, {"op", "sum"}, {"order", "ascending"}}}}},
                      {"x",
                       {{"field", "image_ms"},
                        {"type", "quantitative"},
                        {"title", "milliseconds per image"},
                        {"stack", "zero"}}},
                      {"color",
                       {{"field", "part"},
                        {"type", "nominal"},
                        {"title", nullptr},
                        {"scale", {{"domain", names}, {"range", colours}}}}},
                      {"order", {{"field", "place"}, {"type", "quantitative"}}},
                      {"tooltip", Tooltip({{"series", "worker", ""},
                                           {"part", "part", ""},
                                           {"image_ms", "ms per image", ".4~g"}})}};
  const auto phase = [](const ReportCell& cell) {
    return cell.measured() ? cell.cell.Text(kAxisPhase) : std::string();
  };
  set.charts.push_back({"phases", "inside", "Forward, backward, update",
                        "Differences of separately measured phases: backward = gradient - forward, "
                        "update = train - gradient. The forward phase is inference, so additional "
                        "work of the training forward pass counts as backward.",
                        std::move(spec), GroupChoices(data, kGroupPhases, 2, phase)});
}

}  // namespace tench
