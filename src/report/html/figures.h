// SPDX-License-Identifier: Apache-2.0
#pragma once
// Writes the report's charts as files for papers: each choice of each chart as SVG, PDF and PNG.
// vl-convert renders the page's specifications in a python3 process. Needs share/tench/charts
// beside the program.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "report/html/chart.h"

namespace tench {

struct FigureFile {
  std::string name;  // without its extension: letters, digits, dots and dashes
  Json spec;         // with its data
};

// One figure per chart and choice. Of choices that differ only in their detail, the first one.
std::vector<FigureFile> FigureFiles(const ChartSet& set, bool dark = false);

// `tools` is the folder of figures.py and charts/. `drawn` is called after each figure with the
// number of finished figures. Creates `folder` if its parent exists.
Status DrawFigures(const std::vector<FigureFile>& figures, const std::filesystem::path& tools,
                   const std::filesystem::path& folder,
                   const std::function<void(size_t drawn)>& drawn);

}  // namespace tench
