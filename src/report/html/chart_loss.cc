// SPDX-License-Identifier: Apache-2.0
// Loss against epochs on a logarithmic axis: CPU dashed with hollow markers, GPU solid with filled
// markers.
#include <cmath>

#include "report/html/charts.h"

namespace tench {
namespace {

std::string UnitOf(const ReportCell& cell) {
  return cell.cell.Text(kAxisDevice) == "cpu" ? "CPU" : "GPU";
}

// Only the train phase changes weights. Diverged runs are shown; `wrong` ones never are.
bool HasCurve(const ReportCell& cell) {
  return cell.series_data.loss.size() > 1 && cell.row.outcome != Outcome::kWrong &&
         cell.cell.phase() == Phase::kTrain;
}

Json LossSpec(Grouping grouping, const Json& colour, const Json& detail) {
  Json spec = SpecFrame("loss", Json::array({{{"filter", GroupFilter(grouping)}}}));
  const Json x = LogAxis("epoch", "epochs");
  const Json y = {
      {"field", "loss"}, {"type", "quantitative"}, {"title", "loss"}, {"scale", {{"zero", false}}}};
  Json dash = {{"field", "unit"},
               {"type", "nominal"},
               {"title", nullptr},
               {"legend", nullptr},
               {"scale", {{"domain", {"CPU", "GPU"}}, {"range", Json::array({{5, 3}, {1, 0}})}}}};
  Json lines = {
      {"transform", Json::array({{{"filter", "datum.mark !== 'nan'"}}})},
      {"mark", {{"type", "line"}, {"strokeWidth", 1.75}}},
      {"encoding",
       {{"x", x}, {"y", y}, {"color", colour}, {"strokeDash", dash}, {"detail", detail}}}};
  const Json tooltip = Tooltip({{"series", "worker", ""},
                                {"label", "PU (batch)", ""},
                                {"epoch", "epoch", ".4~g"},
                                {"loss", "loss", ".5~g"}});
  Json points = {
      {"transform", Json::array({{{"filter", "datum.mark === null && datum.shown === 1"}}})},
      {"mark", {{"type", "point"}, {"strokeWidth", 1.5}, {"size", 36}, {"opacity", 1}}},
      {"encoding",
       {{"x", x},
        {"y", y},
        {"color", colour},
        {"tooltip", tooltip},
        {"fillOpacity",
         {{"condition", {{"test", "datum.unit === 'GPU'"}, {"value", 1}}}, {"value", 0}}},
        {"fill", colour}}}};
  // Not filtered: a layer without rows would leave its scales without an extent.
  Json marks = {
      {"mark", {{"type", "point"}, {"filled", true}, {"size", 110}, {"color", "#d92d20"}}},
      {"encoding",
       {{"x", x},
        {"y", y},
        {"opacity", {{"condition", {{"test", "datum.mark !== null"}, {"value", 1}}}, {"value", 0}}},
        {"shape",
         {{"field", "mark_text"},
          {"type", "nominal"},
          {"title", nullptr},
          {"scale",
           {{"domain", {"negative loss", "not a number"}},
            {"range", {"triangle-down", "cross"}}}}}}}}};
  spec["layer"] = Json::array({lines, points, marks});
  spec["resolve"] = {{"legend", {{"shape", "independent"}}}};
  return spec;
}

// A NaN has no y value: it is drawn at the last finite loss.
void AddCurve(const ReportCell& cell, DataTable& table) {
  const std::string label = fmt::format("{} ({}){}", UnitOf(cell), cell.cell.Integer(kAxisBatch),
                                        cell.series_data.epochs_known ? "" : ", x in steps");
  double last = 0;
  for (const LossPoint& point : cell.series_data.loss) {
    if (std::isfinite(point.loss)) {
      last = point.loss;
      break;
    }
  }
  size_t index = 0;
  for (const LossPoint& point : cell.series_data.loss) {
    const bool finite = std::isfinite(point.loss);
    if (finite) last = point.loss;
    const char* mark = !finite ? "nan" : point.loss < 0 ? "negative" : nullptr;
    table.Add({cell.series, label, UnitOf(cell), cell.cell.Integer(kAxisBatch),
               ChartNumber(point.epoch), ChartNumber(last), mark ? Json(mark) : Json(nullptr),
               !finite          ? "not a number"
               : point.loss < 0 ? "negative loss"
                                : "",
               index++ % 4 == 0 ? 1 : 0, cell.group[kGroupCurves], cell.group[kGroupWorkers]});
  }
}

}  // namespace

void AddLossCharts(const ReportData& data, ChartSet& set) {
  DataTable table({"series", "label", "unit", "batch", "epoch", "loss", "mark", "mark_text",
                   "shown", std::string(ColumnOf(kGroupCurves)),
                   std::string(ColumnOf(kGroupWorkers))});
  for (const ReportCell& cell : data.cells) {
    if (HasCurve(cell)) AddCurve(cell, table);
  }
  if (table.size() == 0) return;
  set.data.emplace("loss", std::move(table));
  const std::string caption =
      "The newest run of each cell, warm-up steps included. CPU dashed with hollow markers, GPU "
      "solid with filled ones. Where one batch stays resident every step is an epoch of it. "
      "Negative and undefined losses are marked in red.";
  const auto any_curve = [](const ReportCell& cell) {
    return HasCurve(cell) ? cell.series : std::string();
  };
  const Json label = {{"field", "label"},
                      {"type", "nominal"},
                      {"title", "PU (batch)"},
                      {"sort", {{"field", "batch"}}},
                      {"scale", {{"scheme", "tableau10"}}}};
  set.charts.push_back({"loss-by-batch", "loss", "By batch size", caption,
                        LossSpec(kGroupCurves, label, {{"field", "label"}}),
                        GroupChoices(data, kGroupCurves, 1, any_curve)});
  set.charts.push_back(
      {"loss-by-worker", "loss", "By worker",
       "Same weights, same data: the curves of all workers should coincide. " + caption,
       LossSpec(kGroupWorkers, SeriesColour(data), {{"field", "label"}}),
       GroupChoices(data, kGroupWorkers, 1, any_curve)});
}

}  // namespace tench
