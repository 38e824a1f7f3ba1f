// SPDX-License-Identifier: Apache-2.0
#include "workers/mxnet/library.h"

#include <dlfcn.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

namespace tench::mxnet {
namespace {

constexpr const char* kFix = "deps/fetch --workers mxnet brings the one that tench was written for";

// A symbol of the library, or of what it was linked with.
class SymbolTable {
 public:
  SymbolTable(void* library, const std::filesystem::path& file) : library_(library), file_(file) {}

  template <class Function>
  Status Find(const char* name, Function& into) const {
    into = reinterpret_cast<Function>(dlsym(library_, name));
    if (into == nullptr) return Unsupported("{}: no symbol {}; tench needs MXNet 1.9 ({})", file_.string(), name, kFix);
    return Ok();
  }

 private:
  void* library_;
  const std::filesystem::path& file_;
};

Status FindArrayFunctions(const SymbolTable& table, Functions& f) {
  TENCH_TRY(table.Find("MXGetLastError", f.MXGetLastError));
  TENCH_TRY(table.Find("MXGetVersion", f.MXGetVersion));
  TENCH_TRY(table.Find("MXLibInfoFeatures", f.MXLibInfoFeatures));
  TENCH_TRY(table.Find("MXGetGPUCount", f.MXGetGPUCount));
  TENCH_TRY(table.Find("MXRandomSeed", f.MXRandomSeed));
  TENCH_TRY(table.Find("MXEnginePushSync", f.MXEnginePushSync));
  TENCH_TRY(table.Find("MXListAllOpNames", f.MXListAllOpNames));
  TENCH_TRY(table.Find("NNGetOpHandle", f.NNGetOpHandle));
  TENCH_TRY(table.Find("MXNDArrayCreateEx", f.MXNDArrayCreateEx));
  TENCH_TRY(table.Find("MXNDArraySlice", f.MXNDArraySlice));
  TENCH_TRY(table.Find("MXNDArrayFree", f.MXNDArrayFree));
  TENCH_TRY(table.Find("MXNDArraySyncCopyFromCPU", f.MXNDArraySyncCopyFromCPU));
  TENCH_TRY(table.Find("MXNDArraySyncCopyToCPU", f.MXNDArraySyncCopyToCPU));
  TENCH_TRY(table.Find("MXNDArrayWaitAll", f.MXNDArrayWaitAll));
  TENCH_TRY(table.Find("omp_set_num_threads", f.omp_set_num_threads));
  TENCH_TRY(table.Find("omp_get_max_threads", f.omp_get_max_threads));
  return table.Find("MXImperativeInvoke", f.MXImperativeInvoke);
}

Status FindGraphFunctions(const SymbolTable& table, Functions& f) {
  TENCH_TRY(table.Find("MXSymbolCreateVariable", f.MXSymbolCreateVariable));
  TENCH_TRY(table.Find("MXSymbolCreateAtomicSymbol", f.MXSymbolCreateAtomicSymbol));
  TENCH_TRY(table.Find("MXSymbolCompose", f.MXSymbolCompose));
  TENCH_TRY(table.Find("MXSymbolCreateGroup", f.MXSymbolCreateGroup));
  TENCH_TRY(table.Find("MXSymbolListArguments", f.MXSymbolListArguments));
  TENCH_TRY(table.Find("MXSymbolListAuxiliaryStates", f.MXSymbolListAuxiliaryStates));
  TENCH_TRY(table.Find("MXSymbolFree", f.MXSymbolFree));
  TENCH_TRY(table.Find("MXExecutorSimpleBindEx", f.MXExecutorSimpleBindEx));
  TENCH_TRY(table.Find("MXExecutorForward", f.MXExecutorForward));
  TENCH_TRY(table.Find("MXExecutorBackwardEx", f.MXExecutorBackwardEx));
  TENCH_TRY(table.Find("MXExecutorOutputs", f.MXExecutorOutputs));
  TENCH_TRY(table.Find("MXExecutorPrint", f.MXExecutorPrint));
  TENCH_TRY(table.Find("MXExecutorFree", f.MXExecutorFree));
  TENCH_TRY(table.Find("MXSetProcessProfilerConfig", f.MXSetProcessProfilerConfig));
  TENCH_TRY(table.Find("MXSetProcessProfilerState", f.MXSetProcessProfilerState));
  return table.Find("MXDumpProcessProfile", f.MXDumpProcessProfile);
}

// MXNet looks once, while it is loaded, whether this is set. If not it takes half of the processors for hyper-threads and never uses
// more than the other half; set, it asks OpenMP before every loop, and the engine's thread can be told the real number later.
void ClaimThreadCount() {
  cpu_set_t cpus;
  const int count = sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
  setenv("OMP_NUM_THREADS", std::to_string(count).c_str(), 0);
}

// While it is loaded MXNet times its own loops, which may leave the loading thread with a team of OpenMP threads; a thread that ends takes its
// team along. With more threads than CPUs libgomp lets a waiting team sleep at once. Together with the caller's count of one (SetThreads)
// this took a LeNet step on two cores from 42 to 28 ms, and CPU per wall time from 1.4 to 2.0; libgomp itself was not traced.
Result<void*> OpenInItsOwnThread(const std::filesystem::path& file) {
  void* opened = nullptr;
  std::string error;
  std::thread([&] {
    opened = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (opened == nullptr) error = dlerror();   // kept per thread
  }).join();
  if (opened == nullptr) return Unsupported("{} ({})", error, kFix);
  return opened;
}

}  // namespace

std::filesystem::path Library::DefaultFile() {
  const char* named = std::getenv("TENCH_MXNET_LIBRARY");
  return named != nullptr && *named != '\0' ? named : TENCH_MXNET_LIBRARY;
}

Result<Library> Library::Open(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return Unsupported("{}: no such library ({})", file.string(), kFix);
  ClaimThreadCount();
  for (const char* companion : {"libgfortran.so.3", "libopenblas.so.0"}) {
    const std::filesystem::path beside = file.parent_path() / companion;
    if (!std::filesystem::exists(beside, error)) continue;
    TENCH_TRY(OpenInItsOwnThread(beside));
  }
  void* const opened = TENCH_TRY(OpenInItsOwnThread(file));
  Library library;
  library.file_ = file;
  const SymbolTable table(opened, file);
  TENCH_TRY(FindArrayFunctions(table, library.functions_));
  TENCH_TRY(FindGraphFunctions(table, library.functions_));
  int version = 0;
  TENCH_TRY(library.Ask(library->MXGetVersion(&version), "version"));
  if (version / 100 != 109) return Unsupported("{}: MXNet {}; tench needs 1.9 ({})", file.string(), library.Version(), kFix);
  // Operators of the older kind (SequenceMask, SoftmaxOutput) can be found by name only after all were listed once.
  uint32_t count = 0;
  const char** names = nullptr;
  TENCH_TRY(library.Ask(library->MXListAllOpNames(&count, &names), "operators"));
  return library;
}

Status Library::Ask(int code, std::string_view what) const {
  if (code == 0) return Ok();
  const std::string_view said = functions_.MXGetLastError();
  // A stack trace follows; the first line that is not about it says what is wrong.
  std::string line;
  for (size_t at = 0; at < said.size() && line.empty();) {
    const size_t end = std::min(said.find('\n', at), said.size());
    const std::string_view candidate = said.substr(at, end - at);
    if (!candidate.starts_with("Traceback") && !candidate.starts_with("  [bt]") && !candidate.starts_with("  File") &&
        !candidate.starts_with("Stack trace")) {
      line = candidate;
    }
    at = end + 1;
  }
  const bool memory = said.find("allocate") != std::string_view::npos || said.find("bad_alloc") != std::string_view::npos;
  return Error{fmt::format("{}: MXNet says: {}", what, line), memory ? ErrorKind::kOutOfMemory : ErrorKind::kFailed};
}

Result<void*> Library::Op(const std::string& name) const {
  void* op = nullptr;
  if (functions_.NNGetOpHandle(name.c_str(), &op) != 0 || op == nullptr) {
    return Unsupported("{}: MXNet {} has no operator '{}'", file_.string(), Version(), name);
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
