// SPDX-License-Identifier: Apache-2.0
// Fuzzes ParseSuite with arbitrary bytes. A suite that parses expands into cells, or is rejected
// with an error of one line.

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "plan/matrix.h"

namespace {

// Large products are valid but slow, and exercise no further code.
constexpr size_t kMostCells = 2'000;

size_t CellsOf(const std::vector<tench::AxisList>& axes) {
  size_t cells = 1;
  for (const tench::AxisList& axis : axes)
    cells = std::min(cells * axis.values.size(), kMostCells + 1);
  return cells;
}

bool IsSmall(const tench::Suite& suite) {
  size_t cells = 0;
  for (const tench::Block& block : suite.blocks) {
    cells += CellsOf(block.axes);
    for (const tench::AxisPattern& pattern : block.include) cells += CellsOf(pattern.axes);
    if (cells > kMostCells) return false;
  }
  return true;
}

void CheckMessage(const tench::Error& error) {
  tench::Check(error.message.starts_with("fuzz.yaml:"), "an error does not name the file");
  tench::Check(error.message.find('\n') == std::string::npos, "an error has several lines");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto suite = tench::ParseSuite(text, "fuzz.yaml");
  if (!suite.ok()) {
    CheckMessage(suite.error());
    return 0;
  }
  if (!IsSmall(*suite)) return 0;
  tench::Catalog catalog;
  catalog.workers = {"reference", "native", "torch", "caffe"};
  catalog.networks = {"lenet", "alexnet", "lstm"};
  catalog.data_sets = {"mnist", "imagenet", "imdb"};
  catalog.resolve_data = [](const std::string& network,
                            const std::string& asked) -> tench::Result<std::string> {
    if (network == "lstm" && asked == "mnist") return tench::Failed("lstm has no form for mnist");
    return asked.empty() ? std::string("mnist") : asked;
  };
  const auto cells = tench::Expand(*suite, catalog);
  if (!cells.ok()) {
    CheckMessage(cells.error());
    return 0;
  }
  tench::Check(!cells->empty(), "a suite expanded into nothing");
  for (const tench::PlannedCell& cell : *cells)
    tench::Check(cell.id == cell.cell.Id(), "a cell has another cell's id");
  return 0;
}
