// SPDX-License-Identifier: Apache-2.0
// Charts over the batch size: time per image, images per second and peak memory, one line per
// worker.
#include <set>

#include "report/html/charts.h"

namespace tench {
namespace {

std::vector<int64_t> Batches(const ReportData& data) {
  std::set<int64_t> batches;
  for (const ReportCell& cell : data.cells) batches.insert(cell.cell.Integer(kAxisBatch));
  return {batches.begin(), batches.end()};
}

std::string RankedBatch(const ReportCell& cell) {
  return cell.measured() ? std::to_string(cell.cell.Integer(kAxisBatch)) : "";
}

// A click on a worker in the legend fades the others.
Json LegendSelection() {
  return {{"name", "shown"},
          {"select", {{"type", "point"}, {"fields", Json::array({"series"})}}},
          {"bind", "legend"}};
}

Json Faded(double otherwise) {
  return {{"condition", {{"param", "shown"}, {"value", otherwise}}}, {"value", otherwise * 0.12}};
}

// The end of a whisker in nanoseconds. A row without an interval has a whisker of no length, since
// a layer without values would leave its scales without an extent.
std::string EndNs(std::string_view field) {
  return fmt::format("(isValid(datum.{0}) ? datum.{0} : datum.image_ns)", field);
}

Json LinesSpec(const ReportData& data, const std::string& value, const std::string& low,
               const std::string& high, const std::string& title) {
  const std::string filter =
      GroupFilter(kGroupBatches) + " && datum.outcome === 'ok' && isValid(datum.image_ns)";
  Json spec = SpecFrame(
      "cells", Json::array({{{"filter", filter}},
                            {{"calculate", "datum.image_ns / 1e6"}, {"as", "image_ms"}},
                            {{"calculate", EndNs("low") + " / 1e6"}, {"as", "low_ms"}},
                            {{"calculate", EndNs("high") + " / 1e6"}, {"as", "high_ms"}},
                            {{"calculate", "1e9 / " + EndNs("high")}, {"as", "rate_low"}},
                            {{"calculate", "1e9 / " + EndNs("low")}, {"as", "rate_high"}}}));
  const Json x = LogAxis("batch", "batch size", Batches(data));
  Json y = LogAxis(value, title);
  Json y_low = {
      {"field", low}, {"type", "quantitative"}, {"scale", {{"type", "log"}}}, {"title", title}};
  Json lines = {{"params", Json::array({LegendSelection()})},
                {"mark", "line"},
                {"encoding",
                 {{"x", x},
                  {"y", y},
                  {"color", SeriesColour(data)},
                  {"strokeDash", SeriesDash(data)},
                  {"opacity", Faded(1)}}}};
  Json points = {{"mark", {{"type", "point"}, {"filled", true}, {"size", 70}}},
                 {"encoding",
                  {{"x", x},
                   {"y", y},
                   {"color", SeriesColour(data)},
                   {"shape", SeriesShape(data)},
                   {"opacity", Faded(1)},
                   {"tooltip", Tooltip({{"series", "worker", ""},
                                        {"role", "role", ""},
                                        {"batch", "batch", ""},
                                        {"image_ms", "ms per image", ".4~g"},
                                        {"images_per_s", "images/s", ",.4~g"},
                                        {"ratio", "× fastest", ".3~g"}})}}}};
  Json bars = {{"mark", {{"type", "rule"}, {"strokeWidth", 1.5}}},
               {"encoding",
                {{"x", x},
                 {"y", y_low},
                 {"y2", {{"field", high}}},
                 {"color", SeriesColour(data)},
                 {"opacity", Faded(0.8)}}}};
  spec["layer"] = Json::array({bars, lines, points});
  return spec;
}

}  // namespace

void AddBatchCharts(const ReportData& data, ChartSet& set) {
  const std::vector<ChartChoice> choices = GroupChoices(data, kGroupBatches, 2, RankedBatch);
  if (choices.empty()) return;
  const std::string caption =
      "Both axes are logarithmic. Whiskers: the 95 % interval of the ratio to the fastest. Click a "
      "worker in the legend to single it out.";
  set.charts.push_back({"time-by-batch", "batch", "Time per image", "Less is better. " + caption,
                        LinesSpec(data, "image_ms", "low_ms", "high_ms", "milliseconds per image"),
                        choices});
  set.charts.push_back(
      {"rate-by-batch", "batch", "Images per second", "More is better. " + caption,
       LinesSpec(data, "images_per_s", "rate_low", "rate_high", "images per second"), choices});
}

void AddPeakMemoryChart(const ReportData& data, ChartSet& set) {
  const auto has_memory = [](const ReportCell& cell) {
    const bool shown =
        cell.row.outcome == Outcome::kOutOfMemory || (cell.measured() && cell.row.peak_rss_bytes);
    return shown ? std::to_string(cell.cell.Integer(kAxisBatch)) : std::string();
  };
  const std::vector<ChartChoice> choices = GroupChoices(data, kGroupBatches, 2, has_memory);
  if (choices.empty()) return;
  const std::string filter = GroupFilter(kGroupBatches) +
                             " && datum.memory_bytes !== null && (datum.outcome === 'ok' || "
                             "datum.outcome === 'out_of_memory')";
  Json spec = SpecFrame(
      "cells", Json::array({{{"filter", filter}},
                            {{"calculate", "datum.memory_bytes / 1048576"}, {"as", "mib"}}}));
  const Json x = LogAxis("batch", "batch size", Batches(data)),
             y = LogAxis("mib", "peak memory, MiB");
  Json lines = {
      {"transform", Json::array({{{"filter", "datum.outcome === 'ok'"}}})},
      {"mark", {{"type", "line"}, {"opacity", 0.7}}},
      {"encoding",
       {{"x", x}, {"y", y}, {"color", SeriesColour(data)}, {"strokeDash", SeriesDash(data)}}}};
  const Json states = Json::array({"ok", "swapped", "out of memory"});
  Json points = {
      {"mark", {{"type", "point"}, {"filled", false}, {"strokeWidth", 2}, {"opacity", 1}}},
      {"encoding",
       {{"x", x},
        {"y", y},
        {"color", SeriesColour(data)},
        {"shape",
         {{"field", "memory_state"},
          {"type", "nominal"},
          {"title", nullptr},
          {"scale", {{"domain", states}, {"range", {"circle", "triangle-up", "cross"}}}}}},
        {"size",
         {{"condition", {{"test", "datum.memory_state === 'ok'"}, {"value", 45}}}, {"value", 160}}},
        {"tooltip", Tooltip({{"series", "worker", ""},
                             {"batch", "batch", ""},
                             {"mib", "peak MiB", ",.0f"},
                             {"memory_state", "state", ""},
                             {"reason", "reason", ""}})}}}};
  spec["layer"] = Json::array({lines, points});
  set.charts.push_back(
      {"peak-memory", "memory", "Memory by batch size",
       "The largest resident set of the worker and its children during the run; logarithmic axes. "
       "Triangle: the run swapped. Cross: it ran out of memory; the last sample is shown.",
       std::move(spec), choices});
}

}  // namespace tench
