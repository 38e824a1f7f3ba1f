// SPDX-License-Identifier: Apache-2.0
// Loss against steps or epochs on a logarithmic axis: CPU dashed with hollow markers, GPU solid
// with filled markers.
#include <cmath>

#include "report/html/charts.h"
#include "report/html/loss_note.h"

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

// The parameter "epochs" selects the unit of the x axis.
Json LossSpec(Grouping grouping, const Json& colour, const Json& shape) {
  Json spec = SpecFrame(
      "loss", Json::array({{{"filter", GroupFilter(grouping)}},
                           {{"calculate", "epochs ? datum.epoch : datum.step"}, {"as", "at"}}}));
  spec["params"].push_back({{"name", "epochs"}, {"value", false}});
  const Json detail = {{"field", "label"}};
  const Json x = LogAxis("at", "steps");
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
                                {"step", "step", ","},
                                {"epoch", "epoch", ".4~g"},
                                {"loss", "loss", ".5~g"}});
  Json fill = colour;
  fill["legend"] = nullptr;  // the lines have it
  Json points = {
      {"transform", Json::array({{{"filter", "datum.mark === null && datum.shown === 1"}}})},
      {"mark", {{"type", "point"}, {"strokeWidth", 1.5}, {"size", 36}, {"opacity", 1}}},
      {"encoding",
       {{"x", x},
        {"y", y},
        {"color", colour},
        {"shape", shape},
        {"tooltip", tooltip},
        {"fillOpacity",
         {{"condition", {{"test", "datum.unit === 'GPU'"}, {"value", 1}}}, {"value", 0}}},
        {"fill", fill}}}};
  // Text, so that marks share no scale of shapes with the workers.
  Json marks = {
      {"mark", {{"type", "text"}, {"fontSize", 15}, {"color", "#d92d20"}, {"baseline", "middle"}}},
      {"encoding", {{"x", x}, {"y", y}, {"text", {{"field", "glyph"}}}}}};
  spec["layer"] = Json::array({lines, points, marks});
  return spec;
}

// A NaN has no y value: it is drawn at the last finite loss.
void AddCurve(const ReportCell& cell, DataTable& table) {
  const std::string label = fmt::format("{} ({})", UnitOf(cell), cell.cell.Integer(kAxisBatch));
  const std::optional<double> per_epoch = cell.series_data.steps_per_epoch;
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
               ChartNumber(point.step),
               per_epoch ? ChartNumber(point.step / *per_epoch) : Json(nullptr), ChartNumber(last),
               mark ? Json(mark) : Json(nullptr),
               !finite          ? "✖"
               : point.loss < 0 ? "▼"
                                : "",
               index++ % 4 == 0 ? 1 : 0, cell.group[kGroupCurves], cell.group[kGroupWorkers]});
  }
}

// Sets the unit of each choice's x axis: epochs, if all of its curves have them. `notes` also says
// whether curves of equal computations coincide, and why not.
void SetUnits(const ReportData& data, Grouping grouping, bool notes,
              std::vector<ChartChoice>& choices) {
  for (ChartChoice& choice : choices) {
    bool epochs = true;
    std::vector<const ReportCell*> curves;
    for (const ReportCell& cell : data.cells) {
      if (!HasCurve(cell) || choice.parameters["group"] != cell.group[grouping]) continue;
      epochs &= cell.series_data.steps_per_epoch.has_value();
      curves.push_back(&cell);
    }
    choice.parameters["epochs"] = epochs;
    choice.x_title = epochs ? "epochs" : "steps";
    if (notes) choice.note = LossNote(curves);
  }
}

}  // namespace

void AddLossCharts(const ReportData& data, ChartSet& set) {
  DataTable table({"series", "label", "unit", "batch", "step", "epoch", "loss", "mark", "glyph",
                   "shown", std::string(ColumnOf(kGroupCurves)),
                   std::string(ColumnOf(kGroupWorkers))});
  for (const ReportCell& cell : data.cells) {
    if (HasCurve(cell)) AddCurve(cell, table);
  }
  if (table.size() == 0) return;
  set.data.emplace("loss", std::move(table));
  const std::string caption =
      "The newest run of each cell, including warm-up steps. CPU: dashed, hollow markers. GPU: "
      "solid, filled markers. Red: negative (▼) and undefined (✖) losses.";
  const auto any_curve = [](const ReportCell& cell) {
    return HasCurve(cell) ? cell.series : std::string();
  };
  const Json label = {{"field", "label"},
                      {"type", "nominal"},
                      {"title", "PU (batch)"},
                      {"sort", {{"field", "batch"}}},
                      {"scale", {{"scheme", "tableau10"}}}};
  // The legends of colour and marker merge, because their field, title and order agree.
  Json marker = label;
  marker.erase("scale");
  std::vector<ChartChoice> by_batch = GroupChoices(data, kGroupCurves, 1, any_curve);
  SetUnits(data, kGroupCurves, false, by_batch);
  set.charts.push_back({"loss-by-batch", "loss", "By batch size", caption,
                        LossSpec(kGroupCurves, label, marker), std::move(by_batch)});
  std::vector<ChartChoice> by_worker = GroupChoices(data, kGroupWorkers, 1, any_curve);
  SetUnits(data, kGroupWorkers, true, by_worker);
  set.charts.push_back(
      {"loss-by-worker", "loss", "By worker", "Same weights, same data. " + caption,
       LossSpec(kGroupWorkers, SeriesColour(data), SeriesShape(data)), std::move(by_worker)});
}

}  // namespace tench
