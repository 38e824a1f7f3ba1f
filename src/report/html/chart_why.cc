// SPDX-License-Identifier: Apache-2.0
// The difference between two profiled workers: a waterfall by kernel group, and the layers with the
// largest differences.
#include <algorithm>

#include "base/text.h"
#include "profile/alignment.h"
#include "profile/cause.h"
#include "report/html/charts.h"

namespace tench {
namespace {

constexpr size_t kMostLayers = 25;
constexpr double kMs = 1e-6;

// Two profiles of one group, the faster one first.
struct ProfiledPair {
  const CellProfile* a;
  const CellProfile* b;
};

std::vector<ProfiledPair> Pairs(const ReportData& data) {
  std::vector<ProfiledPair> pairs;
  for (size_t i = 0; i < data.profiles.size(); ++i) {
    for (size_t j = i + 1; j < data.profiles.size(); ++j) {
      const CellProfile &x = data.profiles[i], &y = data.profiles[j];
      if (x.group != y.group) continue;
      pairs.push_back(x.step_ns <= y.step_ns ? ProfiledPair{&x, &y} : ProfiledPair{&y, &x});
    }
  }
  return pairs;
}

ProfiledSide SideOf(const CellProfile& profile) {
  return {profile.series, profile.census, profile.step_ns};
}

// Floating bars from the step of a to the step of b.
void AddWaterfall(int64_t pair, const Alignment& alignment, DataTable& table) {
  double level = 0;
  int64_t place = 0;
  const auto add = [&](const std::string& part, double from, double to, const char* kind) {
    table.Add({pair, place++, part, from * kMs, to * kMs, (to - from) * kMs, kind});
  };
  add(alignment.a_name, 0, alignment.a_step_ns, "step");
  level = alignment.a_step_ns;
  const auto change = [&](const std::string& part, double difference) {
    if (difference == 0) return;
    add(part, level, level + difference, difference > 0 ? "slower" : "faster");
    level += difference;
  };
  for (const GroupTime& group : alignment.groups) change(Name(group.group), group.difference_ns());
  change("remainder", alignment.b_remainder_ns() - alignment.a_remainder_ns());
  add(alignment.b_name, 0, alignment.b_step_ns, "step");
}

void AddLayers(int64_t pair, const Alignment& alignment, DataTable& table) {
  for (size_t i = 0; i < std::min(kMostLayers, alignment.rows.size()); ++i) {
    const AlignedRow& row = alignment.rows[i];
    const std::string name =
        fmt::format("{} {}{}", row.layer.empty() ? "(none)" : row.layer, row.direction,
                    row.group == KernelGroup::kConversion ? " (copies)" : "");
    for (const bool is_a : {true, false}) {
      const KernelShare& share = is_a ? row.a : row.b;
      table.Add({pair, static_cast<int64_t>(i), name, is_a ? alignment.a_name : alignment.b_name,
                 share.time_ns * kMs, row.difference_ns() * kMs, Name(row.group),
                 share.implementation});
    }
  }
}

Json WaterfallSpec() {
  Json spec = SpecFrame("why_groups", Json::array({{{"filter", "datum.pair === group"}}}));
  spec["height"] = {{"step", 26}};
  spec.erase("autosize");  // incompatible with a step height
  spec["mark"] = {{"type", "bar"}, {"height", {{"band", 0.7}}}};
  spec["encoding"] = {
      {"y",
       {{"field", "part"},
        {"type", "nominal"},
        {"title", nullptr},
        {"sort", {{"field", "place"}, {"op", "min"}, {"order", "ascending"}}}}},
      {"x", {{"field", "from_ms"}, {"type", "quantitative"}, {"title", "milliseconds per step"}}},
      {"x2", {{"field", "to_ms"}}},
      {"color",
       {{"field", "kind"},
        {"type", "nominal"},
        {"title", nullptr},
        {"scale",
         {{"domain", {"step", "slower", "faster"}},
          {"range", {"#8a939b", "#e4572e", "#2a9d6f"}}}}}},
      {"tooltip",
       Tooltip({{"part", "part", ""}, {"change_ms", "milliseconds per step", "+.4~g"}})}};
  return spec;
}

Json LayerSpec(const ReportData& data) {
  Json spec = SpecFrame("why_layers", Json::array({{{"filter", "datum.pair === group"}}}));
  spec["height"] = {{"step", 12}};
  spec.erase("autosize");
  spec["mark"] = {{"type", "bar"}};
  spec["encoding"] = {
      {"y",
       {{"field", "layer"},
        {"type", "nominal"},
        {"title", nullptr},
        {"sort", {{"field", "place"}, {"op", "min"}, {"order", "ascending"}}}}},
      {"yOffset", {{"field", "series"}, {"type", "nominal"}}},
      {"x", {{"field", "time_ms"}, {"type", "quantitative"}, {"title", "milliseconds per step"}}},
      {"color", SeriesColour(data)},
      {"tooltip", Tooltip({{"layer", "layer", ""},
                           {"series", "worker", ""},
                           {"time_ms", "ms per step", ".4~g"},
                           {"difference_ms", "difference in ms", "+.4~g"},
                           {"group", "group", ""},
                           {"kernel", "kernel", ""}})}};
  return spec;
}

}  // namespace

void AddWhyCharts(const ReportData& data, ChartSet& set) {
  DataTable groups({"pair", "place", "part", "from_ms", "to_ms", "change_ms", "kind"});
  DataTable layers(
      {"pair", "place", "layer", "series", "time_ms", "difference_ms", "group", "kernel"});
  std::vector<ChartChoice> choices;
  for (const ProfiledPair& pair : Pairs(data)) {
    const Alignment alignment = AlignProfiles(SideOf(*pair.a), SideOf(*pair.b));
    const auto number = static_cast<int64_t>(choices.size());
    AddWaterfall(number, alignment, groups);
    AddLayers(number, alignment, layers);
    std::vector<std::string> causes;
    for (const Cause& cause : LeadingCauses(alignment, 3)) causes.push_back(cause.sentence);
    choices.push_back({pair.a->title,
                       fmt::format("{} and {}", pair.a->series, pair.b->series),
                       {{"group", number}},
                       Join(causes, ". ") + (causes.empty() ? "" : ".")});
  }
  if (choices.empty()) return;
  set.data.emplace("why_groups", std::move(groups));
  set.data.emplace("why_layers", std::move(layers));
  set.charts.push_back(
      {"why", "why", "Waterfall",
       "The step of the faster worker, the difference of every kernel group, and the step of the "
       "slower worker, all of profiled runs. The remainder is the step without its kernels: the "
       "framework's gap and idle threads.",
       WaterfallSpec(), choices});
  set.charts.push_back({"why-layers", "why", "Layers",
                        "The layers and directions with the largest differences. A layer that a "
                        "worker fuses into another has no bar of its own.",
                        LayerSpec(data), std::move(choices)});
}

}  // namespace tench
