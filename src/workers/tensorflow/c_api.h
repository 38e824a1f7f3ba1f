// SPDX-License-Identifier: Apache-2.0
#pragma once
// TensorFlow's C API as a table of functions, filled from a library that is opened at run time: one
// worker binary serves every installed version, and a library that is missing, broken or too old is
// one line for the user instead of a loader's death. Types come from TensorFlow's own C header; no
// symbol of it is linked. A table is good for the life of the process: the library is never closed.

#include <tensorflow/c/c_api.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "base/error.h"

namespace tench::tensorflow {

struct CApi {
  decltype(&TF_Version) Version;
  decltype(&TF_NewStatus) NewStatus;
  decltype(&TF_DeleteStatus) DeleteStatus;
  decltype(&TF_GetCode) GetCode;
  decltype(&TF_Message) Message;
  decltype(&TF_NewGraph) NewGraph;
  decltype(&TF_DeleteGraph) DeleteGraph;
  decltype(&TF_NewOperation) NewOperation;
  decltype(&TF_FinishOperation) FinishOperation;
  decltype(&TF_SetDevice) SetDevice;
  decltype(&TF_AddInput) AddInput;
  decltype(&TF_AddInputList) AddInputList;
  decltype(&TF_AddControlInput) AddControlInput;
  decltype(&TF_SetAttrType) SetAttrType;
  decltype(&TF_SetAttrInt) SetAttrInt;
  decltype(&TF_SetAttrIntList) SetAttrIntList;
  decltype(&TF_SetAttrFloat) SetAttrFloat;
  decltype(&TF_SetAttrBool) SetAttrBool;
  decltype(&TF_SetAttrString) SetAttrString;
  decltype(&TF_SetAttrShape) SetAttrShape;
  decltype(&TF_SetAttrTensor) SetAttrTensor;
  decltype(&TF_OperationName) OperationName;
  decltype(&TF_OperationNumInputs) OperationNumInputs;
  decltype(&TF_OperationInput) OperationInput;
  decltype(&TF_OperationNumControlInputs) OperationNumControlInputs;
  decltype(&TF_OperationGetControlInputs) OperationGetControlInputs;
  decltype(&TF_OperationOutputNumConsumers) OperationOutputNumConsumers;
  decltype(&TF_OperationOutputConsumers) OperationOutputConsumers;
  decltype(&TF_AddGradientsWithPrefix) AddGradientsWithPrefix;
  decltype(&TF_NewSessionOptions) NewSessionOptions;
  decltype(&TF_SetConfig) SetConfig;
  decltype(&TF_DeleteSessionOptions) DeleteSessionOptions;
  decltype(&TF_NewSession) NewSession;
  decltype(&TF_CloseSession) CloseSession;
  decltype(&TF_DeleteSession) DeleteSession;
  decltype(&TF_SessionRun) SessionRun;
  decltype(&TF_SessionListDevices) SessionListDevices;
  decltype(&TF_DeviceListCount) DeviceListCount;
  decltype(&TF_DeviceListType) DeviceListType;
  decltype(&TF_DeleteDeviceList) DeleteDeviceList;
  decltype(&TF_AllocateTensor) AllocateTensor;
  decltype(&TF_DeleteTensor) DeleteTensor;
  decltype(&TF_TensorData) TensorData;
  decltype(&TF_TensorByteSize) TensorByteSize;
  decltype(&TF_NewBuffer) NewBuffer;
  decltype(&TF_NewBufferFromString) NewBufferFromString;
  decltype(&TF_DeleteBuffer) DeleteBuffer;

  // Facts that the C API does not tell; null where a version does not export them.
  bool (*cuda_enabled)() = nullptr;
  bool (*onednn_enabled)() = nullptr;

  std::filesystem::path file;  // what was opened
};

// Which installation is meant: TENCH_TENSORFLOW_ROOT if it is set, otherwise the one that
// deps/fetch unpacked (that of `version`, "2.15", when one is named).
std::filesystem::path TensorFlowRoot(const std::map<std::string, std::string>& environment);

// Opens the library under `root`: a site-packages folder, the package's own folder, or the C
// library's archive. The error is one line that names the file or the symbol, and the fix.
Result<CApi> OpenTensorFlow(const std::filesystem::path& root);

}  // namespace tench::tensorflow
