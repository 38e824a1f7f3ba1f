// SPDX-License-Identifier: Apache-2.0
#include "report/serve/live_ranking.h"

#include "report/html/markup.h"
#include "report/row_text.h"

namespace tench {
namespace {

constexpr size_t kMaxGroups = 40;

std::string RowHtml(const Ranking& ranking, const RankGroup& group, const RankRow& row) {
  const RowText text = TextOf(ranking, group, row);
  return fmt::format(
      "<tr{}><td>{}</td><td class=\"left\">{}</td><td>{}</td><td>{}</td><td>{}</td>"
      "<td class=\"left\">{}</td></tr>\n",
      row.measured() ? "" : " class=\"soft\"", HtmlText(text.rank), HtmlText(text.name),
      HtmlText(text.image_time), HtmlText(text.ratio), HtmlText(text.rounds),
      HtmlText(row.measured() ? text.verdict : text.outcome));
}

}  // namespace

std::string LiveRanking(const Ranking& ranking) {
  std::string out;
  for (size_t i = 0; i < ranking.groups.size() && i < kMaxGroups; ++i) {
    const RankGroup& group = ranking.groups[i];
    out += fmt::format(
        "<article class=\"ranking\">\n<h4>{}</h4>\n<table class=\"mini\">\n"
        "<thead><tr><th>#</th><th class=\"left\">worker</th><th>time/image</th><th>× best</th>"
        "<th>rounds</th><th class=\"left\">verdict</th></tr></thead>\n<tbody>\n",
        HtmlText(GroupTitle(ranking, group)));
    for (const RankRow& row : group.rows) out += RowHtml(ranking, group, row);
    out += "</tbody></table>\n</article>\n";
  }
  if (ranking.groups.size() > kMaxGroups) {
    out += fmt::format("<p class=\"soft\">{} more comparisons are below.</p>\n",
                       ranking.groups.size() - kMaxGroups);
  }
  return out;
}

}  // namespace tench
