// SPDX-License-Identifier: Apache-2.0
#pragma once
// The Python environment whose frameworks tench can measure, for `tench doctor`: the one that
// --python or TENCH_PYTHON names, or the active one. Nothing is installed into it.

#include <string>
#include <vector>

#include "base/json.h"
#include "cli/python_flag.h"

namespace tench {

struct ActivePython {
  std::vector<PythonEnvironment> environments;
  bool asked = false;   // --python or TENCH_PYTHON names them
  std::string problem;  // of the active environment; a flag's is an error
};

Result<ActivePython> FindActivePython(const PythonFlag& flag, const WorkerCatalog& workers);

Json ToJson(const ActivePython& active, WorkerCatalog& workers);

// Prints which frameworks each environment has, wrapped at `width` characters.
void Print(const ActivePython& active, WorkerCatalog& workers, size_t width);

}  // namespace tench
