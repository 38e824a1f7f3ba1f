// SPDX-License-Identifier: Apache-2.0
#include "report/terminal.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "base/text.h"
#include "report/group_answer.h"
#include "report/row_text.h"
#include "report/run_text.h"
#include "report/text_table.h"

namespace tench {
namespace {

constexpr std::string_view kBold = "\033[1m", kRed = "\033[31m", kDim = "\033[2m",
                           kPlain = "\033[0m";

struct Column {
  std::string name;
  Align align;
  std::string RowText::*text;
  int importance;  // a narrow terminal drops the least important columns first
};

constexpr int kMostImportant = 20;
constexpr int kFlopsImportance = 4, kParityImportance = 6, kStepsImportance = 8;

template <class Predicate>
bool AnyMeasured(const Ranking& ranking, Predicate holds) {
  return std::any_of(ranking.groups.begin(), ranking.groups.end(), [&](const RankGroup& group) {
    return std::any_of(group.rows.begin(), group.rows.end(),
                       [&](const RankRow& row) { return row.measured() && holds(row); });
  });
}

bool HasParity(const Ranking& ranking) {
  return AnyMeasured(ranking, [](const RankRow& row) { return row.parity_error.has_value(); });
}

bool ShowsLatency(const RankGroup& group) {
  return std::any_of(group.rows.begin(), group.rows.end(),
                     [](const RankRow& row) { return row.latency.has_value(); });
}

// "10 steps × 5 rounds", or ranges over the measured rows, where a narrow table lacks the columns.
std::string StepsAndRounds(const RankGroup& group) {
  std::vector<RoundTime> times;
  size_t least = SIZE_MAX, most = 0;
  for (const RankRow& row : group.rows) {
    if (!row.measured()) continue;
    times.insert(times.end(), row.times.begin(), row.times.end());
    least = std::min(least, row.times.size());
    most = std::max(most, row.times.size());
  }
  const std::string rounds =
      least == most ? fmt::format("{}", most) : fmt::format("{}–{}", least, most);
  return fmt::format("{} steps × {} rounds", StepsText(times), rounds);
}

std::vector<Column> ColumnsOf(const Ranking& ranking, const RankGroup& group) {
  const bool ranks = !ranking.by.has_value();
  std::vector<Column> columns;
  if (ranks) columns.push_back({"#", Align::kRight, &RowText::rank, 9});
  const std::string varies = ranks                      ? "worker"
                             : ranking.by == kByMachine ? kMachineAxis
                                                        : Axes()[*ranking.by].name;
  columns.push_back({varies, Align::kLeft, &RowText::name, kMostImportant});
  columns.push_back({"time/image", Align::kRight, &RowText::image_time, kMostImportant});
  columns.push_back({"× best", Align::kRight, &RowText::ratio, 19});
  columns.push_back({"95 %", Align::kRight, &RowText::interval, 15});
  columns.push_back({"verdict", Align::kLeft, &RowText::verdict, 18});
  if (ShowsLatency(group)) {
    columns.push_back({"p50", Align::kRight, &RowText::p50, 17});
    columns.push_back({"p90", Align::kRight, &RowText::p90, 10});
    columns.push_back({"p99", Align::kRight, &RowText::p99, 16});
  }
  if (AnyMeasured(ranking, [](const RankRow& row) { return row.end_to_end_ns.has_value(); })) {
    if (AnyMeasured(ranking, [](const RankRow& row) { return row.loading_ns.has_value(); }))
      columns.push_back({"load/image", Align::kRight, &RowText::loading, 9});
    columns.push_back({"input/image", Align::kRight, &RowText::exposed, 10});
    columns.push_back({"end to end", Align::kRight, &RowText::end_to_end, 17});
  }
  columns.push_back({"images/s", Align::kRight, &RowText::images_per_s, 14});
  columns.push_back({"time/step", Align::kRight, &RowText::step_time, 5});
  columns.push_back({"GFLOP/s", Align::kRight, &RowText::gflops_per_s, kFlopsImportance});
  if (HasParity(ranking))
    columns.push_back({"parity", Align::kRight, &RowText::parity_error, kParityImportance});
  if (ranking.price_per_hour)
    columns.push_back({"cost/M images", Align::kRight, &RowText::cost, 14});
  if (AnyMeasured(ranking, [](const RankRow& row) { return row.image_energy_j.has_value(); })) {
    columns.push_back({"energy/image", Align::kRight, &RowText::energy, 13});
    columns.push_back({"idle share", Align::kRight, &RowText::idle_energy, 6});
  }
  columns.push_back({"peak memory", Align::kRight, &RowText::peak_memory, 12});
  columns.push_back({"before build", Align::kRight, &RowText::before_build, 2});
  if (AnyMeasured(ranking, [](const RankRow& row) { return row.first_step_ns.has_value(); }))
    columns.push_back({"first step", Align::kRight, &RowText::first_step, 1});
  if (AnyMeasured(ranking, [](const RankRow& row) { return row.tune_ns.has_value(); })) {
    columns.push_back({"tuning", Align::kRight, &RowText::tuning, 4});
    columns.push_back({"pays after", Align::kRight, &RowText::pays_after, 1});
  }
  columns.push_back({LossTitle(group), Align::kRight, &RowText::loss, 1});
  columns.push_back({"median/image", Align::kRight, &RowText::median_time, 3});
  columns.push_back({"steps", Align::kRight, &RowText::steps, kStepsImportance});
  columns.push_back({"window", Align::kRight, &RowText::window, 4});
  columns.push_back({"rounds", Align::kRight, &RowText::rounds, 11});
  columns.push_back({"outcome", Align::kLeft, &RowText::outcome, 7});
  columns.push_back({"flags", Align::kLeft, &RowText::flags, 13});
  return columns;
}

class TextReport {
 public:
  TextReport(const Ranking& ranking, const TextOptions& options)
      : ranking_(ranking), options_(options) {}

