// SPDX-License-Identifier: Apache-2.0
#pragma once
// Adds up what TensorFlow's full trace says of each step (RunMetadata.step_stats): one row per layer, direction and kernel. Nodes are matched to
// layers by their names (lowering.h); what Grappler fused stands under the name of the node that it kept.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "worker/adapter.h"

namespace tench::tensorflow {

class Profile {
 public:
  Profile() = default;
  // `layers` by number; `weight_gradients`: names of the nodes that compute a parameter's gradient.
  Profile(std::vector<std::string> layers, std::set<std::string> weight_gradients)
      : layers_(std::move(layers)), weight_gradients_(std::move(weight_gradients)) {}

  Status AddStep(std::string_view run_metadata);
  std::vector<ProfileRow> Rows() const;   // the costliest first

 private:
  struct Node {
    std::string name, label;
    int64_t time_ns = 0;
  };
  static Result<Node> ReadNode(std::string_view stats);
  void AddNode(const Node& node);

  std::vector<std::string> layers_;
  std::set<std::string> weight_gradients_;
  std::map<std::tuple<std::string, std::string, std::string>, ProfileRow> rows_;
};

}  // namespace tench::tensorflow
