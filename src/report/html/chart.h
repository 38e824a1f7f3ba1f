// SPDX-License-Identifier: Apache-2.0
#pragma once
// A chart: one Vega-Lite specification whose data is named, not held, and the choices that a reader
// has. The page and the renderer of paper figures draw the very same specification: only the
// choice's parameters, the title, the colours of the surroundings (light or dark) and the width
// differ. Pure.

#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "report/html/data_table.h"
#include "report/html/report_data.h"

namespace tench {

// One drawing of a chart: the values of the specification's parameters.
struct ChartChoice {
  std::string title;   // "lenet on mnist, train"
  std::string detail;  // "over mxnet": a second choice within the first; mostly empty
  Json parameters;     // {"group": 3}
};

struct Chart {
  std::string id;       // "time-by-batch": file names and anchors
  std::string section;  // of the page: "batch"
  std::string tab;      // short name among the section's charts
  std::string caption;  // plain text: what is shown, and how to read it
  Json spec;
  std::vector<ChartChoice> choices;
};

struct ChartSet {
  std::map<std::string, DataTable> data;  // by the name that specifications use
  std::vector<Chart> charts;              // in the order of the page
};

// Every chart that the data has something to draw for.
ChartSet MakeCharts(const ReportData& data);

// What a renderer gets: the parameters and the title of one choice in place, and the theme.
Json FigureSpec(const Chart& chart, const ChartChoice& choice, bool dark);

// "config" of Vega-Lite; transparent, so that the page shows through.
Json ChartTheme(bool dark);

// Building blocks that charts share.
Json SpecFrame(std::string_view data_name,
               Json transform);  // schema, data, parameter "group", transforms
Json SeriesColour(const ReportData& data, bool legend = true);  // the encoding of field "series"
Json Tooltip(
    std::initializer_list<std::array<std::string, 3>> fields);  // field, title, d3 format or ""
Json LogAxis(const std::string& field, const std::string& title,
             const std::vector<int64_t>& ticks = {});
std::string GroupFilter(Grouping grouping);  // "datum.in_batches === group"

// Choices for the groups that `wanted` counts at least `least` different values for among ranked
// cells.
std::vector<ChartChoice> GroupChoices(const ReportData& data, Grouping grouping, size_t least,
                                      const std::function<std::string(const ReportCell&)>& wanted);

}  // namespace tench
