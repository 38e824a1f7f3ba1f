// SPDX-License-Identifier: Apache-2.0
#include "plan/suite_path.h"

namespace tench {
namespace {

void Resolve(const std::filesystem::path& folder, std::vector<AxisList>& axes) {
  for (AxisList& list : axes) {
    if (list.name != Axes()[kAxisNetwork].name) continue;
    for (std::string& value : list.values) {
      std::error_code error;
      if (!IsNetworkPath(value) || std::filesystem::path(value).is_absolute() ||
          std::filesystem::exists(value, error))
        continue;
      const std::filesystem::path beside = (folder / value).lexically_normal();
      if (!std::filesystem::exists(beside, error)) continue;
      // A path without a slash must not look like a name.
      value = beside.has_parent_path() ? beside.string() : "./" + beside.string();
    }
  }
}

}  // namespace

bool IsNetworkPath(std::string_view network) {
  return network.find('/') != std::string_view::npos || network.ends_with(".json") ||
         network.ends_with(".prototxt");
}

void ResolvePaths(const std::filesystem::path& folder, Suite& suite) {
  for (Block& block : suite.blocks) {
    Resolve(folder, block.axes);
    for (AxisPattern& pattern : block.include) Resolve(folder, pattern.axes);
    for (AxisPattern& pattern : block.exclude) Resolve(folder, pattern.axes);
  }
  const auto exists_beside = [&](const std::filesystem::path& file) {
    std::error_code error;
    return !std::filesystem::exists(file, error) && std::filesystem::exists(folder / file, error);
  };
  for (PythonPath& python : suite.python) {
    // A bare word may be a program on PATH.
    if (python.path.find('/') != std::string::npos && exists_beside(python.path))
      python.path = (folder / python.path).string();
  }
  for (WorkerFile& worker : suite.workers) {
    std::error_code error;
    if (exists_beside(worker.file)) worker.file = folder / worker.file;
    worker.file = std::filesystem::absolute(worker.file, error).lexically_normal();
  }
}

}  // namespace tench
