// SPDX-License-Identifier: Apache-2.0
#include "run/session/python_environment.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "base/variable_name.h"
#include "plan/worker_table.h"
#include "protocol/missing_fact.h"
#include "run/session/program_output.h"
#include "run/session/worker_build.h"
#include "run/session/worker_environment.h"

namespace tench {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kPythonAnswerNs = 30'000'000'000;
constexpr size_t kMaxPythonAnswer = 64 << 10;
constexpr int64_t kOldestMinor = 6;  // of Python 3
constexpr const char* kNoNumpy = "No module named 'numpy'";
// Runs in every version of Python; numpy is imported, because a broken one is as bad as none.
constexpr const char* kQuestion =
    "import sys; print('python %d.%d.%d' % sys.version_info[:3]); sys.stdout.flush(); "
    "import numpy; print('numpy ' + numpy.__version__)";

bool IsProgram(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

std::string Variable(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr ? text : "";
}

fs::path ExpandHome(const std::string& path) {
  const std::string home = Variable("HOME");
  if (home.empty() || !(path == "~" || path.starts_with("~/"))) return path;
  return home + path.substr(1);
}

// The interpreter of a path; empty if it has none.
fs::path InterpreterOf(const std::string& text) {
  const fs::path path = ExpandHome(text);
  std::error_code error;
  if (fs::is_directory(path, error)) {
    for (const char* program : {"bin/python", "bin/python3"})
      if (IsProgram(path / program)) return fs::absolute(path / program, error);
    return {};
  }
  if (IsProgram(path) && text.find('/') != std::string::npos) return fs::absolute(path, error);
  if (text.find('/') != std::string::npos) return {};
  for (const std::string& folder : Split(Variable("PATH"), ':')) {
    const fs::path program = fs::path(folder.empty() ? "." : folder) / text;
    if (IsProgram(program)) return fs::absolute(program, error);
  }
  return {};
}

// "nightly" of nightly/bin/python, "python3.11" of /usr/bin/python3.11.
std::string NameOf(const fs::path& interpreter) {
  const fs::path folder = interpreter.parent_path().parent_path();
  std::error_code error;
  const bool is_environment =
      fs::exists(folder / "pyvenv.cfg", error) || fs::is_directory(folder / "conda-meta", error);
  std::string name = (is_environment ? folder : interpreter).filename().string();
  for (char& c : name)
    if (!IsWord(std::string("x") + c)) c = '_';
  const auto first = std::find_if(name.begin(), name.end(),
                                  [](char c) { return IsWord(std::string_view(&c, 1)); });
  name.erase(name.begin(), first);
  return name.empty() ? "python" : name.substr(0, 40);
}

Result<ProgramOutput> Ask(const fs::path& interpreter) {
  WorkerLaunch launch{{}, TENCH_TRY(Pipe::Make()), TENCH_TRY(Pipe::Make()), {}};
  launch.spawn.executable = interpreter;
  launch.spawn.arguments = {"-c", kQuestion};
  launch.spawn.environment =
      WorkerEnvironment(OwnEnvironment(), {}, "", {{"PYTHONDONTWRITEBYTECODE", "1"}});
  launch.spawn.output_fd = launch.answers.out.get();
  launch.spawn.error_fd = launch.log.out.get();
  return OutputOf(std::move(launch), kPythonAnswerNs, kMaxPythonAnswer);
}

// The rest of the line that begins with `word`.
std::string AnswerOf(const std::string& text, std::string_view word) {
  for (const std::string& line : Split(text, '\n')) {
    if (line.starts_with(word)) return Printable(Trim(line.substr(word.size())), 60);
  }
  return "";
}

Status CheckVersion(const fs::path& interpreter, const std::string& version) {
  const std::vector<std::string> parts = Split(version, '.');
  const auto number = [&](size_t i) -> int64_t {
    const Result<int64_t> value = ParseInteger(i < parts.size() ? parts[i] : "0");
    return value.ok() ? *value : 0;
  };
  if (number(0) > 3 || (number(0) == 3 && number(1) >= kOldestMinor)) return Ok();
  return Failed("{} is Python {}; the workers need Python 3.{} or newer", interpreter.string(),
                version, kOldestMinor);
}

// Upper case with digits, as a launcher derives it.
std::string VariableOf(const std::string& worker, const std::string& environment) {
  return fmt::format("TENCH_{}_{}", VariableName(worker), VariableName(environment));
}

}  // namespace

Result<PythonEnvironment> FindPython(const std::string& path, const std::string& name) {
  if (path.empty()) return Failed("the path of the Python environment is empty");
  if (!name.empty() && !IsWord(name))
    return Failed("'{}' cannot name an environment: use a word that begins with a letter",
                  Printable(name, 60));
  PythonEnvironment found;
  found.interpreter = InterpreterOf(path);
  const std::string shown = Printable(path);
  if (found.interpreter.empty() && path.find('/') == std::string::npos && !fs::exists(path))
    return Failed(
        "there is no program or folder '{}': give an interpreter or a virtual environment, or "
        "install Python 3 (apt-get install python3-venv)",
        shown);
  if (found.interpreter.empty())
    return Failed(
        "'{}' is no Python: give an interpreter or a virtual environment (python3 -m venv {})",
        shown, shown);
  found.name = name.empty() ? NameOf(found.interpreter) : name;
  const std::string program = found.interpreter.string();
  const Result<ProgramOutput> output = Ask(found.interpreter);
  const std::string remedy = fmt::format("create the environment again: python3 -m venv {}", shown);
  if (!output.ok())
    return Failed("{} does not start: {}; {}", program, output.error().message, remedy);
  found.python = AnswerOf(output->text, "python ");
  if (found.python.empty())
    return Failed("{} is broken ({}); {}", program,
                  output->late                ? "it does not answer"
                  : output->last_line.empty() ? output->exit.ToString()
                                              : output->last_line,
                  remedy);
  TENCH_TRY(CheckVersion(found.interpreter, found.python));
  found.numpy = AnswerOf(output->text, "numpy ");
  if (found.numpy.empty() && output->last_line.find(kNoNumpy) == std::string::npos &&
      !output->last_line.empty())
    return Failed("the numpy of {} is broken ({}); {} -m pip install --force-reinstall numpy",
                  program, output->last_line, program);
  if (found.numpy.empty())
    return Failed("{} has no numpy, which the workers need: {} -m pip install numpy", program,
                  program);
  return found;
}

Result<PythonEnvironment> FindNamedPython(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || text.find('/') < equals) return FindPython(text);
  if (equals == 0) return Failed("'{}' names no environment before '='", Printable(text, 100));
  return FindPython(text.substr(equals + 1), text.substr(0, equals));
}

