// SPDX-License-Identifier: Apache-2.0
#pragma once
// --python: the user's Python environments, in which the workers in Python run. Without the flag,
// the variable TENCH_PYTHON; an installation by pip sets it to its own environment. Shared by the
// commands that start workers. Not aware of what they do with them.
//
// Use changes this process' environment, which the workers' processes and the reproducers of runs
// inherit.

#include <CLI/CLI.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "plan/python_table.h"
#include "run/session/python_environment.h"
#include "run/session/worker_catalog.h"

namespace tench {

class PythonFlag {
 public:
  void AddTo(CLI::App& app, const std::string& group = "Options");

  // Checks the environments, and makes them known to the workers. `suite` are those of a suite,
  // whose file `origin` an error names; a flag replaces an environment of the same name.
  Result<std::vector<PythonEnvironment>> Use(const WorkerCatalog& workers,
                                             const std::vector<PythonPath>& suite = {},
                                             const std::string& origin = "") const;
  bool given() const { return !texts_.empty(); }

 private:
  std::vector<std::string> Texts() const;
  std::vector<std::string> texts_;
};

std::vector<std::string> NamesOf(const std::vector<PythonEnvironment>& environments);
std::vector<std::string> PythonWorkers(const WorkerCatalog& workers);

// The Python workers that can run in the environments: "jax@nightly". One whose framework is
// installed and does not load is left out, with the reason: "jax@nightly: it does not load: …".
struct EnvironmentFrameworks {
  std::vector<std::string> workers;
  std::set<std::string> left_out;
};
EnvironmentFrameworks FrameworksOf(WorkerCatalog& workers,
                                   const std::vector<PythonEnvironment>& environments);
// Prints notes to standard error.
void PrintLeftOut(const std::set<std::string>& left_out);

// The workers that a user's `worker` is in the environments: one per environment if it is a Python
// worker without a version, otherwise the worker itself.
std::vector<std::string> InEnvironments(const std::string& worker, const WorkerCatalog& workers,
                                        const std::vector<PythonEnvironment>& environments);

// The worker of a single run, which exists and whose framework its environment can load.
Result<std::string> OneInEnvironment(const std::string& worker, WorkerCatalog& workers,
                                     const PythonFlag& flag);

// Fails if `worker` names an environment in which the framework is missing or does not load.
Status CheckFramework(const std::string& worker, WorkerCatalog& workers,
                      const std::vector<PythonEnvironment>& environments);

}  // namespace tench
