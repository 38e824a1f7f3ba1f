// SPDX-License-Identifier: Apache-2.0
#include "run/session/worker_environment.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "base/json.h"
#include "machine/affinity.h"

namespace tench {
namespace {

// Variables that locate programs, libraries and devices. None of them tunes a computation.
constexpr std::array<std::string_view, 11> kAllowed = {
    "PATH",        "HOME",         "USER",       "TMPDIR",     "LD_LIBRARY_PATH",
    "VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "PYTHONHOME", "CUDA_VISIBLE_DEVICES",
    "CUDA_HOME"};

// Those of them that a login or an activated environment sets, and that name no library to load.
constexpr std::array<std::string_view, 7> kOrdinary = {
    "PATH", "HOME", "USER", "TMPDIR", "VIRTUAL_ENV", "CONDA_PREFIX", "CUDA_HOME"};

constexpr std::array<std::string_view, 5> kThreadCounts = {
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS"};

}  // namespace

std::vector<std::string> OwnEnvironment() {
  std::vector<std::string> texts;
  for (char** text = environ; text && *text; ++text) texts.emplace_back(*text);
  return texts;
}

Environment WorkerEnvironment(const std::vector<std::string>& ours, const std::vector<int>& cpus,
                              const std::string& version) {
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
    for (const auto name : kThreadCounts)
      variables[std::string(name)] = std::to_string(cpus.size());
    // With dynamic teams, OpenMP may use fewer threads than requested.
    variables["OMP_DYNAMIC"] = "FALSE";
    variables["MKL_DYNAMIC"] = "FALSE";
  }
  return {variables.begin(), variables.end()};
}

Environment DecisiveEnvironment(const std::vector<std::string>& ours, const std::string& worker) {
  std::string own = "TENCH_";
  for (const char c : worker) {
    const bool lower = c >= 'a' && c <= 'z', digit = c >= '0' && c <= '9';
    own += lower ? static_cast<char>(c - 'a' + 'A') : digit ? c : '_';
  }
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

std::string EnvironmentToJson(const Environment& environment) {
  Json variables = Json::object();
  for (const auto& [name, value] : environment) variables[name] = value;
  return PrintJson(variables);
}

}  // namespace tench