std::string ActivePythonPath() {
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const std::string folder = Variable(variable); !folder.empty()) return folder;
  return "python3";
}

Status UseEnvironments(std::span<const PythonEnvironment> environments,
                       const WorkerCatalog& workers) {
  std::map<std::string, std::string> names;  // by variable
  for (const PythonEnvironment& one : environments) {
    const auto [other, is_new] = names.try_emplace(VariableName(one.name), one.name);
    if (!is_new)
      return Failed("two environments have the name '{}': give one another name, NAME={}",
                    other->second, one.interpreter.string());
    for (const WorkerEntry& entry : workers.entries()) {
      if (entry.python)
        setenv(VariableOf(entry.name, one.name).c_str(), one.interpreter.c_str(), 1);
    }
  }
  return Ok();
}

std::optional<std::string> MissingFramework(WorkerCatalog& workers, const WorkerEntry& entry,
                                            const PythonEnvironment& environment) {
  const Result<Description> description = workers.Describe(entry, environment.name);
  if (!description.ok()) return description.error().message;
  const auto missing = description->facts.find(kMissingFact);
  if (missing == description->facts.end()) return std::nullopt;
  return missing->second;
}

std::optional<std::string> BrokenFramework(WorkerCatalog& workers, const WorkerEntry& entry,
                                           const PythonEnvironment& environment, StopToken stop) {
  const auto build = workers.Build(entry, environment.name, stop);
  if (!build.ok() || (*build)->not_loaded.empty()) return std::nullopt;
  return "it does not load: " + (*build)->not_loaded;
}

}  // namespace tench
