// SPDX-License-Identifier: Apache-2.0
#pragma once
// The axis table as command-line flags: one flag per row, plus --option NAME=VALUE
// and --env NAME=VALUE. Shared by every
// command that names one cell. Not aware of which workers, networks or data sets exist.

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

#include "axis/axis.h"
#include "axis/cell.h"

namespace tench {

// "--weight-decay" of the row weight_decay.
std::string AxisFlagName(const Axis& axis);

// --option, with its texts "NAME=VALUE". `texts` must outlive the parsing.
CLI::Option* AddOptionFlag(CLI::App& app, std::vector<std::string>& texts);
// Adds the worker's options to a cell.
Status SetOptions(const std::vector<std::string>& texts, Cell& cell);
// --env, with its texts "NAME=VALUE". `texts` must outlive the parsing.
CLI::Option* AddEnvironmentFlag(CLI::App& app, std::vector<std::string>& texts);
// Adds the variables to a cell; they replace those of the same name.
Status SetEnvironment(const std::vector<std::string>& texts, Cell& cell);

class AxisFlags {
 public:
  // Adds the flags to `app`. This object must outlive the parsing.
  void AddTo(CLI::App& app, const std::string& group = "What to run");
  // The cell with the given values; every other axis has its default.
  Result<Cell> ToCell() const;
  // Whether the user gave the axis' flag.
  bool Given(const std::string& axis) const { return texts_.contains(axis); }

 private:
  std::map<std::string, std::string> texts_;  // by axis name; given axes only
  std::vector<std::string> options_, environment_;
};

}  // namespace tench
