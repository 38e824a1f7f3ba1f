// SPDX-License-Identifier: Apache-2.0
#pragma once
// Accumulates TensorFlow's full trace over the steps (RunMetadata.step_stats): one row per node,
// whose calls are steps. Nodes are mapped to layers by their names (lowering.h). A fused node keeps
// the name that Grappler gave it. The FLOPs of a convolution or matrix product are those of its
// layer, divided among its nodes. Used by one thread.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "worker/adapter.h"

namespace tench::tensorflow {

class Profile {
 public:
  Profile() = default;
  // `weight_gradients`: names of the nodes that compute a parameter's gradient.
  Profile(const TypedGraph& graph, std::set<std::string> weight_gradients);

  // The nodes of the first `traced_steps` steps are kept for Events.
  void Record(int64_t traced_steps) { left_ = traced_steps; }
  Status AddStep(std::string_view run_metadata);
  std::vector<TraceEvent> Events() const { return events_; }
  std::vector<ProfileRow> Rows() const;  // the costliest first

 private:
  struct Node {
    std::string name, label;
    int64_t start_ns = 0, time_ns = 0;  // start: of the time of day
    int64_t thread = 0;
  };
  static Result<Node> ReadNode(std::string_view stats);
  void AddNode(const Node& node);

  std::vector<std::string> layers_;
  std::map<std::string, int64_t> layer_flops_;  // of the forward pass
  std::set<std::string> weight_gradients_;
  std::map<std::string, ProfileRow> rows_;  // by node
  int64_t left_ = 0;
  std::vector<TraceEvent> events_;
};

}  // namespace tench::tensorflow
