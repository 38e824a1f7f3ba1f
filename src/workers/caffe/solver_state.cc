// SPDX-License-Identifier: Apache-2.0
#include "workers/caffe/solver_state.h"

#include <fstream>

#include "workers/caffe/solver_state.pb.h"

namespace tench::caffe_worker {
namespace {

// Null for blobs that the solver stores but does not train.
const Parameter* Trained(const TypedGraph& graph, const BlobSlot& slot) {
  if (!slot.parameter || !graph.parameters[*slot.parameter].trained) return nullptr;
  return &graph.parameters[*slot.parameter];
}

}  // namespace

Status WriteSolverState(const std::filesystem::path& path, const std::string& learned_net,
                        const TypedGraph& graph, std::span<const BlobSlot> slots,
                        const SlotSource& source) {
  SolverState state;
  state.set_iter(0);
  state.set_learned_net(learned_net);
  for (const BlobSlot& slot : slots) {
    caffe::BlobProto& blob = *state.add_history();
    for (const int64_t size : slot.shape) blob.mutable_shape()->add_dim(size);
    blob.mutable_data()->Resize(static_cast<int>(ElementCount(slot.shape)), 0);
    const Parameter* parameter = Trained(graph, slot);
    if (parameter == nullptr) continue;
    TENCH_TRY(source(*parameter,
                     {blob.mutable_data()->mutable_data(), static_cast<size_t>(blob.data_size())}));
  }
  std::ofstream file(path, std::ios::binary);
  if (!state.SerializeToOstream(&file) || !file.flush())
    return Failed("{}: cannot write the momenta", path.string());
  return Ok();
}

Status ReadSolverState(const std::filesystem::path& path, const TypedGraph& graph,
                       std::span<const BlobSlot> slots, const SlotSink& sink) {
  SolverState state;
  std::ifstream file(path, std::ios::binary);
  if (!file || !state.ParseFromIstream(&file))
    return Failed("{}: caffe wrote no solver state that can be read", path.string());
  if (state.history_size() != static_cast<int>(slots.size()))
    return Failed("{}: {} blobs where the network has {}", path.string(), state.history_size(),
                  slots.size());
  for (size_t i = 0; i < slots.size(); ++i) {
    const Parameter* parameter = Trained(graph, slots[i]);
    if (parameter == nullptr) continue;
    const caffe::BlobProto& blob = state.history(static_cast<int>(i));
    if (blob.data_size() != ElementCount(slots[i].shape))
      return Failed("{}: the blob of '{}' has {} numbers", path.string(), parameter->name,
                    blob.data_size());
    TENCH_TRY(sink(*parameter, {blob.data().data(), static_cast<size_t>(blob.data_size())}));
  }
  return Ok();
}

}  // namespace tench::caffe_worker
