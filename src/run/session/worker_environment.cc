// SPDX-License-Identifier: Apache-2.0
#include "run/session/worker_environment.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "axis/environment_name.h"
#include "base/json.h"
#include "base/text.h"
#include "base/variable_name.h"
#include "machine/affinity.h"

namespace tench {
namespace {

// Variables that locate programs, libraries and devices. None of them tunes a computation.
constexpr std::array<std::string_view, 12> kAllowed = {
    "PATH",        "HOME",          "USER",       "TMPDIR",     "LD_LIBRARY_PATH",
    "VIRTUAL_ENV", "CONDA_PREFIX",  "PYTHONPATH", "PYTHONHOME", "CUDA_VISIBLE_DEVICES",
    "CUDA_HOME",   "XDG_CACHE_HOME"};

// Allowed variables that a login or an activated environment sets and that name no library.
constexpr std::array<std::string_view, 8> kOrdinary = {
    "PATH", "HOME", "USER", "TMPDIR", "VIRTUAL_ENV", "CONDA_PREFIX", "CUDA_HOME", "XDG_CACHE_HOME"};

}  // namespace

std::vector<std::string> OwnEnvironment() {
  std::vector<std::string> texts;
  for (char** text = environ; text && *text; ++text) texts.emplace_back(*text);
  return texts;
}

Environment WorkerEnvironment(const std::vector<std::string>& ours, const std::vector<int>& cpus,
                              const std::string& version,
                              const std::map<std::string, std::string>& own, int64_t threads) {
  std::map<std::string, std::string> variables;
  for (const auto& text : ours) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos) continue;
    const std::string name = text.substr(0, equals);
    const bool allowed = std::find(kAllowed.begin(), kAllowed.end(), name) != kAllowed.end();
    if (allowed || name.starts_with("TENCH_")) variables[name] = text.substr(equals + 1);
  }
  variables["LANG"] = "C.UTF-8";
  if (!version.empty()) variables["TENCH_WORKER_VERSION"] = version;
  if (!cpus.empty()) {
    variables["TENCH_CPUS"] = PrintCpuList(cpus);
    for (const auto name : ThreadCountVariables())
      variables[std::string(name)] =
          threads > 0 ? std::to_string(threads) : std::to_string(cpus.size());
    // With dynamic teams, OpenMP may use fewer threads than requested.
    variables["OMP_DYNAMIC"] = "FALSE";
    variables["MKL_DYNAMIC"] = "FALSE";
  }
  for (const auto& [name, value] : own) variables[name] = value;
  return {variables.begin(), variables.end()};
}

Environment DecisiveEnvironment(const std::vector<std::string>& ours, const std::string& worker) {
  const std::string own = "TENCH_" + VariableName(worker);
  std::map<std::string, std::string> variables;
  for (const auto& text : ours) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals + 1 == text.size()) continue;
    const std::string name = text.substr(0, equals);
    const bool located = std::find(kAllowed.begin(), kAllowed.end(), name) != kAllowed.end() &&
                         std::find(kOrdinary.begin(), kOrdinary.end(), name) == kOrdinary.end();
    if (located || name == "TENCH_WORKER_PATH" || name == own || name.starts_with(own + "_"))
      variables[name] = text.substr(equals + 1);
  }
  return {variables.begin(), variables.end()};
}

Result<Environment> TableEnvironment(std::span<const WorkerFile> table,
                                     const std::string& worker_path) {
  Environment variables;
  std::vector<std::string> named;
  for (const WorkerFile& one : table) {
    const size_t at = one.name.find('@');
    if (at == std::string::npos) {
      if (one.file.string().find(':') != std::string::npos)
        return Failed(
            "workers: {}: the path '{}' has a colon, which separates the elements of "
            "TENCH_WORKER_PATH",
            one.name, one.file.string());
      named.push_back(one.name + "=" + one.file.string());
    } else {
      variables.emplace_back(fmt::format("TENCH_{}_{}", VariableName(one.name.substr(0, at)),
                                         VariableName(one.name.substr(at + 1))),
                             one.file.string());
    }
  }
  if (named.empty()) return variables;
  if (!worker_path.empty()) named.push_back(worker_path);
  variables.emplace_back("TENCH_WORKER_PATH", Join(named, ":"));
  return variables;
}

std::string EnvironmentToJson(const Environment& environment) {
  Json variables = Json::object();
  for (const auto& [name, value] : environment) variables[name] = value;
  return PrintJson(variables);
}

}  // namespace tench
