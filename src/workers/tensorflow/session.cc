// SPDX-License-Identifier: Apache-2.0
#include "workers/tensorflow/session.h"

#include "workers/tensorflow/wire_format.h"

namespace tench::tensorflow {
namespace {

// Field numbers of ConfigProto and RunOptions.
constexpr int kDeviceCount = 1, kIntraOpThreads = 2, kInterOpThreads = 5, kSoftPlacement = 7,
              kOwnThreads = 9;
constexpr int kMapKey = 1, kMapValue = 2;
constexpr int kTraceLevel = 1, kFullTrace = 3;

}  // namespace

std::string ConfigProto(const SessionSettings& settings) {
  WireWriter config;
  if (!settings.gpu) {
    WireWriter none;
    none.Bytes(kMapKey, "GPU").Integer(kMapValue, 0);
    config.Bytes(kDeviceCount, none.text());
  }
  config.Integer(kIntraOpThreads, settings.intra_op).Integer(kInterOpThreads, settings.inter_op);
  // Soft placement: nodes on integers have no GPU kernel. Per-session threads: otherwise the first
  // session of the process sets the threads of all later ones.
  config.Integer(kSoftPlacement, 1).Integer(kOwnThreads, 1);
  return config.text();
}

void Session::Closer::operator()(TF_Session* session) const {
  const Owned<TF_Status> ignored(api->NewStatus(), api->DeleteStatus);
  api->CloseSession(session, ignored.get());
  api->DeleteSession(session, ignored.get());
}

Session::Session(const CApi& api, TF_Session* session)
    : api_(&api), session_(session, Closer{&api}), status_(api.NewStatus(), api.DeleteStatus) {}

Result<Session> Session::Open(const GraphWriter& writer, const SessionSettings& settings) {
  const CApi& api = writer.api();
  const Owned<TF_SessionOptions> options(api.NewSessionOptions(), api.DeleteSessionOptions);
  const Owned<TF_Status> status(api.NewStatus(), api.DeleteStatus);
  const std::string config = ConfigProto(settings);
  api.SetConfig(options.get(), config.data(), config.size(), status.get());
  TENCH_TRY(StatusOf(api, status.get()));
  TF_Session* session = api.NewSession(writer.graph(), options.get(), status.get());
  TENCH_TRY(StatusOf(api, status.get()));
  return Session(api, session);
}

Result<std::vector<TensorHandle>> Session::RunWith(const RunRequest& request,
                                                   const TF_Buffer* options, TF_Buffer* metadata) {
  std::vector<TF_Tensor*> fetched(request.fetches.size(), nullptr);
  api_->SessionRun(session_.get(), options, request.feeds.data(), request.fed.data(),
                   static_cast<int>(request.feeds.size()), request.fetches.data(), fetched.data(),
                   static_cast<int>(request.fetches.size()), request.targets.data(),
                   static_cast<int>(request.targets.size()), metadata, status_.get());
  std::vector<TensorHandle> tensors;
  tensors.reserve(fetched.size());
  for (TF_Tensor* tensor : fetched) tensors.emplace_back(tensor, api_->DeleteTensor);
  TENCH_TRY(StatusOf(*api_, status_.get()));
  return tensors;
}

Result<std::vector<TensorHandle>> Session::Run(const RunRequest& request) {
  return RunWith(request, nullptr, nullptr);
}

Result<std::vector<TensorHandle>> Session::RunTraced(const RunRequest& request,
                                                     std::string& metadata) {
  const std::string trace = WireWriter().Integer(kTraceLevel, kFullTrace).text();
  const Owned<TF_Buffer> options(api_->NewBufferFromString(trace.data(), trace.size()),
                                 api_->DeleteBuffer);
  const Owned<TF_Buffer> answer(api_->NewBuffer(), api_->DeleteBuffer);
  auto tensors = RunWith(request, options.get(), answer.get());
  if (tensors.ok()) metadata.assign(static_cast<const char*>(answer->data), answer->length);
  return tensors;
}

Result<int> Session::CountGpus() {
  const Owned<TF_DeviceList> devices(api_->SessionListDevices(session_.get(), status_.get()),
                                     api_->DeleteDeviceList);
  TENCH_TRY(StatusOf(*api_, status_.get()));
  int gpus = 0;
  for (int i = 0; i < api_->DeviceListCount(devices.get()); ++i) {
    const char* type = api_->DeviceListType(devices.get(), i, status_.get());
    gpus += type != nullptr && std::string_view(type) == "GPU";
  }
  return gpus;
}

}  // namespace tench::tensorflow
