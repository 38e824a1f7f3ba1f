// SPDX-License-Identifier: Apache-2.0
#pragma once
// The report's charts as files for papers: each choice of each chart as SVG, PDF and PNG, drawn by
// vl-convert in a python3 process from the very specifications that the page draws. Needs
// share/tench/charts beside the program.

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

// One figure per chart and choice; of choices that differ only in their detail the first.
std::vector<FigureFile> FigureFiles(const ChartSet& set, bool dark = false);

// `tools` is the folder that holds figures.py and charts/. `drawn` is called after each figure with
// how many there are by now. Makes `folder` if its parent is there.
Status DrawFigures(const std::vector<FigureFile>& figures, const std::filesystem::path& tools,
                   const std::filesystem::path& folder,
                   const std::function<void(size_t drawn)>& drawn);

}  // namespace tench
