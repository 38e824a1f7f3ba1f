// SPDX-License-Identifier: Apache-2.0
#pragma once
// A suite: the YAML file that names the axes of a study. Parsing keeps the place of everything, so
// that each later error can point at it. docs/suites.md describes the format. Not aware of which
// networks or workers exist; matrix.h checks names against a Catalog.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "axis/axis.h"
#include "base/error.h"
#include "plan/text_place.h"
#include "record/budget.h"

namespace tench {

enum class SwapPolicy { kAllow, kKill };

// What a run may take before it is ended from outside.
struct Limits {
  int64_t timeout_ns = 600'000'000'000;  // launch to result
  int64_t memory_bytes =
      0;  // resident set + swap; 0 = what the machine (or its cgroup) has, less a reserve
  SwapPolicy swap = SwapPolicy::kAllow;

  bool operator==(const Limits&) const = default;
};

// One axis of a block with the texts it takes: each valid for that axis, in its canonical spelling,
// and none twice.
struct AxisList {
  std::string name;  // axis name or "option.NAME"
  std::vector<std::string> values;
  std::vector<TextPlace> places;  // of each value
};

// A partial cell: for `exclude` (cells that match all of it go) and `include` (cells that are
// added, with the block's first values elsewhere).
struct AxisPattern {
  std::vector<AxisList> axes;
  TextPlace place;
};

struct Block {
  std::string name;
  std::vector<AxisList>
      axes;  // in the order of Axes(), options last; their product is the block's matrix
  std::vector<AxisPattern> include, exclude;
  Budget budget;
  Limits limits;
  TextPlace place;
};

struct Suite {
  std::string name;   // of the file without extension, unless it says otherwise
  std::string title;  // one line
  int64_t rounds = 5;
  std::vector<Block> blocks;
  std::string origin;  // file name, for errors
  std::string
      fingerprint;  // over what is measured and how: not comments, names or the number of rounds
};

Result<Suite> ParseSuite(std::string_view text, std::string_view origin);
// A path, or the bare name of a suite in one of `folders` ("quick" -> suites/quick.yaml).
Result<Suite> LoadSuite(const std::string& name_or_path,
                        const std::vector<std::filesystem::path>& folders);

}  // namespace tench
