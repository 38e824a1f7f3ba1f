// SPDX-License-Identifier: Apache-2.0
#include "workers/tensorflow/profile.h"

#include <algorithm>

#include "base/text.h"
#include "net/cost.h"
#include "worker/trace_track.h"
#include "workers/tensorflow/wire_format.h"

namespace tench::tensorflow {
namespace {

// Numbers of fields of RunMetadata, StepStats, DeviceStepStats and NodeExecStats.
constexpr int kStepStats = 1, kDeviceStats = 1, kNodeStats = 2;
constexpr int kNodeName = 1, kAllStartMicros = 2, kStartMicros = 3, kEndMicros = 4,
              kTimelineLabel = 8, kThread = 10, kAllStartNanos = 13, kStartNanos = 14,
              kEndNanos = 15;

// "f.12.conv2/Conv2D" -> 12; -1 for nodes of no layer.
int64_t LayerOf(std::string_view name) {
  if (name.size() < 3 || name[1] != '.') return -1;
  const auto number = ParseInteger(name.substr(2, name.find('.', 2) - 2));
  return number.ok() ? *number : -1;
}

// The trace writes "name = Kernel(inputs)", with the memory in brackets before it.
std::string KernelOf(std::string_view label, std::string_view name) {
  const size_t equals = label.find(" = ");
  if (equals != std::string_view::npos) {
    const std::string_view call = label.substr(equals + 3);
    return std::string(call.substr(0, call.find('(')));
  }
  return std::string(name.substr(name.rfind('/') + 1));
}

bool Holds(const std::string& kernel, std::string_view part) {
  return kernel.find(part) != std::string::npos;
}

bool Multiplies(const ProfileRow& row) {
  return row.direction != "update" && (Holds(row.kernel, "Conv2D") || Holds(row.kernel, "MatMul") ||
                                       Holds(row.kernel, "BlockLSTM"));
}

}  // namespace

Profile::Profile(const TypedGraph& graph, std::set<std::string> weight_gradients)
    : weight_gradients_(std::move(weight_gradients)) {
  for (size_t i = 0; i < graph.layers.size(); ++i) {
    layers_.push_back(graph.layers[i].layer.name);
    layer_flops_[layers_.back()] = LayerCost(graph, i).forward_flops;
  }
}

Result<Profile::Node> Profile::ReadNode(std::string_view stats) {
  Node node;
  int64_t start_ns = 0, end_ns = 0, start_us = 0, end_us = 0, all_ns = 0, all_us = 0;
  TENCH_TRY(ReadWire(stats, [&](const WireField& field) {
    switch (field.number) {
      case kNodeName:
        node.name = field.bytes;
        break;
      case kTimelineLabel:
        node.label = field.bytes;
        break;
      case kStartMicros:
        start_us = field.integer;
        break;
      case kEndMicros:
        end_us = field.integer;
        break;
      case kStartNanos:
        start_ns = field.integer;
        break;
      case kEndNanos:
        end_ns = field.integer;
        break;
      case kAllStartMicros:
        all_us = field.integer;
        break;
      case kAllStartNanos:
        all_ns = field.integer;
        break;
      case kThread:
        node.thread = field.integer;
        break;
      default:
        break;
    }
  }));
  const bool precise = end_ns > start_ns;
  node.time_ns = precise ? end_ns - start_ns : (end_us - start_us) * 1000;
  node.start_ns = (all_ns > 0 ? all_ns : all_us * 1000) + (precise ? start_ns : start_us * 1000);
  return node;
}

void Profile::AddNode(const Node& node) {
  const int64_t layer = LayerOf(node.name);
  const bool known = layer >= 0 && layer < static_cast<int64_t>(layers_.size());
  ProfileRow row;
  row.layer = known ? layers_[static_cast<size_t>(layer)] : "";
  row.kernel = KernelOf(node.label, node.name);
  const bool weights = weight_gradients_.contains(node.name) ||
                       Holds(row.kernel, "BackpropFilter") || Holds(row.kernel, "BiasAddGrad");
  row.direction = !known || node.name[0] == 'f' ? "forward"
                  : node.name[0] == 'u'         ? "update"
                  : weights                     ? "backward_weights"
                                                : "backward_data";
  ProfileRow& sum = rows_.try_emplace(node.name, row).first->second;
  ++sum.calls;
  sum.time_ns += node.time_ns;
  if (left_ > 0)
    events_.push_back({ThreadTrack(node.thread), row.kernel, row.layer, row.direction,
                       MonotonicOfTimeOfDay(node.start_ns), node.time_ns});
}

Status Profile::AddStep(std::string_view run_metadata) {
  Status nested = Ok();
  const auto enter = [&](std::string_view message, int wanted, const auto& visit) {
    const Status read = ReadWire(message, [&](const WireField& field) {
      if (field.number == wanted) visit(field.bytes);
    });
    if (!read.ok()) nested = read;
  };
  enter(run_metadata, kStepStats, [&](std::string_view step) {
    enter(step, kDeviceStats, [&](std::string_view device) {
      enter(device, kNodeStats, [&](std::string_view stats) {
        const Result<Node> node = ReadNode(stats);
        if (node.ok()) {
          AddNode(*node);
        } else {
          nested = node.error();
        }
      });
    });
  });
  --left_;
  return nested;
}

std::vector<ProfileRow> Profile::Rows() const {
  std::vector<ProfileRow> rows;
  std::map<std::pair<std::string, std::string>, int64_t> sharers;
  for (const auto& [node, row] : rows_) {
    rows.push_back(row);
    if (Multiplies(row)) ++sharers[{row.layer, row.direction}];
  }
  for (ProfileRow& row : rows) {
    const auto flops = layer_flops_.find(row.layer);
    if (!Multiplies(row) || flops == layer_flops_.end()) continue;
    // The LSTM's gradient node computes the data gradient and the weight gradient.
    const int64_t times = Holds(row.kernel, "BlockLSTMGrad") ? 2 : 1;
    row.flops = times * flops->second / sharers[{row.layer, row.direction}] * row.calls;
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const ProfileRow& a, const ProfileRow& b) { return a.time_ns > b.time_ns; });
  return rows;
}

}  // namespace tench::tensorflow
