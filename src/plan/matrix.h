// SPDX-License-Identifier: Apache-2.0
#pragma once
// From axes to cells: the product of each block's axes, less `exclude`, plus `include`, without
// duplicates, with stable ids. The order of a round is a seeded shuffle, so that the same study
// resumes in the same order. Pure; 50,000 cells take well under a second.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "axis/cell.h"
#include "plan/suite.h"

namespace tench {

// The names that exist on this machine. The command line fills it; tests fill it with literals.
struct Catalog {
  std::vector<std::string> workers;   // found or known by a manifest
  std::vector<std::string> networks;  // paths to files are accepted besides
  std::vector<std::string> data_sets;
  // Whether a network's file can be read; optional.
  std::function<Status(const std::string& path)> check_file;
  // The network's own data set, for cells that name none: so that naming it or not gives the same
  // cell.
  std::function<Result<std::string>(const std::string& network, const std::string& data)>
      resolve_data;
};

struct PlannedCell {
  Cell cell;
  std::string id;  // cell.Id()
  Budget budget;
  Limits limits;
  std::string block;
};

// Errors point at the suite's line and hint at the nearest name. A combination that a network has
// no form for (say lstm on mnist) is no error: the cell stays, and will be `unsupported`.
Result<std::vector<PlannedCell>> Expand(const Suite& suite, const Catalog& catalog);

// The resolved cell for one run: names checked, data filled in. Used by `tench run` too.
Status ResolveCell(const Catalog& catalog, Cell& cell);

// "axis=value,value;axis=…" or repeated "axis=value" texts of --only: keeps the cells that match
// all of them.
struct CellFilter {
  std::vector<std::pair<std::string, std::vector<std::string>>> terms;
  bool Matches(const Cell& cell) const;
};
Result<CellFilter> ParseFilter(std::span<const std::string> texts);

// A permutation of 0…count-1 for one round.
std::vector<size_t> RoundOrder(size_t count, uint64_t seed, int64_t round);

}  // namespace tench
