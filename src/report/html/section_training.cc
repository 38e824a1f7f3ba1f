// SPDX-License-Identifier: Apache-2.0
// Time to accuracy, and the results on the test split.
#include "report/html/markup.h"
#include "report/html/section.h"

namespace tench {
namespace {

std::string RowHtml(const TrainingRow& row) {
  const TrainingText text = TextOf(row);
  std::string html =
      fmt::format("<tr><th class=\"left wrap\" scope=\"row\">{}</th>", HtmlText(text.worker));
  for (const std::string* cell : {&text.reached, &text.seconds, &text.epochs, &text.energy,
                                  &text.top1, &text.top5, &text.loss, &text.runs})
    html += fmt::format("<td>{}</td>", HtmlText(*cell));
  return html + "</tr>\n";
}

}  // namespace

std::string TrainingSection(const ReportData& data) {
  const std::vector<TrainingRow>& rows = data.ranking.trainings;
  std::string html;
  for (size_t i = 0; i < rows.size();) {
    const size_t first = i;
    html += fmt::format(
        "<h3>{}</h3>\n<div class=\"wide\"><table class=\"frozen\">\n<thead><tr>"
        "<th class=\"left\">worker</th><th>reached</th><th>time to target</th><th>epochs</th>"
        "<th>energy</th><th>top-1</th><th>top-5</th><th>loss</th><th>runs</th></tr></thead>\n"
        "<tbody>\n",
        HtmlText(TrainingTitle(rows[first])));
    for (; i < rows.size() && SameTraining(rows[first], rows[i]); ++i) html += RowHtml(rows[i]);
    html += "</tbody></table></div>\n";
  }
  if (html.empty()) return "";
  return html + fmt::format("<p class=\"soft\">{}</p>\n", HtmlText(kTrainingMeaning));
}

}  // namespace tench
