// SPDX-License-Identifier: Apache-2.0
#include "workers/mxnet/library.h"

#include <dlfcn.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "worker/library_file.h"
#include "worker/symbol_table.h"

namespace tench::mxnet {
namespace {

constexpr const char* kFix = "deps/fetch --workers mxnet brings the one that tench was written for";

void FindArrayFunctions(SymbolTable& table, Functions& f) {
  table("MXGetLastError", f.MXGetLastError);
  table("MXGetVersion", f.MXGetVersion);
  table("MXLibInfoFeatures", f.MXLibInfoFeatures);
  table("MXGetGPUCount", f.MXGetGPUCount);
  table("MXRandomSeed", f.MXRandomSeed);
  table("MXEnginePushSync", f.MXEnginePushSync);
  table("MXListAllOpNames", f.MXListAllOpNames);
  table("NNGetOpHandle", f.NNGetOpHandle);
  table("MXNDArrayCreateEx", f.MXNDArrayCreateEx);
  table("MXNDArraySlice", f.MXNDArraySlice);
  table("MXNDArrayFree", f.MXNDArrayFree);
  table("MXNDArraySyncCopyFromCPU", f.MXNDArraySyncCopyFromCPU);
  table("MXNDArraySyncCopyToCPU", f.MXNDArraySyncCopyToCPU);
  table("MXNDArrayWaitAll", f.MXNDArrayWaitAll);
  table("omp_set_num_threads", f.omp_set_num_threads);
  table("omp_get_max_threads", f.omp_get_max_threads);
  table("MXImperativeInvoke", f.MXImperativeInvoke);
}

void FindGraphFunctions(SymbolTable& table, Functions& f) {
  table("MXSymbolCreateVariable", f.MXSymbolCreateVariable);
  table("MXSymbolCreateAtomicSymbol", f.MXSymbolCreateAtomicSymbol);
  table("MXSymbolCompose", f.MXSymbolCompose);
  table("MXSymbolCreateGroup", f.MXSymbolCreateGroup);
  table("MXSymbolListArguments", f.MXSymbolListArguments);
  table("MXSymbolListAuxiliaryStates", f.MXSymbolListAuxiliaryStates);
  table("MXSymbolFree", f.MXSymbolFree);
  table("MXExecutorSimpleBindEx", f.MXExecutorSimpleBindEx);
  table("MXExecutorForward", f.MXExecutorForward);
  table("MXExecutorBackwardEx", f.MXExecutorBackwardEx);
  table("MXExecutorOutputs", f.MXExecutorOutputs);
  table("MXExecutorPrint", f.MXExecutorPrint);
  table("MXExecutorFree", f.MXExecutorFree);
  table("MXSetProcessProfilerConfig", f.MXSetProcessProfilerConfig);
  table("MXSetProcessProfilerState", f.MXSetProcessProfilerState);
  table("MXDumpProcessProfile", f.MXDumpProcessProfile);
}

// MXNet looks once, while it is loaded, whether this is set. If not it takes half of the processors
// for hyper-threads and never uses more than the other half; set, it asks OpenMP before every loop,
// and the engine's thread can be told the real number later.
void ClaimThreadCount() {
  cpu_set_t cpus;
  const int count = sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
  setenv("OMP_NUM_THREADS", std::to_string(count).c_str(), 0);
}

// While it is loaded MXNet times its own loops, which may leave the loading thread with a team of
// OpenMP threads; a thread that ends takes its team along. With more threads than CPUs libgomp lets
// a waiting team sleep at once. Together with the caller's count of one (SetThreads) this took a
// LeNet step on two cores from 42 to 28 ms, and CPU per wall time from 1.4 to 2.0; libgomp itself
// was not traced.
Result<void*> OpenInItsOwnThread(const std::filesystem::path& file) {
  if (const Status checked = CheckLibraryFile(file); !checked)
    return Unsupported("{} ({})", checked.error().message, kFix);
  void* opened = nullptr;
  std::string error;
  std::thread([&] {
    opened = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (opened == nullptr) error = dlerror();  // kept per thread
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
  if (!std::filesystem::exists(file, error))
    return Unsupported("{}: no such library ({})", file.string(), kFix);
  ClaimThreadCount();
  for (const char* companion : {"libgfortran.so.3", "libopenblas.so.0"}) {
    const std::filesystem::path beside = file.parent_path() / companion;
    if (!std::filesystem::exists(beside, error)) continue;
    TENCH_TRY(OpenInItsOwnThread(beside));
  }
  void* const opened = TENCH_TRY(OpenInItsOwnThread(file));
  Library library;
  library.file_ = file;
  SymbolTable table(opened, file);
  FindArrayFunctions(table, library.functions_);
  FindGraphFunctions(table, library.functions_);
  TENCH_TRY(table.Complete(fmt::format("tench needs MXNet 1.9 ({})", kFix)));
  int version = 0;
  TENCH_TRY(library.Ask(library->MXGetVersion(&version), "version"));
  if (version / 100 != 109)
    return Unsupported("{}: MXNet {}; tench needs 1.9 ({})", file.string(), library.Version(),
                       kFix);
  // Operators of the older kind (SequenceMask, SoftmaxOutput) can be found by name only after all
  // were listed once.
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
    if (!candidate.starts_with("Traceback") && !candidate.starts_with("  [bt]") &&
        !candidate.starts_with("  File") && !candidate.starts_with("Stack trace")) {
      line = candidate;
    }
    at = end + 1;
  }
  const bool memory = said.find("allocate") != std::string_view::npos ||
                      said.find("bad_alloc") != std::string_view::npos;
  return Error{fmt::format("{}: MXNet says: {}", what, line),
               memory ? ErrorKind::kOutOfMemory : ErrorKind::kFailed};
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
