// SPDX-License-Identifier: Apache-2.0
#pragma once
// Renders the report as one self-contained HTML file: style, script, chart JavaScript and data. Its
// content security policy forbids network access. Without the chart JavaScript the page has only
// tables and a note on how to get the charts.
// Thread safety: pure functions.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/html/chart.h"
#include "report/html/report_data.h"

namespace tench {

// What `tench serve` adds to the report: a first section, its style and its script, which may read
// from the page's own address. Empty in a file.
struct LivePart {
  std::string_view section, style, script;
};

struct PageOptions {
  std::string title = "tench report";
  std::string made_utc;            // shown below the title unless empty
  std::string_view charts_script;  // the content of vega.js; empty = none
  LivePart live = {};
};

// The texts and tables of the summary, as HTML by the id of the element that holds them, in the
// order of the page. A live page replaces them while a study runs.
std::vector<std::pair<std::string, std::string>> SummaryParts(const ReportData& data);

std::string RenderPage(const ReportData& data, const ChartSet& charts, const PageOptions& options);

}  // namespace tench
