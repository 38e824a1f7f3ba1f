// SPDX-License-Identifier: Apache-2.0
#pragma once
// A suite: the parsed YAML file that defines the axes of a study (docs/suites.md). Every value
// keeps its place in the file, so that later errors can name it. Not aware of which networks or
// workers exist; matrix.h checks names against a Catalog.
// Thread safety: passive structs and pure functions; LoadSuite reads files.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "axis/axis.h"
#include "base/error.h"
#include "plan/python_table.h"
#include "plan/text_place.h"
#include "plan/worker_table.h"
#include "record/budget.h"
#include "record/pairing.h"

namespace tench {

enum class SwapPolicy { kAllow, kKill };

// Limits of a run; a run that exceeds one is ended from outside.
struct Limits {
  int64_t timeout_ns = 600'000'000'000;  // launch to result
  // Resident set + swap; 0 = the memory of the machine or its cgroup, less a reserve.
  int64_t memory_bytes = 0;
  SwapPolicy swap = SwapPolicy::kAllow;
  // Wall time of all trials of one cell of the tuned track.
  int64_t tune_budget_ns = 30'000'000'000;

  bool operator==(const Limits&) const = default;
};

// One axis of a block and its values: valid for that axis, in canonical spelling, without
// duplicates.
struct AxisList {
  std::string name;  // axis name, "option.NAME" or "env.NAME"
  std::vector<std::string> values;
  std::vector<TextPlace> places;  // of each value
};

// A partial cell. `exclude` removes the cells that match all of it. `include` adds its product,
// with the block's first value on every other axis.
struct AxisPattern {
  std::vector<AxisList> axes;
  TextPlace place;
};

struct Block {
  std::string name;
  // In the order of Axes(), settings last; their product is the block's matrix.
  std::vector<AxisList> axes;
  std::vector<AxisPattern> include, exclude;
  Budget budget;
  Limits limits;
  TextPlace place;
};

struct Suite {
  std::string name;   // by default the file's stem
  std::string title;  // one line
  int64_t rounds = 5;
  StudyPairing pairing = StudyPairing::kRounds;
  std::vector<WorkerFile> workers;
  std::vector<PythonPath> python;  // environments of the Python workers
  std::vector<Block> blocks;
  std::string origin;  // file name, for errors
  // Hash of cells and settings; independent of comments, names, the number of rounds and the files
  // of workers (a study is tied to their builds).
  std::string fingerprint;
  std::string text;  // as it was parsed
};

Result<Suite> ParseSuite(std::string_view text, std::string_view origin);
// A path, or the bare name of a suite in one of `folders` ("quick" -> suites/quick.yaml).
Result<Suite> LoadSuite(const std::string& name_or_path,
                        const std::vector<std::filesystem::path>& folders);

}  // namespace tench
