// SPDX-License-Identifier: Apache-2.0
#pragma once
// Writes a Graph layer by layer; the zoo's language. Each call appends one layer and returns its
// name, to be the next one's input. Checks nothing: Infer does.

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
