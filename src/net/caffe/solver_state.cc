// SPDX-License-Identifier: Apache-2.0
#include "net/caffe/solver_state.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>

#include "base/file.h"
#include "base/text.h"
#include "net/caffe/schema.pb.h"

namespace tench {
namespace {

constexpr size_t kMostStateBytes = std::numeric_limits<int>::max();  // protobuf's limit
constexpr size_t kMaxBlobs = 1'000'000;

// A learnable blob in Caffe's order; without a parameter if tench does not train it.
struct Slot {
  Shape shape;
  const Parameter* parameter = nullptr;
};

Result<std::vector<Slot>> SlotsOf(const TypedGraph& graph, const CaffeNames& names) {
  const auto places = TENCH_TRY(BlobPlaces(graph, names));
  std::vector<Slot> slots;
  for (const TypedLayer& layer : graph.layers) {
    std::vector<size_t> order = layer.parameters;
    // Caffe's BatchNorm, with the statistics and their factor, comes before its Scale.
    if (std::holds_alternative<BatchNorm>(layer.layer.op)) {
      const auto split = std::stable_partition(
          order.begin(), order.end(), [&](size_t p) { return places[p] && places[p]->summed; });
      for (auto p = order.begin(); p != split; ++p)
        slots.push_back({graph.parameters[*p].shape, nullptr});
      slots.push_back({{1}, nullptr});
      order.erase(order.begin(), split);
    }
    for (const size_t p : order) {
      if (places[p]) slots.push_back({graph.parameters[p].shape, &graph.parameters[p]});
    }
  }
  return slots;
}

Result<CaffeSolverState::Blob> BlobOf(const caffe::BlobProto& from, int index) {
  CaffeSolverState::Blob blob;
  if (from.has_shape()) {
    blob.shape.assign(from.shape().dim().begin(), from.shape().dim().end());
  } else {
    blob.shape = {from.num(), from.channels(), from.height(), from.width()};
  }
  int64_t count = 1;
  for (const int64_t size : blob.shape) {
    if (size < 0 || __builtin_mul_overflow(count, size, &count))
      return Failed("history blob {} has the shape {}", index, ToString(blob.shape));
  }
  const bool doubles = from.double_data_size() > 0;
  if (count != (doubles ? from.double_data_size() : from.data_size()))
    return Failed("history blob {} has the shape {} but {} values", index, ToString(blob.shape),
                  doubles ? from.double_data_size() : from.data_size());
  if (doubles)
    blob.values.assign(from.double_data().begin(), from.double_data().end());
  else
    blob.values.assign(from.data().begin(), from.data().end());
  return blob;
}

std::string HistoryName(const Parameter& parameter, bool second) {
  return parameter.name + (second ? ".momentum2" : ".momentum");
}

}  // namespace

Result<CaffeSolverState> ParseSolverState(std::string_view bytes) {
  caffe::SolverState from;
  if (bytes.size() > kMostStateBytes ||
      !from.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return Failed("it is not a .solverstate, or it is cut off");
  if (!from.has_iter()) return Failed("it has no iteration: it is not a .solverstate");
  if (from.iter() < 0) return Failed("its iteration is {}", from.iter());
  if (static_cast<size_t>(from.history_size()) > kMaxBlobs)
    return Failed("it has more than {} blobs", kMaxBlobs);
  CaffeSolverState state{from.iter(), from.learned_net(), from.current_step(), {}};
  for (int i = 0; i < from.history_size(); ++i)
    state.history.push_back(TENCH_TRY(BlobOf(from.history(i), i)));
  return state;
}

Result<CaffeSolverState> ReadSolverState(const std::filesystem::path& path) {
  const std::string bytes = TENCH_TRY(ReadFile(path, kMostStateBytes));
  return ParseSolverState(bytes).In(path.string());
}

Status LoadHistory(const CaffeSolverState& state, const TypedGraph& graph, const CaffeNames& names,
                   SolverType type, const HistorySink& sink) {
  const std::vector<Slot> slots = TENCH_TRY(SlotsOf(graph, names));
  const size_t lists = HasSecondHistory(type) ? 2 : 1;
  if (state.history.size() != lists * slots.size())
    return Failed("the history has {} blobs, but the solver {} has {} for this network",
                  state.history.size(), Name(type), lists * slots.size());
  for (size_t i = 0; i < state.history.size(); ++i) {
    const Slot& slot = slots[i % slots.size()];
    if (slot.parameter == nullptr || !slot.parameter->trained) continue;
    const CaffeSolverState::Blob& blob = state.history[i];
    if (static_cast<int64_t>(blob.values.size()) != ElementCount(slot.shape))
      return Failed("history blob {} is {}, but '{}' is {}", i, ToString(blob.shape),
                    slot.parameter->name, ToString(slot.shape));
    TENCH_TRY(sink(HistoryName(*slot.parameter, i >= slots.size()), blob.values));
  }
  return Ok();
}

Status WriteSolverState(const std::filesystem::path& path, const CaffeSolverState& state,
                        const TypedGraph& graph, const CaffeNames& names, SolverType type,
                        const HistorySource& source) {
  const std::vector<Slot> slots = TENCH_TRY(SlotsOf(graph, names));
  caffe::SolverState to;
  to.set_iter(static_cast<int32_t>(state.iteration));
  to.set_learned_net(state.learned_net);
  to.set_current_step(static_cast<int32_t>(state.current_step));
  const size_t lists = HasSecondHistory(type) ? 2 : 1;
  int64_t elements = 0;
  for (size_t i = 0; i < lists * slots.size(); ++i) {
    const Slot& slot = slots[i % slots.size()];
    caffe::BlobProto& blob = *to.add_history();
    for (const int64_t size : slot.shape) blob.mutable_shape()->add_dim(size);
    const int64_t count = ElementCount(slot.shape);
    elements += count;
    if (elements > static_cast<int64_t>(kMostStateBytes / sizeof(float)) - (1 << 20))
      return Failed("{}: the history does not fit the 2 GiB that a .solverstate can have",
                    path.string());
    blob.mutable_data()->Resize(static_cast<int>(count), 0);
    if (slot.parameter == nullptr || !slot.parameter->trained) continue;
    TENCH_TRY(source(HistoryName(*slot.parameter, i >= slots.size()),
                     {blob.mutable_data()->mutable_data(), static_cast<size_t>(count)}));
  }
  const std::filesystem::path temporary =
      path.parent_path() / fmt::format(".{}.{}.tmp", path.filename().string(), getpid());
  Fd file(open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file.valid()) return Failed("{}: cannot write: {}", path.string(), std::strerror(errno));
  if (!to.SerializeToFileDescriptor(file.get()) || fsync(file.get()) != 0 ||
      rename(temporary.c_str(), path.c_str()) != 0) {
    const std::string reason = std::strerror(errno);
    unlink(temporary.c_str());
    return Failed("{}: cannot write: {}", path.string(), reason);
  }
  return Ok();
}

}  // namespace tench
