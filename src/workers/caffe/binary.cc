// SPDX-License-Identifier: Apache-2.0
#include "workers/caffe/binary.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <vector>

#include "base/clock.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "base/variable_name.h"
#include "workers/caffe/process.h"

namespace tench::caffe_worker {
namespace {

constexpr int64_t kAnswerNs = 20'000'000'000;
constexpr const char* kHelp =
    "install Caffe 1.0 (a build with HDF5, which is its default) and put `caffe` on PATH or its "
    "path into TENCH_CAFFE";

bool IsProgram(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

// The program's output; after a failure, the part that was printed.
std::string Printed(const std::filesystem::path& binary, const std::vector<std::string>& arguments,
                    const std::string& loader_trace) {
  Result<Pipe> pipe = Pipe::Make();
  if (!pipe.ok()) return "";
  SpawnOptions spawn;
  spawn.executable = binary;
  spawn.arguments = arguments;
  spawn.environment = ChildEnvironment(1);
  if (!loader_trace.empty()) spawn.environment.emplace_back(loader_trace, "1");
  spawn.output_fd = pipe->out.get();
  Result<Subprocess> child = Subprocess::Spawn(spawn);
  pipe->out.Close();
  if (!child.ok()) return "";
  std::string text;
  std::array<char, 4096> buffer;
  const int64_t deadline_ns = NowNs() + kAnswerNs;
  while (NowNs() < deadline_ns) {
    pollfd ready{pipe->in.get(), POLLIN, 0};
    poll(&ready, 1, 100);
    const ssize_t got = read(pipe->in.get(), buffer.data(), buffer.size());
    if (got > 0) text.append(buffer.data(), static_cast<size_t>(got));
    if (got == 0) break;
  }
  child->End(0);
  return text;
}

}  // namespace

std::string BinaryName() {
  const char* version = std::getenv("TENCH_WORKER_VERSION");
  const bool named =
      version != nullptr && *version != '\0' && !(*version >= '0' && *version <= '9');
  return named ? version : "";
}

Result<std::filesystem::path> FindBinary() {
  if (const std::string name = BinaryName(); !name.empty()) {
    const std::string variable = "TENCH_CAFFE_" + VariableName(name);
    const char* path = std::getenv(variable.c_str());
    if (path == nullptr || *path == '\0')
      return Unsupported("caffe@{}: set {} to the path of that `caffe` program", Printable(name),
                         variable);
    if (IsProgram(path)) return std::filesystem::absolute(path);
    return Unsupported("{} is '{}', which is not an executable", variable, Printable(path));
  }
  if (const char* named = std::getenv("TENCH_CAFFE"); named != nullptr && *named != '\0') {
    if (IsProgram(named)) return std::filesystem::absolute(named);
    return Unsupported("TENCH_CAFFE is '{}', which is not an executable; {}", Printable(named),
                       kHelp);
  }
  const char* path = std::getenv("PATH");
  for (const std::string& folder : Split(path != nullptr ? path : "", ':')) {
    const std::filesystem::path file =
        std::filesystem::path(folder.empty() ? "." : folder) / "caffe";
    if (IsProgram(file)) return std::filesystem::absolute(file);
  }
  return Unsupported("there is no `caffe` program on PATH; {}", kHelp);
}

BinaryFacts AskBinary(const std::filesystem::path& binary) {
  BinaryFacts facts{"unknown", ""};
  for (const std::string& line : Split(Printed(binary, {"--version"}, ""), '\n')) {
    const size_t at = line.find(" version ");
    if (at != std::string::npos)
      facts.version = Printable(Trim(std::string_view(line).substr(at + 9)), 60);
  }
  // As ldd does: the loader lists the libraries, and nothing runs.
  for (const std::string& line : Split(Printed(binary, {}, "LD_TRACE_LOADED_OBJECTS"), '\n')) {
    const size_t arrow = line.find(" => /");
    if (arrow == std::string::npos) continue;
    const std::string_view name = Trim(std::string_view(line).substr(0, arrow));
    const bool blas = name.find("blas") != std::string_view::npos ||
                      name.find("atlas") != std::string_view::npos ||
                      name.find("mkl_rt") != std::string_view::npos;
    if (!blas) continue;
    const std::string_view file = std::string_view(line).substr(arrow + 4);
    std::error_code error;
    facts.blas =
        std::filesystem::canonical(std::string(file.substr(0, file.find(" ("))), error).string();
    break;
  }
  return facts;
}

}  // namespace tench::caffe_worker
