// SPDX-License-Identifier: Apache-2.0
#include "workers/tensorflow/c_api.h"

#include <dlfcn.h>

#include <array>

#include "worker/library_file.h"
#include "worker/symbol_table.h"

namespace tench::tensorflow {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFix =
    "deps/fetch --workers tensorflow brings one that works, or set TENCH_TENSORFLOW_ROOT to the "
    "folder that holds the "
    "package "
    "'tensorflow', 2.12 to 2.21";

// A wheel's site-packages, the package itself, and the archive of the C library alone.
constexpr std::array<std::string_view, 5> kPlaces = {
    "tensorflow/libtensorflow_cc.so.2", "libtensorflow_cc.so.2", "lib/libtensorflow_cc.so.2",
    "lib/libtensorflow.so.2", "libtensorflow.so.2"};

std::string Valued(const std::map<std::string, std::string>& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

void BindGraph(SymbolTable& bind, CApi& api) {
  bind("TF_NewGraph", api.NewGraph);
  bind("TF_DeleteGraph", api.DeleteGraph);
  bind("TF_NewOperation", api.NewOperation);
  bind("TF_FinishOperation", api.FinishOperation);
  bind("TF_SetDevice", api.SetDevice);
  bind("TF_AddInput", api.AddInput);
  bind("TF_AddInputList", api.AddInputList);
  bind("TF_AddControlInput", api.AddControlInput);
  bind("TF_SetAttrType", api.SetAttrType);
  bind("TF_SetAttrInt", api.SetAttrInt);
  bind("TF_SetAttrIntList", api.SetAttrIntList);
  bind("TF_SetAttrFloat", api.SetAttrFloat);
  bind("TF_SetAttrBool", api.SetAttrBool);
  bind("TF_SetAttrString", api.SetAttrString);
  bind("TF_SetAttrShape", api.SetAttrShape);
  bind("TF_SetAttrTensor", api.SetAttrTensor);
  bind("TF_OperationName", api.OperationName);
  bind("TF_OperationNumInputs", api.OperationNumInputs);
  bind("TF_OperationInput", api.OperationInput);
  bind("TF_OperationNumControlInputs", api.OperationNumControlInputs);
  bind("TF_OperationGetControlInputs", api.OperationGetControlInputs);
  bind("TF_OperationOutputNumConsumers", api.OperationOutputNumConsumers);
  bind("TF_OperationOutputConsumers", api.OperationOutputConsumers);
  bind("TF_AddGradientsWithPrefix", api.AddGradientsWithPrefix);
}

void BindSession(SymbolTable& bind, CApi& api) {
  bind("TF_NewSessionOptions", api.NewSessionOptions);
  bind("TF_SetConfig", api.SetConfig);
  bind("TF_DeleteSessionOptions", api.DeleteSessionOptions);
  bind("TF_NewSession", api.NewSession);
  bind("TF_CloseSession", api.CloseSession);
  bind("TF_DeleteSession", api.DeleteSession);
  bind("TF_SessionRun", api.SessionRun);
  bind("TF_SessionListDevices", api.SessionListDevices);
  bind("TF_DeviceListCount", api.DeviceListCount);
  bind("TF_DeviceListType", api.DeviceListType);
  bind("TF_DeleteDeviceList", api.DeleteDeviceList);
}

void BindValues(SymbolTable& bind, CApi& api) {
  bind("TF_Version", api.Version);
  bind("TF_NewStatus", api.NewStatus);
  bind("TF_DeleteStatus", api.DeleteStatus);
  bind("TF_GetCode", api.GetCode);
  bind("TF_Message", api.Message);
  bind("TF_AllocateTensor", api.AllocateTensor);
  bind("TF_DeleteTensor", api.DeleteTensor);
  bind("TF_TensorData", api.TensorData);
  bind("TF_TensorByteSize", api.TensorByteSize);
  bind("TF_NewBuffer", api.NewBuffer);
  bind("TF_NewBufferFromString", api.NewBufferFromString);
  bind("TF_DeleteBuffer", api.DeleteBuffer);
}

}  // namespace

fs::path TensorFlowRoot(const std::map<std::string, std::string>& environment) {
  const std::string root = Valued(environment, "TENCH_TENSORFLOW_ROOT");
  if (!root.empty()) return root;
  const std::string version = Valued(environment, "TENCH_WORKER_VERSION");
  const fs::path fetched = TENCH_FETCHED_DIR;
  std::error_code error;
  if (!version.empty() && fs::exists(fetched / ("tensorflow@" + version), error))
    return fetched / ("tensorflow@" + version);
  return fetched / "tensorflow";
}

Result<CApi> OpenTensorFlow(const fs::path& root) {
  CApi api{};
  std::error_code error;
  for (const std::string_view place : kPlaces) {
    if (api.file.empty() && fs::exists(root / place, error)) api.file = root / place;
  }
  if (api.file.empty()) return Unsupported("{} is missing; {}", (root / kPlaces[0]).string(), kFix);
  // The wheel's second half lies beside the first.
  for (const fs::path& file : {api.file, api.file.parent_path() / "libtensorflow_framework.so.2"}) {
    if (!fs::exists(file, error)) continue;
    if (const Status checked = CheckLibraryFile(file); !checked)
      return Unsupported("{}; {}", checked.error().message, kFix);
  }
  void* library = dlopen(api.file.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    return Unsupported("{} cannot be loaded ({}); {}", api.file.string(),
                       reason != nullptr ? reason : "no reason given", kFix);
  }
  SymbolTable bind(library, api.file);
  BindValues(bind, api);
  BindGraph(bind, api);
  BindSession(bind, api);
  TENCH_TRY(bind.Complete(fmt::format("this is no TensorFlow 2.12 to 2.21; {}", kFix)));
  api.cuda_enabled =
      reinterpret_cast<bool (*)()>(dlsym(library, "_ZN10tensorflow19IsGoogleCudaEnabledEv"));
  api.onednn_enabled =
      reinterpret_cast<bool (*)()>(dlsym(library, "_ZN10tensorflow12IsMKLEnabledEv"));
  return api;
}

}  // namespace tench::tensorflow
