// SPDX-License-Identifier: Apache-2.0
#pragma once
// MXNet's C library, opened at run time. The OpenBLAS and libgfortran beside it are loaded first,
// by path, so that the loader takes no others of the same name. One process holds one MXNet: the
// library is never unloaded, and its engine's threads live until the process ends.

#include <mxnet/c_api.h>

#include <filesystem>
#include <memory>
#include <string>

#include "base/error.h"
#include "worker/symbol_table.h"

// Declared here, because the header of nnvm's C API includes dmlc's headers.
extern "C" int NNGetOpHandle(const char* op_name, void** op_out);

namespace tench::mxnet {

struct Functions {
  SymbolTable symbols;

  decltype(&::MXGetLastError) MXGetLastError = symbols["MXGetLastError"];
  decltype(&::MXGetVersion) MXGetVersion = symbols["MXGetVersion"];
  decltype(&::MXLibInfoFeatures) MXLibInfoFeatures = symbols["MXLibInfoFeatures"];
  decltype(&::MXGetGPUCount) MXGetGPUCount = symbols["MXGetGPUCount"];
  decltype(&::MXRandomSeed) MXRandomSeed = symbols["MXRandomSeed"];
  decltype(&::MXEnginePushSync) MXEnginePushSync = symbols["MXEnginePushSync"];
  decltype(&::MXListAllOpNames) MXListAllOpNames = symbols["MXListAllOpNames"];
  decltype(&::NNGetOpHandle) NNGetOpHandle = symbols["NNGetOpHandle"];
  decltype(&::MXNDArrayCreateEx) MXNDArrayCreateEx = symbols["MXNDArrayCreateEx"];
  decltype(&::MXNDArraySlice) MXNDArraySlice = symbols["MXNDArraySlice"];
  decltype(&::MXNDArrayFree) MXNDArrayFree = symbols["MXNDArrayFree"];
  decltype(&::MXNDArraySyncCopyFromCPU) MXNDArraySyncCopyFromCPU =
      symbols["MXNDArraySyncCopyFromCPU"];
  decltype(&::MXNDArraySyncCopyToCPU) MXNDArraySyncCopyToCPU = symbols["MXNDArraySyncCopyToCPU"];
  decltype(&::MXNDArrayWaitAll) MXNDArrayWaitAll = symbols["MXNDArrayWaitAll"];
  decltype(&::MXImperativeInvoke) MXImperativeInvoke = symbols["MXImperativeInvoke"];
  decltype(&::MXSymbolCreateVariable) MXSymbolCreateVariable = symbols["MXSymbolCreateVariable"];
  decltype(&::MXSymbolCreateAtomicSymbol) MXSymbolCreateAtomicSymbol =
      symbols["MXSymbolCreateAtomicSymbol"];
  decltype(&::MXSymbolCompose) MXSymbolCompose = symbols["MXSymbolCompose"];
  decltype(&::MXSymbolCreateGroup) MXSymbolCreateGroup = symbols["MXSymbolCreateGroup"];
  decltype(&::MXSymbolListArguments) MXSymbolListArguments = symbols["MXSymbolListArguments"];
  decltype(&::MXSymbolListAuxiliaryStates) MXSymbolListAuxiliaryStates =
      symbols["MXSymbolListAuxiliaryStates"];
  decltype(&::MXSymbolFree) MXSymbolFree = symbols["MXSymbolFree"];
  decltype(&::MXExecutorSimpleBindEx) MXExecutorSimpleBindEx = symbols["MXExecutorSimpleBindEx"];
  decltype(&::MXExecutorForward) MXExecutorForward = symbols["MXExecutorForward"];
  decltype(&::MXExecutorBackwardEx) MXExecutorBackwardEx = symbols["MXExecutorBackwardEx"];
  decltype(&::MXExecutorOutputs) MXExecutorOutputs = symbols["MXExecutorOutputs"];
  decltype(&::MXExecutorPrint) MXExecutorPrint = symbols["MXExecutorPrint"];
  decltype(&::MXExecutorFree) MXExecutorFree = symbols["MXExecutorFree"];
  decltype(&::MXSetProcessProfilerConfig) MXSetProcessProfilerConfig =
      symbols["MXSetProcessProfilerConfig"];
  decltype(&::MXSetProcessProfilerState) MXSetProcessProfilerState =
      symbols["MXSetProcessProfilerState"];
  decltype(&::MXDumpProcessProfile) MXDumpProcessProfile = symbols["MXDumpProcessProfile"];
  // From OpenMP's runtime, as resolved by the library.
  void (*omp_set_num_threads)(int) = symbols["omp_set_num_threads"];
  int (*omp_get_max_threads)() = symbols["omp_get_max_threads"];
};

// An owned handle of the C API: an NDArray, a symbol or an executor.
struct HandleRelease {
  int (*free)(void*) = nullptr;
  void operator()(void* handle) const { free(handle); }
};
using Handle = std::unique_ptr<void, HandleRelease>;

class Library {
 public:
  // TENCH_MXNET_LIBRARY from the environment, otherwise lib/tench/mxnet beside the program's bin,
  // which is deps/fetched in a build folder.
  static std::filesystem::path DefaultFile();
  static Result<Library> Open(const std::filesystem::path& file);

  const Functions* operator->() const { return &functions_; }

  // Converts a return code of the C API to a status with the first line of MXNet's message.
  Status Ask(int code, std::string_view what) const;
  Result<void*> Op(const std::string& name) const;
  bool HasFeature(std::string_view name) const;
  std::string Version() const;
  const std::filesystem::path& file() const { return functions_.symbols.file(); }

 private:
  explicit Library(SymbolTable symbols) : functions_{std::move(symbols)} {}

  Functions functions_;
};

}  // namespace tench::mxnet
