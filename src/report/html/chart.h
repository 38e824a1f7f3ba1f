// SPDX-License-Identifier: Apache-2.0
#pragma once
// A chart: a Vega-Lite specification whose data is referenced by name, and the choices of a
// reader. The page and the renderer of paper figures use the same specification; only the
// parameters of the choice, the title, the theme (light or dark) and the width differ.
// Thread safety: pure functions over passive structs.

#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "report/html/data_table.h"
#include "report/html/report_data.h"

namespace tench {

// One rendering of a chart: values of the specification's parameters.
struct ChartChoice {
  std::string title;         // "lenet on mnist, train"
  std::string detail;        // "over mxnet": a choice within the first; usually empty
  Json parameters;           // {"group": 3}
  std::string note = {};     // plain text that follows the caption
  std::string x_title = {};  // of the x axis of all layers; "" = the specification's
};

struct Chart {
  std::string id;       // "time-by-batch": file names and anchors
  std::string section;  // the part of the page: "batch"
  std::string tab;      // short name among the section's charts
  std::string caption;  // plain text: content and reading aid
  Json spec;
  std::vector<ChartChoice> choices;
};

struct ChartSet {
  std::map<std::string, DataTable> data;  // by the name that specifications use
  std::vector<Chart> charts;              // in the order of the page
};

// All charts that have data.
ChartSet MakeCharts(const ReportData& data);

// The specification for a renderer, with the parameters and title of one choice and the theme.
Json FigureSpec(const Chart& chart, const ChartChoice& choice, bool dark);

// "config" of Vega-Lite; transparent, so that the page shows through.
Json ChartTheme(bool dark);

// Building blocks that charts share.
// Schema, data, parameter "group" and transforms.
Json SpecFrame(std::string_view data_name, Json transform);
// The colour encoding of the field "series".
Json SeriesColour(const ReportData& data, bool legend = true);
// The marker and the dash of the field "series". Dashes have no legend of their own.
Json SeriesShape(const ReportData& data);
Json SeriesDash(const ReportData& data);
// Each field is {name, title, d3 format or ""}.
Json Tooltip(std::initializer_list<std::array<std::string, 3>> fields);
Json LogAxis(const std::string& field, const std::string& title,
             const std::vector<int64_t>& ticks = {});
std::string GroupFilter(Grouping grouping);  // "datum.in_batches === group"

// One choice per group in which `wanted` returns at least `least` distinct non-empty values. Groups
// of the train phase come first.
std::vector<ChartChoice> GroupChoices(const ReportData& data, Grouping grouping, size_t least,
                                      const std::function<std::string(const ReportCell&)>& wanted);

}  // namespace tench
