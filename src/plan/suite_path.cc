// SPDX-License-Identifier: Apache-2.0
#include "plan/suite_path.h"

#include "base/text.h"

namespace tench {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMeanFile = "mean_file=";

// The path from the suite's folder, if the file exists only there.
std::string Beside(const fs::path& folder, const std::string& path) {
  std::error_code error;
  if (path.empty() || fs::path(path).is_absolute() || fs::exists(path, error)) return path;
  const fs::path beside = (folder / path).lexically_normal();
  return fs::exists(beside, error) ? beside.string() : path;
}

std::string ResolvedNetwork(const fs::path& folder, const std::string& value) {
  if (!IsNetworkPath(value)) return value;
  const std::string path = Beside(folder, value);
  // A path without a slash must not look like a name.
  return path == value || fs::path(path).has_parent_path() ? path : "./" + path;
}

bool IsKey(const std::string& part) {
  const size_t equals = part.find('=');
  return equals != std::string::npos && part.find('/') >= equals;
}

// FORMAT:PATH,KEY=VALUE,…: the path, which may contain commas, and the file of the key mean_file.
std::string ResolvedData(const fs::path& folder, const std::string& value) {
  const size_t colon = value.find(':');
  if (colon == std::string::npos) return value;
  const std::vector<std::string> parts = Split(value.substr(colon + 1), ',');
  size_t keys = parts.size();
  while (keys > 1 && IsKey(parts[keys - 1])) --keys;
  std::string resolved =
      value.substr(0, colon + 1) + Beside(folder, Join(std::span(parts).first(keys), ","));
  for (; keys < parts.size(); ++keys) {
    std::string part = parts[keys];
    if (part.starts_with(kMeanFile))
      part = std::string(kMeanFile) + Beside(folder, part.substr(kMeanFile.size()));
    resolved += "," + part;
  }
  return resolved;
}

void Resolve(const fs::path& folder, std::vector<AxisList>& axes) {
  for (AxisList& list : axes) {
    const bool network = list.name == Axes()[kAxisNetwork].name;
    if (!network && list.name != Axes()[kAxisData].name) continue;
    for (std::string& value : list.values)
      value = network ? ResolvedNetwork(folder, value) : ResolvedData(folder, value);
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
