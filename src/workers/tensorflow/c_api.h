// SPDX-License-Identifier: Apache-2.0
#pragma once
// TensorFlow's C API as a table of functions, resolved from a library that is opened at run time.
// One worker binary serves every installed version, and a library that is missing, damaged or too
// old is an error of one line. The types come from TensorFlow's own C header; no symbol is linked.
// A table is valid for the life of the process: the library is never closed. Any thread may call
// the functions as far as TensorFlow allows it.

#include <tensorflow/c/c_api.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "base/error.h"
#include "worker/symbol_table.h"

namespace tench::tensorflow {

struct CApi {
  SymbolTable symbols;

  decltype(&TF_Version) Version = symbols["TF_Version"];
  decltype(&TF_NewStatus) NewStatus = symbols["TF_NewStatus"];
  decltype(&TF_DeleteStatus) DeleteStatus = symbols["TF_DeleteStatus"];
  decltype(&TF_GetCode) GetCode = symbols["TF_GetCode"];
  decltype(&TF_Message) Message = symbols["TF_Message"];
  decltype(&TF_NewGraph) NewGraph = symbols["TF_NewGraph"];
  decltype(&TF_DeleteGraph) DeleteGraph = symbols["TF_DeleteGraph"];
  decltype(&TF_NewOperation) NewOperation = symbols["TF_NewOperation"];
  decltype(&TF_FinishOperation) FinishOperation = symbols["TF_FinishOperation"];
  decltype(&TF_SetDevice) SetDevice = symbols["TF_SetDevice"];
  decltype(&TF_AddInput) AddInput = symbols["TF_AddInput"];
  decltype(&TF_AddInputList) AddInputList = symbols["TF_AddInputList"];
  decltype(&TF_AddControlInput) AddControlInput = symbols["TF_AddControlInput"];
  decltype(&TF_SetAttrType) SetAttrType = symbols["TF_SetAttrType"];
  decltype(&TF_SetAttrInt) SetAttrInt = symbols["TF_SetAttrInt"];
  decltype(&TF_SetAttrIntList) SetAttrIntList = symbols["TF_SetAttrIntList"];
  decltype(&TF_SetAttrFloat) SetAttrFloat = symbols["TF_SetAttrFloat"];
  decltype(&TF_SetAttrBool) SetAttrBool = symbols["TF_SetAttrBool"];
  decltype(&TF_SetAttrString) SetAttrString = symbols["TF_SetAttrString"];
  decltype(&TF_SetAttrShape) SetAttrShape = symbols["TF_SetAttrShape"];
  decltype(&TF_SetAttrTensor) SetAttrTensor = symbols["TF_SetAttrTensor"];
  decltype(&TF_OperationName) OperationName = symbols["TF_OperationName"];
  decltype(&TF_OperationNumInputs) OperationNumInputs = symbols["TF_OperationNumInputs"];
  decltype(&TF_OperationInput) OperationInput = symbols["TF_OperationInput"];
  decltype(&TF_OperationNumControlInputs) OperationNumControlInputs =
      symbols["TF_OperationNumControlInputs"];
  decltype(&TF_OperationGetControlInputs) OperationGetControlInputs =
      symbols["TF_OperationGetControlInputs"];
  decltype(&TF_OperationOutputNumConsumers) OperationOutputNumConsumers =
      symbols["TF_OperationOutputNumConsumers"];
  decltype(&TF_OperationOutputConsumers) OperationOutputConsumers =
      symbols["TF_OperationOutputConsumers"];
  decltype(&TF_AddGradientsWithPrefix) AddGradientsWithPrefix =
      symbols["TF_AddGradientsWithPrefix"];
  decltype(&TF_NewSessionOptions) NewSessionOptions = symbols["TF_NewSessionOptions"];
  decltype(&TF_SetConfig) SetConfig = symbols["TF_SetConfig"];
  decltype(&TF_DeleteSessionOptions) DeleteSessionOptions = symbols["TF_DeleteSessionOptions"];
  decltype(&TF_NewSession) NewSession = symbols["TF_NewSession"];
  decltype(&TF_CloseSession) CloseSession = symbols["TF_CloseSession"];
  decltype(&TF_DeleteSession) DeleteSession = symbols["TF_DeleteSession"];
  decltype(&TF_SessionRun) SessionRun = symbols["TF_SessionRun"];
  decltype(&TF_SessionListDevices) SessionListDevices = symbols["TF_SessionListDevices"];
  decltype(&TF_DeviceListCount) DeviceListCount = symbols["TF_DeviceListCount"];
  decltype(&TF_DeviceListType) DeviceListType = symbols["TF_DeviceListType"];
  decltype(&TF_DeleteDeviceList) DeleteDeviceList = symbols["TF_DeleteDeviceList"];
  decltype(&TF_AllocateTensor) AllocateTensor = symbols["TF_AllocateTensor"];
  decltype(&TF_DeleteTensor) DeleteTensor = symbols["TF_DeleteTensor"];
  decltype(&TF_TensorData) TensorData = symbols["TF_TensorData"];
  decltype(&TF_TensorByteSize) TensorByteSize = symbols["TF_TensorByteSize"];
  decltype(&TF_NewBuffer) NewBuffer = symbols["TF_NewBuffer"];
  decltype(&TF_NewBufferFromString) NewBufferFromString = symbols["TF_NewBufferFromString"];
  decltype(&TF_DeleteBuffer) DeleteBuffer = symbols["TF_DeleteBuffer"];

  // Facts that the C API lacks; null if a version does not export them.
  bool (*cuda_enabled)() = symbols.Optional("_ZN10tensorflow19IsGoogleCudaEnabledEv");
  bool (*onednn_enabled)() = symbols.Optional("_ZN10tensorflow12IsMKLEnabledEv");
};

// Owns the result of TF_New… or TF_Allocate….
template <class Object>
using Owned = std::unique_ptr<Object, void (*)(Object*)>;

// The installation: TENCH_TENSORFLOW_ROOT if it is set, otherwise the one that deps/fetch unpacked
// (the version of TENCH_WORKER_VERSION, "2.15", if that is set and was fetched).
std::filesystem::path TensorFlowRoot(const std::map<std::string, std::string>& environment);

// Opens the library under `root`: a site-packages folder, the package's own folder, or the C
// library's archive. The error is one line that names the file or the symbol, and the fix.
Result<CApi> OpenTensorFlow(const std::filesystem::path& root);

}  // namespace tench::tensorflow
