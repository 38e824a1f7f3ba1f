// SPDX-License-Identifier: Apache-2.0
#pragma once
// Renders the report as one self-contained HTML file: style, script, chart JavaScript and data. Its
// content security policy forbids network access. Without the chart JavaScript the page has only
// tables and a note on how to get the charts.
// Thread safety: pure functions.

#include <string>
#include <string_view>

#include "report/html/chart.h"
#include "report/html/report_data.h"

namespace tench {

struct PageOptions {
  std::string title = "tench report";
  std::string made_utc;            // shown below the title unless empty
  std::string_view charts_script;  // the content of vega.js; empty = none
};

std::string RenderPage(const ReportData& data, const ChartSet& charts, const PageOptions& options);

}  // namespace tench
