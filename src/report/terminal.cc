// SPDX-License-Identifier: Apache-2.0
#include "report/terminal.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "base/text.h"
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

constexpr int kMostImportant = 9;

std::vector<Column> ColumnsOf(const Ranking& ranking) {
  const bool ranks = !ranking.by.has_value();
  std::vector<Column> columns;
  if (ranks) columns.push_back({"#", Align::kRight, &RowText::rank, 5});
  const std::string varies = ranks                      ? "worker"
                             : ranking.by == kByMachine ? kMachineAxis
                                                        : Axes()[*ranking.by].name;
  columns.push_back({varies, Align::kLeft, &RowText::name, kMostImportant});
  columns.push_back({"time/image", Align::kRight, &RowText::image_time, kMostImportant});
  columns.push_back({"95 %", Align::kRight, &RowText::interval, 6});
  columns.push_back({"× best", Align::kRight, &RowText::ratio, 8});
  columns.push_back({"verdict", Align::kLeft, &RowText::verdict, 7});
  columns.push_back({"images/s", Align::kRight, &RowText::images_per_s, 7});
  columns.push_back({"time/step", Align::kRight, &RowText::step_time, 3});
  columns.push_back({"GFLOP/s", Align::kRight, &RowText::gflops_per_s, 2});
  columns.push_back({"peak memory", Align::kRight, &RowText::peak_memory, 4});
  columns.push_back({"loss", Align::kRight, &RowText::loss, 1});
  columns.push_back({"outcome", Align::kLeft, &RowText::outcome, 7});
  columns.push_back({"flags", Align::kLeft, &RowText::flags, 6});
  return columns;
}

class TextReport {
 public:
  TextReport(const Ranking& ranking, const TextOptions& options)
      : ranking_(ranking), options_(options) {}

  std::string Render() {
    for (const std::string& line : StudyLines(ranking_)) Line(kDim, line);
    int least = 0;
    for (bool first = true; const RankGroup& group : ranking_.groups) {
      if (std::none_of(group.rows.begin(), group.rows.end(),
                       [](const RankRow& row) { return row.rank > 0; }))
        continue;
      if (first) least = LeastImportanceThatFits();
      if (!first || !out_.empty()) out_ += '\n';
      first = false;
      Line(kBold, GroupTitle(ranking_, group));
      Line(kDim, "on the clock: " + (ranking_.by == size_t{kAxisPhase} ? "the phase of each row"
                                                                       : OnTheClock(group.cell)));
      out_ += Table(group, least).Render(options_.width, 2);
    }
    if (HasVerdictsAcrossStudies())
      Line(kDim,
           "* not measured side by side: rounds of different studies were paired by their number");
    AppendMeanings();
    AppendFailures();
    if (ranking_.groups.empty()) out_ += "no runs\n";
    return std::move(out_);
  }

 private:
  TextTable Table(const RankGroup& group, int least_importance) const {
    std::vector<Column> columns = ColumnsOf(ranking_);
    std::erase_if(columns,
                  [&](const Column& column) { return column.importance < least_importance; });
    std::vector<TextColumn> heads;
    for (const Column& column : columns) heads.push_back({column.name, column.align});
    TextTable table(heads);
    for (const RankRow& row : group.rows) {
      if (row.rank == 0) continue;
      const RowText text = TextOf(ranking_, group, row);
      std::vector<std::string> cells;
      for (const Column& column : columns) cells.push_back(text.*column.text);
      table.AddRow(std::move(cells));
    }
    return table;
  }

  bool HasVerdictsAcrossStudies() const {
    return std::any_of(ranking_.groups.begin(), ranking_.groups.end(), [](const RankGroup& group) {
      return std::any_of(group.rows.begin(), group.rows.end(),
                         [](const RankRow& row) { return row.against_best && !row.interleaved; });
    });
  }

  bool Fits(int least_importance) const {
    for (const RankGroup& group : ranking_.groups) {
      const std::vector<std::string> lines =
          Split(Table(group, least_importance).Render(0, 2), '\n');
      if (std::any_of(lines.begin(), lines.end(),
                      [&](const std::string& line) { return TextWidth(line) > options_.width; }))
        return false;
    }
    return true;
  }

  // All tables show the same columns, so the widest table decides.
  int LeastImportanceThatFits() const {
    if (options_.width == 0) return 0;
    int least = 0;
    while (least < kMostImportant && !Fits(least)) ++least;
    return least;
  }

  // Explains flags once for all tables.
  void AppendMeanings() {
    std::set<std::string> flags;
    for (const RankGroup& group : ranking_.groups) {
      for (const RankRow& row : group.rows) flags.insert(row.flags.begin(), row.flags.end());
    }
    bool first = true;
    for (const std::string& flag : flags) {
      const std::string_view meaning = FlagMeaning(flag);
      if (meaning.empty()) continue;
      if (std::exchange(first, false)) out_ += '\n';
      Line(kDim, fmt::format("{}: {}", flag, meaning));
    }
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
        if (!row.reproducer.empty()) Line(kDim, "      " + PlainLine(row.reproducer));
      }
    }
  }

  void Line(std::string_view colour, std::string_view text) {
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
