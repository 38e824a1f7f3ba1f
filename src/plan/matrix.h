// SPDX-License-Identifier: Apache-2.0
#pragma once
// Expands a suite into cells: the Cartesian product of each block's axes, minus `exclude`, plus
// `include`, without duplicates, with stable ids. The order of a round is a seeded shuffle, so a
// resumed study keeps its order. Not aware of the file system or of workers; names come from a
// Catalog.
// Thread safety: pure functions.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "axis/cell.h"
#include "plan/suite.h"

namespace tench {

// The names that exist on this machine. The cli fills it; tests fill it with literals.
struct Catalog {
  std::vector<std::string> workers;   // found, or known by a manifest
  std::vector<std::string> networks;  // file paths are accepted too
  std::vector<std::string> data_sets;
  // Whether a network's file can be read; optional.
  std::function<Status(const std::string& path)> check_file;
  // The network's own data set, for cells that name none. Naming it explicitly gives the same cell.
  std::function<Result<std::string>(const std::string& network, const std::string& data)>
      resolve_data;
  // A test split for a network and its data, with its fingerprint; checks that the split fits.
  std::function<Result<std::string>(const std::string& network, const std::string& data,
                                    const std::string& test_data)>
      resolve_test_data;
  // Whether the machine's CPU has the instructions; optional. Only ResolveCell asks: in a suite
  // such a cell becomes `unsupported`, so that one suite serves all machines.
  std::function<Status(const std::string& isa)> check_isa;
};

struct PlannedCell {
  Cell cell;
  std::string id;  // cell.Id()
  Budget budget;
  Limits limits;
  std::string block;
};

// Errors name the suite's line and suggest the nearest name. A combination that a network does not
// support (such as lstm on mnist) is no error: its cell becomes `unsupported`.
Result<std::vector<PlannedCell>> Expand(const Suite& suite, const Catalog& catalog);

// Checks the names of one cell and fills in its data set. `tench run` uses it too.
Status ResolveCell(const Catalog& catalog, Cell& cell);
// Completes the budget's test split for a resolved cell.
Status ResolveTestData(const Catalog& catalog, const Cell& cell, Budget& budget);

// The terms of --only, "axis=value,value;axis=…": a cell must match all of them.
struct CellFilter {
  std::vector<std::pair<std::string, std::vector<std::string>>> terms;
  bool Matches(const Cell& cell) const;
};
Result<CellFilter> ParseFilter(std::span<const std::string> texts);

// The compared group of a cell, as text: its cell without the worker and the worker's options. The
// runs of a group are compared with each other, so they make the same number of timed steps and
// are repeated together.
std::string ComparedGroup(const Cell& cell);

// A permutation of 0…count-1 for one round.
std::vector<size_t> RoundOrder(size_t count, uint64_t seed, int64_t round);

}  // namespace tench
