// SPDX-License-Identifier: Apache-2.0
// The first screen: the answer of every network as a tile, and failures as red tiles.
#include <algorithm>
#include <map>

#include "base/plural.h"
#include "base/text.h"
#include "report/html/comparison_view.h"
#include "report/html/markup.h"
#include "report/html/section.h"
#include "report/row_text.h"

namespace tench {
namespace {

constexpr size_t kMaxFailureTiles = 24;

std::string VerdictMark(const GroupAnswer& answer) {
  const bool apart = answer.next != nullptr && !answer.next->interleaved;
  switch (answer.kind) {
    case AnswerKind::kNothing:
      return "<span class=\"verdict slower\">failed</span>";
    case AnswerKind::kAlone:
      return "<span class=\"verdict\">no comparison</span>";
    case AnswerKind::kTooFew:
      return "<span class=\"verdict ambiguous\">no winner</span>";
    case AnswerKind::kDecided:
      break;
  }
  return fmt::format("<span class=\"verdict {0}\">{0}{1}</span>", Name(answer.verdict),
                     apart ? " *" : "");
}

// The name of the winner, or the reason why there is none.
std::string WinnerText(const ComparisonView& view) {
  const GroupAnswer& answer = view.answer;
  switch (answer.kind) {
    case AnswerKind::kNothing:
      return "nothing was measured";
    case AnswerKind::kTooFew:
      return fmt::format("<b>no winner</b> <span class=\"soft\">{} of {} rounds</span>",
                         answer.rounds, kFewestRounds);
    case AnswerKind::kAlone:
      return fmt::format("<b>{}</b> <span class=\"soft\">alone</span>",
                         HtmlText(view.SeriesOf(*answer.fastest)));
    case AnswerKind::kDecided:
      break;
  }
  const std::string first = HtmlText(view.SeriesOf(*answer.fastest));
  const std::string second = HtmlText(view.SeriesOf(*answer.next));
  if (answer.verdict == RatioVerdict::kFaster) return fmt::format("<b>{}</b>", first);
  if (answer.verdict == RatioVerdict::kSame) return fmt::format("<b>{}, {}</b>", first, second);
  return fmt::format("<b>no clear winner</b> <span class=\"soft\">{}, {}</span>", first, second);
}

std::string LeadText(const ComparisonView& view) {
  const GroupAnswer& answer = view.answer;
  if (answer.kind != AnswerKind::kDecided) return "";
  const std::string interval = answer.interval
                                   ? fmt::format(" <span class=\"soft whole\">95 %: {}</span>",
                                                 IntervalText(*answer.interval))
                                   : "";
  // The winner is named above; without one, the sentence says which of the two leads.
  const std::string leader = answer.won() ? "" : HtmlText(view.SeriesOf(*answer.fastest)) + " has ";
  return fmt::format("<p>{}<b>{:.2f}×</b> the speed of {}{}</p>\n", leader, answer.lead,
                     HtmlText(view.SeriesOf(*answer.next)), interval);
}

std::string Fact(std::string_view name, std::string_view value) {
  return fmt::format("<dt>{}</dt><dd>{}</dd>\n", HtmlText(name), HtmlText(value));
}

// Of the fastest row, whether or not it is the winner.
std::string FactsOf(const ReportData& data, const NetworkView& network) {
  const ComparisonView& view = network.Main();
  const GroupAnswer& answer = view.answer;
  if (answer.fastest == nullptr) return "";
  const RowText text = TextOf(data.ranking, *view.group, *answer.fastest);
  const std::string& series = view.SeriesOf(*answer.fastest);
  const bool named = !answer.won() && answer.next != nullptr;
  std::string out = "<dl>\n";
  if (named) out += Fact("shortest time", series);
  out += Fact("time per image", text.image_time);
  out += Fact("images per second", text.images_per_s);
  if (!text.peak_memory.empty()) {
    const std::string before =
        text.before_build.empty() ? "" : fmt::format(" ({} before build)", text.before_build);
    out += Fact("peak memory", text.peak_memory + before);
  }
  if (const auto best = BestBatchOf(network, series)) {
    out += Fact("best batch", fmt::format("{} of {} measured, {} images/s", best->batch,
                                          best->measured, RateText(best->images_per_s)));
  }
  if (const std::string share = BaselineText(answer); !share.empty())
    out += Fact("baseline", share);
  out += Fact("steps × rounds", text.steps + " × " + text.rounds);
  return out + "</dl>\n";
}

// For a narrow column: the verdict stands beside it.
std::string ShortWinner(const ComparisonView& view) {
  const GroupAnswer& answer = view.answer;
  if (answer.kind != AnswerKind::kDecided || answer.verdict == RatioVerdict::kFaster)
    return answer.kind == AnswerKind::kTooFew ? "" : WinnerText(view);
  return fmt::format("{}, {}", HtmlText(view.SeriesOf(*answer.fastest)),
                     HtmlText(view.SeriesOf(*answer.next)));
}

std::string OtherBatches(const NetworkView& network) {
  if (network.by_batch.size() < 2) return "";
  std::string out =
      "<table class=\"mini\"><thead><tr><th>batch</th><th class=\"left\">fastest</th><th>lead</th>"
      "<th class=\"left\">verdict</th></tr></thead>\n<tbody>\n";
  for (const ComparisonView& view : network.by_batch) {
    if (&view == &network.Main()) continue;
    out += fmt::format(
        "<tr><td>{}</td><td class=\"left\">{}</td><td>{}</td><td class=\"left\">{}</td></tr>\n",
        view.group->cell.Integer(kAxisBatch), ShortWinner(view),
        view.answer.kind == AnswerKind::kDecided ? fmt::format("{:.2f}×", view.answer.lead) : "",
        VerdictMark(view.answer));
  }
  return out + "</tbody></table>\n";
}

std::string AnswerTile(const ReportData& data, const NetworkView& network) {
  const ComparisonView& view = network.Main();
  return fmt::format(
      "<article class=\"answer{}\">\n<h3>{}</h3>\n<p class=\"winner\">{} {}</p>\n{}{}{}"
      "</article>\n",
      view.answer.won() ? " won" : "", HtmlText(view.Title(data)), WinnerText(view),
      VerdictMark(view.answer), LeadText(view), FactsOf(data, network), OtherBatches(network));
}

// Failed cells of one worker with the same outcome and reason.
struct FailureGroup {
  const ReportCell* first = nullptr;
  std::string title;  // of the first cell's comparison
  size_t cells = 0;
};

std::vector<FailureGroup> FailuresOf(const ReportData& data) {
  std::vector<FailureGroup> failures;
  std::map<std::tuple<std::string, Outcome, std::string>, size_t> known;
  for (const ReportCell& cell : data.cells) {
    if (!cell.row.HasFailed()) continue;
    const Outcome outcome = cell.row.runs_failed > 0 ? cell.row.failure : cell.row.outcome;
    const auto [found, is_new] =
        known.emplace(std::tuple(cell.series, outcome, cell.row.reason), failures.size());
    if (is_new) {
      failures.push_back(
          {&cell, data.group_titles[kGroupWorkers][static_cast<size_t>(cell.group[kGroupWorkers])],
           0});
    }
    ++failures[found->second].cells;
  }
  return failures;
}

std::string FailureTile(const FailureGroup& failure) {
  const RankRow& row = failure.first->row;
  std::string out = fmt::format(
      "<article class=\"answer failed\">\n<h3>{}</h3>\n<p class=\"winner\"><b>{}</b> <span "
      "class=\"verdict slower\">{}</span></p>\n",
      HtmlText(failure.title) +
          (failure.cells > 1 ? fmt::format(" and {}", Plural(failure.cells - 1, "more cell")) : ""),
      HtmlText(failure.first->series), HtmlText(FailureTitle(row)));
  if (!row.reason.empty()) out += fmt::format("<p>{}</p>\n", HtmlText(row.reason));
  if (!row.reproducer.empty()) out += fmt::format("<code>{}</code>\n", HtmlText(row.reproducer));
  return out + "</article>\n";
}

bool AnyParity(const Ranking& ranking) {
  return std::any_of(ranking.groups.begin(), ranking.groups.end(), [](const RankGroup& group) {
    return std::any_of(group.rows.begin(), group.rows.end(),
                       [](const RankRow& row) { return row.parity_error.has_value(); });
  });
}

std::string Sentence(const std::vector<ComparisonView>& comparisons) {
  std::map<std::string, size_t> wins;
  size_t contested = 0;
  for (const ComparisonView& view : comparisons) {
    contested += view.answer.kind == AnswerKind::kDecided;
    if (view.answer.won()) ++wins[view.SeriesOf(*view.answer.fastest)];
  }
  if (contested == 0) return "";
  if (wins.empty()) {
    return fmt::format("<p class=\"headline\">No worker is faster than all others in {}.</p>\n",
                       contested == 1 ? "the comparison" : "any comparison");
  }
  std::vector<std::pair<size_t, std::string>> order;
  for (const auto& [series, count] : wins) order.emplace_back(count, series);
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return std::tuple(b.first, a.second) < std::tuple(a.first, b.second);
  });
  std::string text;
  for (size_t i = 0; i < order.size(); ++i) {
    text += fmt::format("{}<b>{}</b> in {}", i == 0 ? "" : ", ", HtmlText(order[i].second),
                        order[i].first);
  }
  return fmt::format("<p class=\"headline\">Fastest in {}: {}.</p>\n",
                     Plural(contested, "comparison"), text);
}

}  // namespace