  std::string Render() {
    for (const std::string& line : StudyLines(ranking_)) Line(kDim, line);
    const int least_of_latency = LeastImportanceThatFits(true),
              least_of_others = LeastImportanceThatFits(false);
    int least_of_all = kMostImportant;
    std::vector<std::string> omitted;
    for (bool first = true; const RankGroup& group : ranking_.groups) {
      if (std::none_of(group.rows.begin(), group.rows.end(),
                       [](const RankRow& row) { return row.measured(); }))
        continue;
      const int least = ShowsLatency(group) ? least_of_latency : least_of_others;
      least_of_all = std::min(least_of_all, least);
      if (!first || !out_.empty()) out_ += '\n';
      first = false;
      Line(kBold, GroupTitle(ranking_, group));
      Line(kDim, "on the clock: " +
                     (ranking_.by == size_t{kAxisPhase} ? "the phase of each row"
                                                        : OnTheClock(group.cell)) +
                     (least > kStepsImportance ? "; " + StepsAndRounds(group) : ""));
      if (!ranking_.by) Line("", AnswerText(ranking_, group));
      if (options_.markdown) {
        out_ += '\n' + Table(group, least).RenderMarkdown();
      } else {
        out_ += Table(group, least).Render(options_.width, 2);
      }
      for (const Column& column : ColumnsOf(ranking_, group)) {
        const bool known = std::find(omitted.begin(), omitted.end(), column.name) != omitted.end();
        if (column.importance < least && !known) omitted.push_back(column.name);
      }
    }
    if (!omitted.empty()) out_ += '\n' + WrapText(OmittedLine(omitted), options_.width, 2);
    if (HasVerdictsAcrossStudies())
      Line(kDim, "* not interleaved: rounds of different studies are paired by number");
    AppendTrainings();
    AppendMeanings(least_of_all);
    AppendFailures();
    if (ranking_.groups.empty()) out_ += "no runs\n";
    return std::move(out_);
  }

 private:
  TextTable Table(const RankGroup& group, int least_importance) const {
    std::vector<Column> columns = ColumnsOf(ranking_, group);
    std::erase_if(columns,
                  [&](const Column& column) { return column.importance < least_importance; });
    std::vector<TextColumn> heads;
    for (const Column& column : columns) heads.push_back({column.name, column.align});
    TextTable table(heads);
    for (const RankRow& row : group.rows) {
      if (!row.measured()) continue;
      const RowText text = TextOf(ranking_, group, row);
      std::vector<std::string> cells;
      for (const Column& column : columns) cells.push_back(text.*column.text);
      table.AddRow(std::move(cells));
    }
    return table;
  }

  // Without a target, and without energy, the columns of these have no text.
  static TextTable TrainingsTable(const std::vector<TrainingText>& texts) {
    struct Part {
      TextColumn column;
      std::string TrainingText::*text;
    };
    std::vector<Part> parts = {{{"worker"}, &TrainingText::worker},
                               {{"reached", Align::kRight, 4}, &TrainingText::reached},
                               {{"time to target", Align::kRight}, &TrainingText::seconds},
                               {{"epochs", Align::kRight, 1}, &TrainingText::epochs},
                               {{"energy", Align::kRight, 5}, &TrainingText::energy},
                               {{"top-1", Align::kRight}, &TrainingText::top1},
                               {{"top-5", Align::kRight, 6}, &TrainingText::top5},
                               {{"loss", Align::kRight, 3}, &TrainingText::loss},
                               {{"evaluation", Align::kRight, 7}, &TrainingText::evaluation},
                               {{"runs", Align::kRight, 2}, &TrainingText::runs}};
    std::erase_if(parts, [&](const Part& part) {
      return std::all_of(texts.begin(), texts.end(),
                         [&](const TrainingText& text) { return (text.*part.text).empty(); });
    });
    std::vector<TextColumn> columns;
    for (const Part& part : parts) columns.push_back(part.column);
    TextTable table(columns);
    for (const TrainingText& text : texts) {
      std::vector<std::string> cells;
      for (const Part& part : parts) cells.push_back(text.*part.text);
      table.AddRow(std::move(cells));
    }
    return table;
  }

