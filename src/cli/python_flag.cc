// SPDX-License-Identifier: Apache-2.0
#include "cli/python_flag.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/text.h"

namespace tench {

void PythonFlag::AddTo(CLI::App& app, const std::string& group) {
  app.add_option("--python", texts_,
                 "run the workers in Python in this environment: an interpreter or a virtual "
                 "environment, PATH or NAME=PATH; repeatable [TENCH_PYTHON]")
      ->group(group)
      ->type_name("")
      ->take_all();
}

std::vector<std::string> PythonFlag::Texts() const {
  if (!texts_.empty()) return texts_;
  const char* usual = std::getenv("TENCH_PYTHON");
  if (usual == nullptr || *usual == '\0') return {};
  return {usual};
}

Result<std::vector<PythonEnvironment>> PythonFlag::Use(const WorkerCatalog& workers,
                                                       const std::vector<PythonPath>& suite,
                                                       const std::string& origin) const {
  std::vector<PythonEnvironment> environments;
  const char* flag = given() ? "--python" : "TENCH_PYTHON";
  for (const std::string& text : Texts())
    environments.push_back(TENCH_TRY(FindNamedPython(text).In(flag)));
  const auto replaced = [&](const std::string& name) {
    return std::ranges::any_of(environments, [&](const auto& one) { return one.name == name; });
  };
  std::vector<PythonEnvironment> of_suite;
  for (const PythonPath& python : suite) {
    if (given() && replaced(python.name)) continue;
    Result<PythonEnvironment> found = FindPython(python.path, python.name);
    if (!found.ok()) return FailedAt(origin, python.place, "python: {}", found.error().message);
    of_suite.push_back(*std::move(found));
  }
  // A suite that names its environments does not mean the usual one.
  if (!given() && !suite.empty()) environments.clear();
  environments.insert(environments.begin(), of_suite.begin(), of_suite.end());
  TENCH_TRY(UseEnvironments(environments, workers).In(given() ? flag : "python"));
  return environments;
}

std::vector<std::string> NamesOf(const std::vector<PythonEnvironment>& environments) {
  std::vector<std::string> names;
  for (const PythonEnvironment& one : environments) names.push_back(one.name);
  return names;
}

std::vector<std::string> PythonWorkers(const WorkerCatalog& workers) {
  std::vector<std::string> names;
  for (const WorkerEntry& entry : workers.entries())
    if (entry.python) names.push_back(entry.name);
  return names;
}

EnvironmentFrameworks FrameworksOf(WorkerCatalog& workers,
                                   const std::vector<PythonEnvironment>& environments) {
  EnvironmentFrameworks found;
  for (const PythonEnvironment& environment : environments) {
    for (const WorkerEntry& entry : workers.entries()) {
      if (!entry.python || MissingFramework(workers, entry, environment)) continue;
      const std::string worker = fmt::format("{}@{}", entry.name, environment.name);
      if (const auto broken = BrokenFramework(workers, entry, environment))
        found.left_out.insert(fmt::format("{}: {}", worker, *broken));
      else
        found.workers.push_back(worker);
    }
  }
  return found;
}

void PrintLeftOut(const std::set<std::string>& left_out) {
  for (const std::string& reason : left_out)
    fmt::print(stderr, "tench: note: left out: {}\n", reason);
}

std::vector<std::string> InEnvironments(const std::string& worker, const WorkerCatalog& workers,
                                        const std::vector<PythonEnvironment>& environments) {
  const Result<const WorkerEntry*> entry = workers.Find(worker);
  if (!entry.ok() || !(*entry)->python || environments.empty()) return {worker};
  std::vector<std::string> names;
  for (const PythonEnvironment& one : environments)
    names.push_back(fmt::format("{}@{}", worker, one.name));
  return names;
}

Result<std::string> OneInEnvironment(const std::string& worker, WorkerCatalog& workers,
                                     const PythonFlag& flag) {
  const Result<const WorkerEntry*> entry = workers.Find(WorkerName::Of(worker).name);
  const bool python = entry.ok() && (*entry)->python;
  if (!python && !flag.given()) return worker;
  if (!python)
    return Failed("--python: the worker '{}' does not run in a Python environment; these do: {}",
                  Printable(worker, 60), Join(PythonWorkers(workers), ", "));
  const std::vector<PythonEnvironment> environments = TENCH_TRY(flag.Use(workers));
  if (environments.size() > 1)
    return Failed("--python: one run has one environment; `tench sweep` compares several");
  const std::string chosen = InEnvironments(worker, workers, environments).front();
  const std::string version = WorkerName::Of(chosen).version;
  if (flag.given() && version != environments.front().name)
    return Failed("--python: '{}' names the version '{}'; write --worker {}", Printable(worker, 60),
                  Printable(version, 60), (*entry)->name);
  TENCH_TRY(CheckFramework(chosen, workers, environments));
  return chosen;
}

Status CheckFramework(const std::string& worker, WorkerCatalog& workers,
                      const std::vector<PythonEnvironment>& environments) {
  const WorkerName name = WorkerName::Of(worker);
  const Result<const WorkerEntry*> entry = workers.Find(name.name);
  if (!entry.ok() || !(*entry)->python) return Ok();
  for (const PythonEnvironment& one : environments) {
    if (one.name != name.version) continue;
    if (const auto missing = MissingFramework(workers, **entry, one))
      return Failed("{}: {}", worker, *missing);
    if (const auto broken = BrokenFramework(workers, **entry, one))
      return Failed("{}: {}", worker, *broken);
  }
  return Ok();
}

}  // namespace tench
