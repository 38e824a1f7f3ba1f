// SPDX-License-Identifier: Apache-2.0
// Fuzzes the JSON form of networks with arbitrary bytes. A network that parses keeps its
// fingerprint when it is written and read. If it passes Infer, it has costs and its InferenceGraph
// passes too.

#include <string_view>

#include "net/cost.h"
#include "net/graph_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tench;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<Graph> graph = ParseGraph(text, "fuzz");
  if (!graph.ok()) return 0;

  const Result<Graph> again = GraphFromJson(GraphToJson(*graph));
  Check(again.ok(), "a written network does not parse");
  Check(*again == *graph, "a network changes when it is written and read");
  Check(Fingerprint(*again) == Fingerprint(*graph),
        "a fingerprint changes when a network is written and read");

  const Result<TypedGraph> typed = Infer(*graph, 2);
  if (!typed.ok()) return 0;
  Check(typed->layers.size() == graph->layers.size(), "Infer loses layers");
  Check(TotalCost(*typed).forward_flops >= 0, "a count of FLOPs overflows");
  Check(ParametersToJson(*typed).size() == typed->parameters.size(), "a parameter is not listed");
  Check(Infer(InferenceGraph(*graph), 2).ok(), "the inference form of a good network is refused");
  return 0;
}