  void AppendTrainings() {
    const std::vector<TrainingRow>& rows = ranking_.trainings;
    for (size_t i = 0; i < rows.size();) {
      if (!out_.empty()) out_ += '\n';
      Line(kBold, TrainingTitle(rows[i]));
      std::vector<TrainingText> texts;
      for (const size_t first = i; i < rows.size() && SameTraining(rows[first], rows[i]); ++i)
        texts.push_back(TextOf(rows[i]));
      TextTable table = TrainingsTable(texts);
      if (options_.markdown) {
        out_ += '\n' + table.RenderMarkdown();
        continue;
      }
      const std::vector<std::string> omitted = table.Fit(options_.width, 2);
      out_ += table.Render(options_.width, 2);
      if (!omitted.empty()) out_ += WrapText(OmittedLine(omitted), options_.width, 2);
    }
    if (!rows.empty()) Line(kDim, kTrainingMeaning);
  }

  bool HasVerdictsAcrossStudies() const {
    return std::any_of(ranking_.groups.begin(), ranking_.groups.end(), [](const RankGroup& group) {
      return std::any_of(group.rows.begin(), group.rows.end(),
                         [](const RankRow& row) { return row.against_best && !row.interleaved; });
    });
  }

  bool Fits(bool with_latency, int least_importance) const {
    for (const RankGroup& group : ranking_.groups) {
      if (ShowsLatency(group) != with_latency) continue;
      const std::vector<std::string> lines =
          Split(Table(group, least_importance).Render(0, 2), '\n');
      if (std::any_of(lines.begin(), lines.end(),
                      [&](const std::string& line) { return TextWidth(line) > options_.width; }))
        return false;
    }
    return true;
  }

  // All tables of a kind show the same columns, so the widest one decides.
  int LeastImportanceThatFits(bool with_latency) const {
    if (options_.width == 0) return 0;
    int least = 0;
    while (least < kMostImportant && !Fits(with_latency, least)) ++least;
    return least;
  }

  // Explains flags and the shown columns once for all tables.
  void AppendMeanings(int least_importance) {
    std::set<std::string> flags;
    for (const RankGroup& group : ranking_.groups) {
      for (const RankRow& row : group.rows) flags.insert(row.flags.begin(), row.flags.end());
    }
    std::vector<std::string> meanings;
    for (const std::string& flag : flags) {
      if (const std::string_view meaning = FlagMeaning(flag); !meaning.empty())
        meanings.push_back(fmt::format("{}: {}", flag, meaning));
    }
    if (kParityImportance >= least_importance && HasParity(ranking_))
      meanings.emplace_back(kParityMeaning);
    if (kFlopsImportance >= least_importance &&
        AnyMeasured(ranking_, [](const RankRow& row) { return row.flops_effective; }))
      meanings.emplace_back(kEffectiveMeaning);
    for (const auto& [worker, limit] : ranking_.limits.texts())
      meanings.push_back(LimitText(worker, limit));
    if (!meanings.empty()) out_ += '\n';
    for (const std::string& meaning : meanings) Line(kDim, meaning);
  }

  void AppendFailures() {
    const int64_t count = ranking_.FailedRows();
    if (count == 0) return;
    if (!out_.empty()) out_ += '\n';
    Line(kBold, fmt::format("{} cell{} with failed runs", count, count == 1 ? "" : "s"));
    for (const RankGroup& group : ranking_.groups) {
      for (const RankRow& row : group.rows) {
        if (!row.HasFailed()) continue;
        Line("", "  " + CellTitle(ranking_, group, row));
        Line(kRed, "      " + FailureTitle(row) +
                       (row.reason.empty() ? "" : ": " + PlainLine(row.reason)));
        if (!row.reproducer.empty()) Command(PlainLine(row.reproducer));
      }
    }
  }

  void Line(std::string_view colour, std::string_view text) {
    const size_t indent = std::min(text.find_first_not_of(' '), text.size());
    if (options_.markdown) {
      const std::string_view mark = colour == kBold ? "### " : indent > 2 ? "  - " : "- ";
      out_ += fmt::format("{}{}\n{}", mark, text.substr(indent), colour == kBold ? "\n" : "");
      return;
    }
    Coloured(colour, WrapText(text, options_.width, indent + 2));
  }

  // Commands are not broken, so that they can be copied.
  void Command(const std::string& command) {
    if (options_.markdown) {
      out_ += fmt::format("  - `{}`\n", command);
    } else {
      Coloured(kDim, "      " + command);
    }
  }

  void Coloured(std::string_view colour, std::string_view text) {
    const bool coloured = options_.colour && !colour.empty();
    if (coloured) out_ += colour;
    out_ += text;
    if (coloured) out_ += kPlain;
    out_ += '\n';
  }

  const Ranking& ranking_;
  const TextOptions options_;
  std::string out_;
};

}  // namespace

std::string RenderText(const Ranking& ranking, const TextOptions& options) {
  return TextReport(ranking, options).Render();
}

}  // namespace tench
