// SPDX-License-Identifier: Apache-2.0
// The roofline of profiled workers: a point per kernel under the measured ceilings.
#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "profile/roofline.h"
#include "report/html/charts.h"

namespace tench {
namespace {

constexpr double kGiga = 1e-9;
constexpr size_t kMostPoints = 200;  // of one profile

struct Range {
  double low = 1, high = 1;
  void Hold(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

// A line per ceiling over the range of intensities.
void AddCeilings(int64_t group, const std::vector<Ceiling>& ceilings, const Range& range,
                 DataTable& table) {
  const std::optional<double> arithmetic = ArithmeticCeiling(ceilings);
  if (!arithmetic) return;
  for (const Ceiling& ceiling : ceilings) {
    std::set<double> corners = {range.low, range.high};
    if (const double corner = ceiling.bytes_per_s > 0 ? *arithmetic / ceiling.bytes_per_s : 0;
        corner > range.low && corner < range.high)
      corners.insert(corner);
    for (const double intensity : corners)
      table.Add(
          {group, ceiling.name, intensity, AllowedBy(ceiling, intensity, *arithmetic) * kGiga});
  }
}

void AddPoints(int64_t group, const CellProfile& profile, Range& range, DataTable& table) {
  const std::vector<RooflinePoint> points = RooflineOf(profile.census);
  for (size_t i = 0; i < std::min(kMostPoints, points.size()); ++i) {
    const RooflinePoint& point = points[i];
    range.Hold(point.intensity);
    table.Add({group, profile.series, point.layer, point.direction, point.implementation,
               Name(point.group), point.intensity, point.flops_per_s * kGiga, point.step_ns / 1e6,
               point.bytes_from_shapes ? "from the shapes" : "reported"});
  }
}

Json RooflineSpec(const ReportData& data) {
  Json spec = SpecFrame("roofline", Json::array({{{"filter", "datum.group_number === group"}}}));
  const Json x = LogAxis("intensity", "FLOPs per byte"), y = LogAxis("gflops", "GFLOP/s");
  const Json points = {
      {"mark", {{"type", "point"}, {"filled", true}, {"opacity", 0.75}}},
      {"encoding",
       {{"x", x},
        {"y", y},
        {"color", SeriesColour(data)},
        {"shape", SeriesShape(data)},
        {"size", {{"field", "time_ms"}, {"type", "quantitative"}, {"legend", nullptr}}},
        {"tooltip", Tooltip({{"series", "worker", ""},
                             {"layer", "layer", ""},
                             {"direction", "direction", ""},
                             {"kernel", "kernel", ""},
                             {"intensity", "FLOPs per byte", ".4~g"},
                             {"gflops", "GFLOP/s", ".4~g"},
                             {"time_ms", "ms per step", ".4~g"},
                             {"bytes", "bytes", ""}})}}}};
  const Json lines = {
      {"data", {{"name", "ceilings"}}},
      {"transform", Json::array({{{"filter", "datum.group_number === group"}}})},
      {"mark", {{"type", "line"}, {"strokeDash", {4, 3}}, {"color", "#8a939b"}}},
      {"encoding",
       {{"x", x},
        {"y", y},
        {"detail", {{"field", "ceiling"}, {"type", "nominal"}}},
        {"tooltip", Tooltip({{"ceiling", "ceiling", ""}, {"gflops", "GFLOP/s", ".4~g"}})}}}};
  spec["layer"] = Json::array({lines, points});
  return spec;
}

}  // namespace

void AddRooflineChart(const ReportData& data, ChartSet& set) {
  std::map<std::string, std::vector<const CellProfile*>> groups;
  for (const CellProfile& profile : data.profiles) groups[profile.group].push_back(&profile);
  DataTable points({"group_number", "series", "layer", "direction", "kernel", "group", "intensity",
                    "gflops", "time_ms", "bytes"});
  DataTable lines({"group_number", "ceiling", "intensity", "gflops"});
  std::vector<ChartChoice> choices;
  for (const auto& [key, profiles] : groups) {
    const auto number = static_cast<int64_t>(choices.size());
    const size_t before = points.size();
    Range range;
    for (const CellProfile* profile : profiles) AddPoints(number, *profile, range, points);
    if (points.size() == before) continue;
    AddCeilings(number, profiles.front()->census.ceilings, range, lines);
    choices.push_back({profiles.front()->title, "", {{"group", number}}});
  }
  if (choices.empty()) return;
  set.data.emplace("roofline", std::move(points));
  set.data.emplace("ceilings", std::move(lines));
  set.charts.push_back(
      {"roofline", "why", "Roofline",
       "A point per kernel; its size is its time per step. Dashed: ceilings measured with the "
       "profile, of arithmetic per instruction set and of bandwidth per cache level. FLOPs are "
       "those of the op's definition, of which a Winograd or FFT convolution executes fewer: such "
       "a point may lie above the arithmetic ceiling. Where a worker reports no bytes, they are "
       "the least traffic by the shapes, so its true intensity may be lower.",
       RooflineSpec(data), std::move(choices)});
}

}  // namespace tench
