// SPDX-License-Identifier: Apache-2.0
#pragma once
// The `python` key of a suite: the user's own Python environments, in which the suite's Python
// workers run.
//   PATH               one environment, named by its folder
//   [PATH, PATH]       several, side by side
//   {NAME: PATH, …}    several, with names
// The worker jax in the environment NAME is jax@NAME. Not aware of what a path holds.
// Thread safety: pure functions; passive structs.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "plan/text_place.h"
#include "plan/yaml_node.h"

namespace tench {

struct Suite;

struct PythonPath {
  std::string name;  // "" = named by the path
  std::string path;  // an interpreter, or the folder of an environment
  TextPlace place;
};

Result<std::vector<PythonPath>> ReadPythonTable(const YamlNode& node, std::string_view origin);

// Replaces each of `workers` that names no version, in all blocks of the suite and their `include`,
// by one worker per environment.
void RunInEnvironments(std::span<const std::string> environments,
                       std::span<const std::string> workers, Suite& suite);

}  // namespace tench
