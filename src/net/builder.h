// SPDX-License-Identifier: Apache-2.0
#pragma once
// Builds a Graph layer by layer, for the zoo and for tests. Each call appends one layer and returns
// its name for use as an input. Performs no checks; Infer does.

#include <string>
#include <utility>
#include <vector>

#include "net/graph.h"

namespace tench {

class GraphBuilder {
 public:
  explicit GraphBuilder(std::string name) { graph_.name = std::move(name); }

  std::string Append(std::string name, Op op, std::vector<std::string> inputs,
                     ParameterRule weight = {}, ParameterRule bias = {}) {
    graph_.layers.push_back({name, std::move(op), std::move(inputs), weight, bias});
    return name;
  }

  Graph Take() { return std::move(graph_); }

 private:
  Graph graph_;
};

}  // namespace tench
