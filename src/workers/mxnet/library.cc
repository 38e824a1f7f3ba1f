// SPDX-License-Identifier: Apache-2.0
#include "workers/mxnet/library.h"

#include <dlfcn.h>
#include <sched.h>

#include <cstdlib>
#include <optional>
#include <thread>

#include "base/file.h"
#include "worker/framework_error.h"

namespace tench::mxnet {
namespace {

constexpr const char* kFix =
    "run deps/fetch --workers mxnet, or set TENCH_MXNET_LIBRARY to a library of MXNet 1.9";

// MXNet checks once, while it is loaded, whether OMP_NUM_THREADS is set. If not, it assumes
// hyper-threads and uses half of the CPUs at most. If it is set, MXNet asks OpenMP before every
// loop, so that the engine thread can set the real number later.
void ClaimThreadCount() {
  cpu_set_t cpus;
  const int count = sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
  setenv("OMP_NUM_THREADS", std::to_string(count).c_str(), 0);
}

// MXNet times its own loops while it is loaded, which can leave an OpenMP team in the loading
// thread; the team ends with its thread. With more threads than CPUs, libgomp lets a waiting team
// sleep at once. Together with a thread count of 1 in the calling thread (SetThreads), this reduced
// a LeNet step on two cores from 42 to 28 ms and raised CPU time over wall time from 1.4 to 2.0.
// libgomp itself was not traced.
Result<SymbolTable> OpenInItsOwnThread(const std::filesystem::path& file) {
  std::optional<Result<SymbolTable>> opened;
  std::thread([&] { opened = SymbolTable::Open(file, RTLD_NOW | RTLD_LOCAL, kFix); }).join();
  return *std::move(opened);
}

}  // namespace

std::filesystem::path Library::DefaultFile() {
  const char* named = std::getenv("TENCH_MXNET_LIBRARY");
  if (named != nullptr && *named != '\0') return named;
  std::error_code error;
  return std::filesystem::weakly_canonical(
      ExecutableFolder().parent_path() / "lib" / "tench" / "mxnet" / "mxnet" / "libmxnet.so",
      error);
}

Result<Library> Library::Open(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::exists(file, error))
    return Unsupported("{}: no such library ({})", file.string(), kFix);
  ClaimThreadCount();
  for (const char* companion : {"libgfortran.so.3", "libopenblas.so.0"}) {
    const std::filesystem::path beside = file.parent_path() / companion;
    if (!std::filesystem::exists(beside, error)) continue;
    TENCH_TRY(OpenInItsOwnThread(beside));
  }
  Library library(TENCH_TRY(OpenInItsOwnThread(file)));
  TENCH_TRY(library->symbols.Complete(fmt::format("tench needs MXNet 1.9 ({})", kFix)));
  int version = 0;
  TENCH_TRY(library.Ask(library->MXGetVersion(&version), "version"));
  if (version / 100 != 109)
    return Unsupported("{}: MXNet {}; tench needs 1.9 ({})", file.string(), library.Version(),
                       kFix);
  // Legacy operators (SequenceMask, SoftmaxOutput) are found by name only after one listing of all
  // operators.
  uint32_t count = 0;
  const char** names = nullptr;
  TENCH_TRY(library.Ask(library->MXListAllOpNames(&count, &names), "operators"));
  return library;
}

Status Library::Ask(int code, std::string_view what) const {
  if (code == 0) return Ok();
  Error error = ErrorOf(functions_.MXGetLastError());
  error.message = fmt::format("{}: MXNet says: {}", what, error.message);
  return error;
}

Result<void*> Library::Op(const std::string& name) const {
  void* op = nullptr;
  if (functions_.NNGetOpHandle(name.c_str(), &op) != 0 || op == nullptr) {
    return Unsupported("{}: MXNet {} has no operator '{}'", file().string(), Version(), name);
  }
  return op;
}

bool Library::HasFeature(std::string_view name) const {
  const LibFeature* features = nullptr;
  size_t count = 0;
  if (functions_.MXLibInfoFeatures(&features, &count) != 0) return false;
  for (size_t i = 0; i < count; ++i) {
    if (features[i].name == name) return features[i].enabled;
  }
  return false;
}

std::string Library::Version() const {
  int version = 0;
  if (functions_.MXGetVersion(&version) != 0) return "unknown";
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

}  // namespace tench::mxnet
