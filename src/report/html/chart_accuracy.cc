// SPDX-License-Identifier: Apache-2.0
// Accuracy on the test split against training time and against epochs: the newest run of each cell.
#include "report/html/charts.h"

namespace tench {
namespace {

bool HasAccuracy(const ReportCell& cell) {
  return !cell.series_data.evaluations.empty() &&
         cell.series_data.evaluations.back().top1.has_value() &&
         cell.row.outcome != Outcome::kWrong;
}

Json AccuracySpec(const ReportData& data, const std::string& x_field, const std::string& x_title) {
  Json spec = SpecFrame("accuracy", Json::array({{{"filter", GroupFilter(kGroupWorkers)}}}));
  const Json x = {{"field", x_field}, {"type", "quantitative"}, {"title", x_title}};
  const Json y = {{"field", "accuracy"},
                  {"type", "quantitative"},
                  {"title", "accuracy on the test split, %"},
                  {"scale", {{"zero", false}}}};
  const Json colour = SeriesColour(data);
  Json shape = SeriesShape(data);
  shape["legend"] = nullptr;
  const Json tooltip = Tooltip({{"series", "worker", ""},
                                {"accuracy", "accuracy, %", ".4~g"},
                                {"loss", "loss", ".4~g"},
                                {"seconds", "training, s", ".4~g"},
                                {"epoch", "epoch", ".4~g"},
                                {"step", "step", ","}});
  const Json lines = {{"mark", {{"type", "line"}, {"strokeWidth", 1.75}}},
                      {"encoding", {{"x", x}, {"y", y}, {"color", colour}}}};
  const Json points = {
      {"mark", {{"type", "point"}, {"strokeWidth", 1.5}, {"size", 36}}},
      {"encoding",
       {{"x", x}, {"y", y}, {"color", colour}, {"shape", shape}, {"tooltip", tooltip}}}};
  spec["layer"] = Json::array({lines, points});
  return spec;
}

}  // namespace

void AddAccuracyCharts(const ReportData& data, ChartSet& set) {
  DataTable table({"series", "step", "seconds", "epoch", "accuracy", "loss",
                   std::string(ColumnOf(kGroupWorkers))});
  bool epochs = true;
  for (const ReportCell& cell : data.cells) {
    if (!HasAccuracy(cell)) continue;
    for (const Evaluation& one : cell.series_data.evaluations) {
      epochs &= one.epochs.has_value();
      table.Add({cell.series, one.step, ChartNumber(static_cast<double>(one.train_ns) / 1e9),
                 ChartNumber(one.epochs), ChartNumber(100 * one.top1.value_or(0)),
                 ChartNumber(one.loss), cell.group[kGroupWorkers]});
    }
  }
  if (table.size() == 0) return;
  set.data.emplace("accuracy", std::move(table));
  const auto evaluated = [](const ReportCell& cell) {
    return HasAccuracy(cell) ? cell.series : std::string();
  };
  const std::string caption =
      "The newest run of each cell. Each marker is an evaluation of the whole test split.";
  set.charts.push_back({"accuracy-by-time", "accuracy", "Over time",
                        caption + " Training time is steps and exposed input, without evaluations.",
                        AccuracySpec(data, "seconds", "seconds of training"),
                        GroupChoices(data, kGroupWorkers, 1, evaluated)});
  if (!epochs) return;
  set.charts.push_back({"accuracy-by-epoch", "accuracy", "Over epochs",
                        caption + " Equal computations give nearly equal curves.",
                        AccuracySpec(data, "epoch", "epochs"),
                        GroupChoices(data, kGroupWorkers, 1, evaluated)});
}

}  // namespace tench