std::string AnswerSection(const ReportData& data) {
  const std::vector<ComparisonView> comparisons = ComparisonsOf(data);
  std::string out = Sentence(comparisons);
  if (!comparisons.empty()) out += fmt::format("<p class=\"soft\">{}</p>\n", kStatisticMeaning);
  for (const auto& [worker, limit] : data.ranking.limits.texts())
    out += fmt::format("<p class=\"soft\">{}.</p>\n", HtmlText(LimitText(worker, limit)));
  out += "<div class=\"answers\">\n";
  for (const NetworkView& network : NetworksOf(data)) out += AnswerTile(data, network);
  const std::vector<FailureGroup> failures = FailuresOf(data);
  for (size_t i = 0; i < failures.size() && i < kMaxFailureTiles; ++i)
    out += FailureTile(failures[i]);
  out += "</div>\n";
  if (failures.size() > kMaxFailureTiles) {
    out += fmt::format("<p class=\"soft\">{} more kinds of failure are in the full table.</p>\n",
                       failures.size() - kMaxFailureTiles);
  }
  const bool apart =
      std::any_of(comparisons.begin(), comparisons.end(), [](const ComparisonView& view) {
        return view.answer.kind == AnswerKind::kDecided && !view.answer.next->interleaved;
      });
  if (apart)
    out +=
        "<p class=\"soft\">* not interleaved: rounds of different studies are paired by "
        "number.</p>\n";
  return out;
}

