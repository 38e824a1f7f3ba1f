// SPDX-License-Identifier: Apache-2.0
#pragma once
// The user's own Python environments: an interpreter, or the folder of a virtual environment, under
// a name. The worker jax in the environment NAME is the worker jax@NAME. tench reads environments
// and installs nothing into them; the kit of the Python workers needs numpy only.
//
// The launcher of a Python worker takes the interpreter from the variable TENCH_WORKER_NAME, for
// jax@nightly TENCH_JAX_NIGHTLY. The variables are part of the DecisiveEnvironment
// (worker_environment.h), so a reproducer needs no further flag.
// Thread safety: FindPython and ActivePython start a process; UseEnvironments changes this process'
// environment.

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/stop_token.h"
#include "run/session/worker_catalog.h"

namespace tench {

struct PythonEnvironment {
  std::string name;                   // "nightly"
  std::filesystem::path interpreter;  // absolute
  std::string python, numpy;          // versions
};

// `path` is an interpreter, also one on PATH ("python3"), or a folder with bin/python; "~/" is the
// home folder. Without `name` the environment is named by its folder, or by its interpreter if it
// is no virtual environment. Starts the interpreter: the error of one that is broken, too old or
// without numpy names the remedy.
Result<PythonEnvironment> FindPython(const std::string& path, const std::string& name = "");
// The same of "PATH" or "NAME=PATH".
Result<PythonEnvironment> FindNamedPython(const std::string& text);

// Where the activated environment is: VIRTUAL_ENV, CONDA_PREFIX, or python3 on PATH.
std::string ActivePythonPath();

// Sets the variables of all Python workers of the catalog. Fails if two environments have one name
// or one variable.
Status UseEnvironments(std::span<const PythonEnvironment> environments,
                       const WorkerCatalog& workers);

// The reason why a Python worker cannot run in an environment, with the remedy: its framework is
// not installed. Null if it can. UseEnvironments comes first.
std::optional<std::string> MissingFramework(WorkerCatalog& workers, const WorkerEntry& entry,
                                            const PythonEnvironment& environment);

// The reason why a framework that is installed in an environment does not load, with the remedy.
// Starts the worker on a small job, once per catalog: its build is identified by the same job. Null
// if it loads.
std::optional<std::string> BrokenFramework(WorkerCatalog& workers, const WorkerEntry& entry,
                                           const PythonEnvironment& environment,
                                           StopToken stop = {});

}  // namespace tench
