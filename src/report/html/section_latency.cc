// SPDX-License-Identifier: Apache-2.0
// Latency quantiles of inference with batch 1.
#include "report/html/comparison_view.h"
#include "report/html/markup.h"
#include "report/html/section.h"
#include "report/row_text.h"

namespace tench {

std::string LatencySection(const ReportData& data) {
  std::string rows;
  for (const ComparisonView& view : ComparisonsOf(data)) {
    for (const ReportCell& cell : view.cells) {
      if (!cell.row.latency) continue;
      const RowText text = TextOf(data.ranking, *view.group, cell.row);
      rows += fmt::format(
          "<tr><th class=\"left wrap\" scope=\"row\">{}</th><td class=\"left\">{}</td>"
          "<td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
          HtmlText(view.Title(data)), HtmlText(cell.series), text.p50, text.p90, text.p99,
          text.steps, text.rounds);
    }
  }
  if (rows.empty()) return "";
  return "<h3>Latency of one image</h3>\n"
         "<div class=\"wide\"><table class=\"frozen\">\n<thead><tr><th "
         "class=\"left\">comparison</th>"
         "<th class=\"left\">worker</th><th>p50</th><th>p90</th><th>p99</th><th>steps</th>"
         "<th>rounds</th></tr></thead>\n<tbody>\n" +
         rows +
         "</tbody></table></div>\n<p class=\"soft\">Quantiles of all timed steps of all rounds. "
         "p90 needs 10 steps, p99 100.</p>\n";
}

}  // namespace tench
