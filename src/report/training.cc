// SPDX-License-Identifier: Apache-2.0
#include "report/training.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "base/text.h"
#include "report/row_text.h"
#include "stats/stats.h"

namespace tench {
namespace {

std::optional<TrainingFigure> FigureOf(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  TrainingFigure figure;
  figure.runs = static_cast<int64_t>(values.size());
  for (const double value : values) figure.mean += value / static_cast<double>(values.size());
  if (figure.runs < 2) return figure;
  double squares = 0;
  for (const double value : values) squares += (value - figure.mean) * (value - figure.mean);
  const double deviation = std::sqrt(squares / static_cast<double>(figure.runs - 1));
  const double half =
      StudentT975(figure.runs - 1) * deviation / std::sqrt(static_cast<double>(figure.runs));
  figure.low = figure.mean - half;
  figure.high = figure.mean + half;
  return figure;
}

template <class T>
void Put(std::vector<double>& values, const std::optional<T>& value) {
  if (value) values.push_back(static_cast<double>(*value));
}

// The mean, and half of the interval, each printed by `print`.
template <class Print>
std::string FigureText(const std::optional<TrainingFigure>& figure, Print print) {
  if (!figure) return "";
  std::string text = print(figure->mean);
  if (figure->high) text += " ± " + print(*figure->high - figure->mean);
  return text;
}

std::string PercentText(double share) { return fmt::format("{:.2f} %", 100 * share); }

}  // namespace

void TrainingTable::Add(const RunRecord& run) {
  const RunSummary& summary = run.summary;
  if (run.outcome != Outcome::kOk || summary.evaluations.empty()) return;
  Result<std::vector<Evaluation>> curve = DecodeEvaluations(summary.evaluations);
  if (!curve.ok() || curve->empty()) return;
  Cell shared = run.cell;
  shared.values[kAxisWorker] = Axes()[kAxisWorker].fallback;
  shared.values[kAxisSeed] = Axes()[kAxisSeed].fallback;
  shared.options.clear();
  const std::string key =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", run.machine_id, shared.Label(),
                  run.budget.test_data, run.budget.until, run.cell.Text(kAxisWorker),
                  run.worker_version, run.build, SettingsText(run.cell.options));
  State& state = rows_[key];
  TrainingRow& row = state.row;
  row.cell = std::move(shared);
  row.machine = run.machine;
  row.worker = run.cell.Text(kAxisWorker);
  row.worker_version = run.worker_version;
  row.build = run.build;
  row.options = run.cell.options;
  row.role = run.role_or_usual();
  row.test_data = run.budget.test_data;
  row.until = run.budget.until;
  row.samples = curve->back().samples;
  const size_t number = run.study > 0 ? 0 : state.runs.size();
  const auto [at, is_new] =
      state.runs.try_emplace({run.study, run.round, run.cell_id, number}, Counted());
  if (!is_new && at->second.repetition > run.repetition) return;
  at->second = {run.repetition,        run.cell.Integer(kAxisSeed), summary.target_ns,
                summary.evaluation_ns, summary.target_epochs,       summary.cpu_energy_j,
                summary.test_top1,     summary.test_top5,           summary.test_loss};
  row.curve = *std::move(curve);
}

std::vector<TrainingRow> TrainingTable::Finish() && {
  std::vector<TrainingRow> rows;
  for (auto& [key, state] : rows_) {
    TrainingRow& row = rows.emplace_back(std::move(state.row));
    std::set<int64_t> seeds;
    std::vector<double> target_ns, target_epochs, target_joules, top1, top5, loss, evaluation_ns;
    for (const auto& [id, run] : state.runs) {
      ++row.runs;
      seeds.insert(run.seed);
      Put(top1, run.top1);
      Put(top5, run.top5);
      Put(loss, run.loss);
      Put(evaluation_ns, run.evaluation_ns);
      if (!run.target_ns) continue;
      ++row.reached;
      Put(target_ns, run.target_ns);
      Put(target_epochs, run.target_epochs);
      Put(target_joules, run.joules);
    }
    row.seeds = static_cast<int64_t>(seeds.size());
    row.target_ns = FigureOf(target_ns);
    row.target_epochs = FigureOf(target_epochs);
    row.target_joules = FigureOf(target_joules);
    row.top1 = FigureOf(top1);
    row.top5 = FigureOf(top5);
    row.loss = FigureOf(loss);
    row.evaluation_ns = FigureOf(evaluation_ns);
  }
  rows_.clear();
  const auto fastest = [](const TrainingRow& row) {
    return row.target_ns ? row.target_ns->mean : HUGE_VAL;
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const TrainingRow& a, const TrainingRow& b) {
    const auto table = [](const TrainingRow& row) {
      return std::tie(row.machine, row.cell.values, row.test_data, row.until);
    };
    if (table(a) != table(b)) return table(a) < table(b);
    return std::tuple(fastest(a), a.worker) < std::tuple(fastest(b), b.worker);
  });
  return rows;
}

bool SameTraining(const TrainingRow& a, const TrainingRow& b) {
  return std::tie(a.machine, a.cell.values, a.test_data, a.until) ==
         std::tie(b.machine, b.cell.values, b.test_data, b.until);
}

TrainingText TextOf(const TrainingRow& row) {
  const auto time = [](double ns) { return HumanNs(ns); };
  const auto number = [](double value) { return fmt::format("{:.4g}", value); };
  TrainingText text;
  Cell cell = row.cell;
  cell.values[kAxisWorker] = row.worker;
  cell.options = row.options;
  text.worker = WorkerTitle(cell, row.worker_version, row.build);
  if (!row.until.empty()) text.reached = fmt::format("{}/{}", row.reached, row.runs);
  text.seconds = FigureText(row.target_ns, time);
  text.epochs = FigureText(row.target_epochs, number);
  text.energy =
      FigureText(row.target_joules, [](double joules) { return fmt::format("{:.1f} J", joules); });
  text.top1 = FigureText(row.top1, PercentText);
  text.top5 = FigureText(row.top5, PercentText);
  text.loss = FigureText(row.loss, number);
  text.evaluation = FigureText(row.evaluation_ns, time);
  text.runs = fmt::format("{}", row.runs);
  if (row.seeds > 1) text.runs += fmt::format(" ({} seeds)", row.seeds);
  return text;
}

std::string TrainingTitle(const TrainingRow& row) {
  const std::string title = SharedTitle(row.cell, {});
  return PlainLine(fmt::format("{}: {}{}, {} samples", title,
                               row.until.empty() ? "tested on " : row.until + " on ", row.test_data,
                               row.samples));
}

}  // namespace tench
