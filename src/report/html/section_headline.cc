// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "record/run_flag.h"
#include "report/html/markup.h"
#include "report/html/section.h"
#include "report/row_text.h"

namespace tench {
namespace {

constexpr size_t kMaxWinners = 60;

std::string Rate(double image_ns) {
  const double rate = image_ns > 0 ? 1e9 / image_ns : 0;
  return rate >= 100 ? fmt::format("{:.0f}", rate) : fmt::format("{:.3g}", rate);
}

// Cells of one comparison, the fastest first.
std::map<int64_t, std::vector<const ReportCell*>> Comparisons(const ReportData& data) {
  std::map<int64_t, std::vector<const ReportCell*>> groups;
  for (const ReportCell& cell : data.cells) {
    if (cell.ranked()) groups[cell.group[kGroupWorkers]].push_back(&cell);
  }
  for (auto& [group, cells] : groups) {
    std::sort(cells.begin(), cells.end(),
              [](const ReportCell* a, const ReportCell* b) { return a->row.rank < b->row.rank; });
  }
  std::erase_if(groups, [](const auto& each) { return each.second.size() < 2; });
  return groups;
}

// The stored verdict is the runner-up's; the page shows the winner's.
std::string VerdictTitle(RatioVerdict verdict) {
  switch (verdict) {
    case RatioVerdict::kSlower:
      return "faster";
    case RatioVerdict::kFaster:
      return "slower";
    case RatioVerdict::kSame:
      return "same";
    case RatioVerdict::kAmbiguous:
      break;
  }
  return "ambiguous";
}

std::string Tile(std::string_view value, std::string_view what) {
  return fmt::format("<div class=\"tile\"><b>{}</b><span>{}</span></div>\n", HtmlText(value),
                     HtmlText(what));
}

std::string Plural(size_t count, std::string_view noun) {
  return fmt::format("{}{}", noun, count == 1 ? "" : "s");
}

}  // namespace

std::string HeadlineSection(const ReportData& data) {
  const auto comparisons = Comparisons(data);
  std::map<std::string, int64_t> wins, clear;
  for (const auto& [group, cells] : comparisons) {
    ++wins[cells[0]->series];
    if (cells[1]->row.verdict == RatioVerdict::kSlower) ++clear[cells[0]->series];
  }
  std::string out;
  if (!wins.empty()) {
    const auto best = std::max_element(
        wins.begin(), wins.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    const int64_t won = best->second, sure = clear[best->first];
    out += fmt::format(
        "<p class=\"headline\"><b>{}</b> is the fastest in {} of {} {}; {} by a margin that the "
        "rounds confirm.</p>\n",
        HtmlText(best->first), won, comparisons.size(), Plural(comparisons.size(), "comparison"),
        sure == won ? fmt::format("{}", won == 1 ? "it wins" : "all of them")
                    : fmt::format("{} of these", sure));
  }
  std::set<std::string> workers, networks, machines;
  int64_t verified = 0;
  for (const ReportCell& cell : data.cells) {
    workers.insert(cell.series);
    networks.insert(cell.cell.Text(kAxisNetwork));
    machines.insert(cell.machine_id);
    verified += cell.ranked() && cell.HasFlag(kFlagVerified);
  }
  const auto ranked =
      std::count_if(data.cells.begin(), data.cells.end(), [](const auto& c) { return c.ranked(); });
  out += "<div class=\"tiles\">\n";
  out += Tile(std::to_string(workers.size()), Plural(workers.size(), "worker"));
  out += Tile(std::to_string(networks.size()), Plural(networks.size(), "network"));
  out += Tile(fmt::format("{}", data.cells.size()), fmt::format("cells, {} ranked", ranked));
  out += Tile(fmt::format("{}", data.ranking.runs),
              Plural(static_cast<size_t>(data.ranking.runs), "run"));
  out +=
      Tile(fmt::format("{} / {}", verified, ranked), "ranked cells verified against the reference");
  if (const auto spread = SpreadOfStudy(data))
    out += Tile(fmt::format("±{:.1f} %", spread->median * 100), "typical spread between rounds");
  if (machines.size() > 1) out += Tile(std::to_string(machines.size()), "machines");
  return out + "</div>\n";
}

std::string WinnersSection(const ReportData& data) {
  const auto comparisons = Comparisons(data);
  if (comparisons.empty())
    return "<p class=\"soft\">No two workers ran the same cell, so there is no comparison.</p>\n";
  std::string out =
      "<div class=\"wide\"><table>\n<thead><tr><th class=\"left\">comparison</th><th "
      "class=\"left\">fastest</th>"
      "<th>images/s</th><th class=\"left\">runner-up</th><th>images/s</th><th>margin</th><th>95 "
      "%</th>"
      "<th class=\"left\">verdict</th></tr></thead>\n<tbody>\n";
  size_t shown = 0;
  bool apart = false;
  for (const auto& [group, cells] : comparisons) {
    if (++shown > kMaxWinners) break;
    const ReportCell &first = *cells[0], &second = *cells[1];
    std::string interval;
    double margin = second.row.ratio;
    if (const auto& test = second.row.against_best; test && test->rounds > 0) {
      margin = test->ratio;
      if (test->rounds > 1)
        interval = fmt::format("{:.2f} … {:.2f}", test->interval.low, test->interval.high);
    }
    const std::string verdict = VerdictTitle(second.row.verdict);
    const bool side_by_side = !second.row.against_best || second.row.interleaved;
    apart |= !side_by_side;
    out += fmt::format(
        "<tr><td class=\"left wrap\">{}</td><td class=\"left\"><b>{}</b></td><td>{}</td><td "
        "class=\"left\">{}</td><td>{}</td>"
        "<td>{:.2f}×</td><td class=\"soft\">{}</td><td class=\"left\"><span class=\"verdict "
        "{}\">{}{}</span></td></tr>\n",
        HtmlText(data.group_titles[kGroupWorkers][static_cast<size_t>(group)]),
        HtmlText(first.series), Rate(first.ImageNs()), HtmlText(second.series),
        Rate(second.ImageNs()), margin, interval, verdict, verdict, side_by_side ? "" : " *");
  }
  out += "</tbody></table></div>\n";
  out +=
      "<p class=\"soft\">Margin: the runner-up's time per image over the winner's, of each run's "
      "shortest step, as the geometric mean over rounds in which both ran, with Student's 95 % "
      "interval. Verdicts are corrected by Holm over each comparison; within 1 % is “same”, and "
      "fewer than five rounds can only be “ambiguous”.</p>\n";
  if (apart) {
    out +=
        "<p class=\"soft\">* not measured side by side: rounds of different studies were paired by "
        "their number.</p>\n";
  }
  if (comparisons.size() > kMaxWinners) {
    out += fmt::format("<p class=\"soft\">{} more comparisons are in the full table.</p>\n",
                       comparisons.size() - kMaxWinners);
  }
  return out;
}

}  // namespace tench
