// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which runs are meant. A RunSelector is what --only says: "axis=value,value;axis=…" over the axes,
// "option.NAME", and besides them "machine" (label or id) and "version" (of the worker). A
// Selection is one side of `tench compare`: a study, a results file, a worker or such a filter, or
// several of them joined by ';'. Parsing is pure but for one look at whether a name is that of a
// file.

#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "plan/matrix.h"
#include "store/record.h"

namespace tench {

inline constexpr const char* kMachineAxis = "machine";
inline constexpr const char* kVersionAxis = "version";

struct RunSelector {
  CellFilter cells;
  std::vector<std::string> machines, versions;  // empty = any

  bool Matches(const RunRecord& run) const;
  bool empty() const { return cells.terms.empty() && machines.empty() && versions.empty(); }
};

Result<RunSelector> ParseSelector(std::span<const std::string> texts);

struct Selection {
  std::string text;  // as given
  std::optional<std::filesystem::path> database;
  std::string study;  // a number, "latest" or "previous"; "" = every study
  RunSelector runs;
};

// "3", "latest", "before.db", "torch", "worker=torch;threads=1", "before.db;study=2",
// "machine=pond;device=gpu", …
Result<Selection> ParseSelection(std::string_view text);

// What the two sides differ in: the names that only one of them restricts, or both to different
// values. Different studies or files may hold different versions of a worker, and different files
// different machines.
std::set<std::string> ComparedAxes(const Selection& a, const Selection& b);

}  // namespace tench