std::string ComparisonsSection(const ReportData& data) {
  const std::vector<ComparisonView> comparisons = ComparisonsOf(data);
  if (comparisons.empty()) return "";
  const bool parity = AnyParity(data.ranking);
  const std::string parity_head = parity ? "<th>parity</th>" : "";
  std::string out = fmt::format(
      "<div class=\"wide\"><table class=\"frozen\">\n<thead><tr><th class=\"left\">comparison</th>"
      "<th class=\"left\">fastest</th><th>time/image</th>{0}"
      "<th class=\"left\">next</th><th>time/image</th>{0}<th>lead</th>"
      "<th>95 %</th><th class=\"left\">verdict</th><th>of baseline</th><th>steps</th>"
      "<th>rounds</th></tr></thead>\n<tbody>\n",
      parity_head);
  for (const ComparisonView& view : comparisons) {
    const GroupAnswer& answer = view.answer;
    const auto cells_of = [&](const RankRow* row, std::string_view tag) -> std::string {
      if (row == nullptr)
        return fmt::format("<td class=\"left\"></td><td></td>{}", parity ? "<td></td>" : "");
      const RowText text = TextOf(data.ranking, *view.group, *row);
      return fmt::format(
          "<td class=\"left\"><{0}>{1}</{0}></td><td>{2}</td>{3}", tag,
          HtmlText(view.SeriesOf(*row)), HtmlText(text.image_time),
          parity ? fmt::format("<td class=\"soft\">{}</td>", HtmlText(text.parity_error)) : "");
    };
    const RowText first =
        answer.fastest ? TextOf(data.ranking, *view.group, *answer.fastest) : RowText();
    out += fmt::format(
        "<tr><th class=\"left wrap\" scope=\"row\">{}</th>{}{}<td>{}</td><td class=\"soft\">{}</td>"
        "<td class=\"left\">{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
        HtmlText(view.Title(data)), cells_of(answer.fastest, answer.won() ? "b" : "span"),
        cells_of(answer.next, "span"),
        answer.next != nullptr ? fmt::format("{:.2f}×", answer.lead) : "",
        answer.interval ? IntervalText(*answer.interval) : "", VerdictMark(answer),
        answer.baseline != nullptr && answer.fastest != nullptr
            ? fmt::format("{:.0f} %", answer.baseline->ratio * 100)
            : "",
        first.steps, answer.next != nullptr ? std::to_string(answer.rounds) : first.rounds);
  }
  return out +
         "</tbody></table></div>\n"
         "<p class=\"soft\">Lead: the next worker's time over the fastest one's. Of baseline: the "
         "fastest one's speed over the baseline's. " +
         (parity ? "Parity: the largest difference from the reference over its tolerance. " : "") +
         "Verdicts are corrected by Holm "
         "over each comparison; within 1 % is “same”. With fewer than five rounds there is no "
         "winner and no interval.</p>\n";
}

}  // namespace tench
