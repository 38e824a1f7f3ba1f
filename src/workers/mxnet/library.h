// SPDX-License-Identifier: Apache-2.0
#pragma once
// MXNet's C library, opened at run time: a file that is missing or broken is an error of one line,
// never a process that cannot start. The OpenBLAS and libgfortran that lie beside the library are
// loaded first, by path, so that no others of the same name come in. One process holds one MXNet:
// the library is never unloaded, and its engine's threads live until the process ends.

#include <mxnet/c_api.h>

#include <filesystem>
#include <memory>
#include <string>

#include "base/error.h"

// Of nnvm's C API, whose header brings in dmlc's.
extern "C" int NNGetOpHandle(const char* op_name, void** op_out);

namespace tench::mxnet {

struct Functions {
  decltype(&::MXGetLastError) MXGetLastError;
  decltype(&::MXGetVersion) MXGetVersion;
  decltype(&::MXLibInfoFeatures) MXLibInfoFeatures;
  decltype(&::MXGetGPUCount) MXGetGPUCount;
  decltype(&::MXRandomSeed) MXRandomSeed;
  decltype(&::MXEnginePushSync) MXEnginePushSync;
  decltype(&::MXListAllOpNames) MXListAllOpNames;
  decltype(&::NNGetOpHandle) NNGetOpHandle;
  decltype(&::MXNDArrayCreateEx) MXNDArrayCreateEx;
  decltype(&::MXNDArraySlice) MXNDArraySlice;
  decltype(&::MXNDArrayFree) MXNDArrayFree;
  decltype(&::MXNDArraySyncCopyFromCPU) MXNDArraySyncCopyFromCPU;
  decltype(&::MXNDArraySyncCopyToCPU) MXNDArraySyncCopyToCPU;
  decltype(&::MXNDArrayWaitAll) MXNDArrayWaitAll;
  decltype(&::MXImperativeInvoke) MXImperativeInvoke;
  decltype(&::MXSymbolCreateVariable) MXSymbolCreateVariable;
  decltype(&::MXSymbolCreateAtomicSymbol) MXSymbolCreateAtomicSymbol;
  decltype(&::MXSymbolCompose) MXSymbolCompose;
  decltype(&::MXSymbolCreateGroup) MXSymbolCreateGroup;
  decltype(&::MXSymbolListArguments) MXSymbolListArguments;
  decltype(&::MXSymbolListAuxiliaryStates) MXSymbolListAuxiliaryStates;
  decltype(&::MXSymbolFree) MXSymbolFree;
  decltype(&::MXExecutorSimpleBindEx) MXExecutorSimpleBindEx;
  decltype(&::MXExecutorForward) MXExecutorForward;
  decltype(&::MXExecutorBackwardEx) MXExecutorBackwardEx;
  decltype(&::MXExecutorOutputs) MXExecutorOutputs;
  decltype(&::MXExecutorPrint) MXExecutorPrint;
  decltype(&::MXExecutorFree) MXExecutorFree;
  decltype(&::MXSetProcessProfilerConfig) MXSetProcessProfilerConfig;
  decltype(&::MXSetProcessProfilerState) MXSetProcessProfilerState;
  decltype(&::MXDumpProcessProfile) MXDumpProcessProfile;
  // Of OpenMP's runtime, as the library itself sees it.
  void (*omp_set_num_threads)(int);
  int (*omp_get_max_threads)();
};

// Whatever the C API hands out: an array, a symbol, an executor.
struct HandleRelease {
  int (*free)(void*) = nullptr;
  void operator()(void* handle) const { free(handle); }
};
using Handle = std::unique_ptr<void, HandleRelease>;

class Library {
 public:
  // TENCH_MXNET_LIBRARY from the environment, otherwise the one that deps/fetch brought.
  static std::filesystem::path DefaultFile();
  static Result<Library> Open(const std::filesystem::path& file);

  const Functions* operator->() const { return &functions_; }

  // What the C API answered, as a status: MXNet's own words, the first line of them.
  Status Ask(int code, std::string_view what) const;
  Result<void*> Op(const std::string& name) const;
  bool HasFeature(std::string_view name) const;
  std::string Version() const;
  const std::filesystem::path& file() const { return file_; }

 private:
  std::filesystem::path file_;
  Functions functions_{};
};

}  // namespace tench::mxnet
