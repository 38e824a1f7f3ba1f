// SPDX-License-Identifier: Apache-2.0
#pragma once
// The report as one HTML file that needs nothing else: style, script, charts' JavaScript and data
// are in it, and its own security policy keeps it from asking the network for anything. Without the
// charts' JavaScript it has tables only, and says what is missing. Pure.

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
