// SPDX-License-Identifier: Apache-2.0
#pragma once
// The `workers` table of a suite: builds of one framework side by side.
//   NAME: FILE         the executable of a worker, under a name of its own
//   WORKER@BUILD: FILE the program that WORKER drives for this build: caffe@intel
// Not aware of which workers exist. A file that does not exist is no error here: its cells are
// `unsupported`.
// Thread safety: pure functions; passive structs.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "plan/text_place.h"
#include "plan/yaml_node.h"

namespace tench {

struct WorkerFile {
  std::string name;            // "nightly" or "caffe@intel"
  std::filesystem::path file;  // as it is written; absolute after LoadSuite
  TextPlace place;             // of the name
};

// Whether `text` can name a build: letters, digits, '_', '.' and '-', a letter first.
bool IsWord(std::string_view text);

Result<std::vector<WorkerFile>> ReadWorkerTable(const YamlNode& node, std::string_view origin);

}  // namespace tench
