// SPDX-License-Identifier: Apache-2.0
#pragma once
// Selects runs. A RunSelector is the value of --only: "axis=value,value;axis=…" over the axes,
// "option.NAME", "machine" (label or id) and "version" (of the worker: "0.1.0" is every build of
// it, "0.1.0+1a2b3c4" one of them). A Selection is one side of `tench compare`: a study, a results
// file, a worker, such a filter, or several of them joined by ';'.
// Thread safety: pure functions, except that ParseSelection checks whether a file exists.

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
  std::string text;  // as the user wrote it
  std::optional<std::filesystem::path> database;
  std::string study;  // a number, "latest", "previous" or "all"; "" = the newest with such runs
  RunSelector runs;
};

// "3", "latest", "before.db", "torch", "worker=torch;threads=1", "before.db;study=2",
// "machine=pond;device=gpu", …
Result<Selection> ParseSelection(std::string_view text);

// The axes in which two sides differ: restricted on one side only, or to different values.
// Different studies or files may differ in the worker's version, different files also in the
// machine.
std::set<std::string> ComparedAxes(const Selection& a, const Selection& b);

}  // namespace tench
