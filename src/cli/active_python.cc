// SPDX-License-Identifier: Apache-2.0
#include "cli/active_python.h"

#include "base/text.h"
#include "report/text_table.h"

namespace tench {
namespace {

struct Framework {
  std::string worker, version, missing;  // missing "" = it can run
  bool broken = false;                   // installed, but it does not load
};

std::vector<Framework> FrameworksIn(const PythonEnvironment& environment, WorkerCatalog& workers) {
  std::vector<Framework> found;
  for (const WorkerEntry& entry : workers.entries()) {
    if (!entry.python) continue;
    Framework framework{fmt::format("{}@{}", entry.name, environment.name), "", ""};
    framework.missing = MissingFramework(workers, entry, environment).value_or("");
    if (const auto broken = framework.missing.empty() ? BrokenFramework(workers, entry, environment)
                                                      : std::nullopt) {
      framework.missing = *broken;
      framework.broken = true;
    }
    if (framework.missing.empty())
      framework.version = (*workers.Describe(entry, environment.name)).version;
    found.push_back(std::move(framework));
  }
  return found;
}

}  // namespace

Result<ActivePython> FindActivePython(const PythonFlag& flag, const WorkerCatalog& workers) {
  ActivePython active;
  active.environments = TENCH_TRY(flag.Use(workers));
  active.asked = !active.environments.empty();
  if (active.asked) return active;
  const Result<PythonEnvironment> found = FindPython(ActivePythonPath());
  if (found.ok()) {
    active.environments.push_back(*found);
    TENCH_TRY(UseEnvironments(active.environments, workers));
  } else {
    active.problem = found.error().message;
  }
  return active;
}

Json ToJson(const ActivePython& active, WorkerCatalog& workers) {
  Json all = Json::array();
  for (const PythonEnvironment& one : active.environments) {
    Json frameworks = Json::array();
    for (const Framework& framework : FrameworksIn(one, workers))
      frameworks.push_back({{"worker", framework.worker},
                            {"version", framework.version},
                            {"missing", framework.missing}});
    all.push_back({{"name", one.name},
                   {"interpreter", one.interpreter.string()},
                   {"python", one.python},
                   {"numpy", one.numpy},
                   {"frameworks", frameworks}});
  }
  return all;
}

void Print(const ActivePython& active, WorkerCatalog& workers, size_t width) {
  if (!active.problem.empty())
    fmt::print("\n{}\n", WrapText("No Python environment: " + active.problem, width, 0));
  for (const PythonEnvironment& one : active.environments) {
    fmt::print("\n{}\n",
               WrapText(fmt::format("Python environment {}: {} (Python {}, numpy {})", one.name,
                                    one.interpreter.string(), one.python, one.numpy),
                        width, 0));
    TextTable table({{"worker"}, {"version"}});
    std::vector<std::string> absent, broken;
    for (const Framework& framework : FrameworksIn(one, workers)) {
      if (framework.missing.empty())
        table.AddRow({framework.worker, framework.version});
      else if (framework.broken)
        broken.push_back(fmt::format("{}: {}", framework.worker, framework.missing));
      else
        absent.push_back(framework.worker.substr(0, framework.worker.find('@')));
    }
    const bool any = absent.size() + broken.size() < PythonWorkers(workers).size();
    if (any) fmt::print("{}", table.RenderWrapped(width));
    for (const std::string& line : broken) fmt::print("{}\n", WrapText(line, width, 2));
    if (!absent.empty())
      fmt::print("{}\n", WrapText(fmt::format("{}: {}", any ? "not in it" : "no framework in it",
                                              Join(absent, ", ")),
                                  width, 2));
    if (any)
      fmt::print("{}\n", WrapText(fmt::format("to measure them: tench sweep quick --python {}",
                                              ShellQuote(one.interpreter.string())),
                                  width, 2));
  }
}

}  // namespace tench
