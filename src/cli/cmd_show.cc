// SPDX-License-Identifier: Apache-2.0
// `tench show`: the layers of a network with shapes, parameters and FLOPs.
#include <memory>

#include "axis/axis.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/known_names.h"
#include "cli/shape_flag.h"
#include "data/data_set.h"
#include "net/caffe/prototxt_writer.h"
#include "net/cost.h"
#include "net/graph.h"
#include "net/graph_json.h"
#include "profile/layer_network.h"
#include "report/text_table.h"

namespace tench {
namespace {

struct ShowFlags {
  std::string network, data, shape, layer, batch = "1", length = "0";
  bool json = false, graph = false, prototxt = false;
};

Json LayerToJson(const TypedGraph& graph, size_t index) {
  const TypedLayer& typed = graph.layers[index];
  const Cost cost = LayerCost(graph, index);
  return {{"name", typed.layer.name},
          {"op", OpName(typed.layer.op)},
          {"inputs", typed.layer.inputs},
          {"output_shape", typed.output.shape},
          {"parameters", cost.parameters},
          {"forward_flops", cost.forward_flops},
          {"backward_flops", cost.backward_flops},
          {"activation_bytes", cost.activation_bytes}};
}

Json TotalToJson(const TypedGraph& graph) {
  const Cost total = TotalCost(graph);
  return {{"parameters", total.parameters},
          {"parameter_bytes", total.parameter_bytes},
          {"forward_flops", total.forward_flops},
          {"backward_flops", total.backward_flops},
          {"activation_bytes", total.activation_bytes}};
}

void PrintText(const TypedGraph& graph, const std::string& data, const std::string& fingerprint) {
  TextTable table({{"layer"},
                   {"op"},
                   {"output"},
                   {"parameters", Align::kRight},
                   {"forward FLOPs", Align::kRight},
                   {"activation bytes", Align::kRight}});
  for (size_t i = 0; i < graph.layers.size(); ++i) {
    const TypedLayer& typed = graph.layers[i];
    const Cost cost = LayerCost(graph, i);
    table.AddRow({typed.layer.name, std::string(OpName(typed.layer.op)),
                  ToString(typed.output.shape), std::to_string(cost.parameters),
                  std::to_string(cost.forward_flops), std::to_string(cost.activation_bytes)});
  }
  const Cost total = TotalCost(graph);
  table.AddRow({"total", "", "", std::to_string(total.parameters),
                std::to_string(total.forward_flops), std::to_string(total.activation_bytes)});
  fmt::print("{} on {}, batch {}, fingerprint {}\n{}", graph.name,
             data.empty() ? "its own input" : data, graph.batch, fingerprint, table.Render());
  fmt::print("{} parameters ({}); forward {} FLOP, backward {} FLOP; activations {}\n",
             HumanCount(static_cast<double>(total.parameters)), HumanBytes(total.parameter_bytes),
             HumanCount(static_cast<double>(total.forward_flops)),
             HumanCount(static_cast<double>(total.backward_flops)),
             HumanBytes(total.activation_bytes));
}

Result<int64_t> AxisInteger(AxisIndex axis, const std::string& text) {
  return std::get<int64_t>(TENCH_TRY(Axes()[axis].Parse(text)));
}

Result<int> Show(const ShowFlags& flags) {
  const int64_t batch = TENCH_TRY(AxisInteger(kAxisBatch, flags.batch));
  const int64_t length = TENCH_TRY(AxisInteger(kAxisLength, flags.length));
  const std::string data = TENCH_TRY(ResolveData(flags.network, flags.data));
  const Shape shape = TENCH_TRY(ParseShapeFlag(flags.shape));
  std::vector<std::string> notes;
  Graph graph = TENCH_TRY(LoadNetwork(flags.network, data, length, FileReaders({}, shape, &notes)));
  for (const std::string& note : notes) fmt::print(stderr, "tench: note: {}\n", note);
  if (!flags.layer.empty()) {
    const TypedGraph whole = TENCH_TRY(Infer(graph, batch));
    graph = TENCH_TRY(LayerNetwork(whole, flags.layer));
  }
  if (flags.prototxt) {
    fmt::print("{}", TENCH_TRY(WriteTrainPrototxt(graph, {CaffeData::Kind::kDummy, "", batch})));
    return 0;
  }
  if (flags.graph) {
    fmt::print("{}\n", GraphToJson(graph).dump(1));
    return 0;
  }
  const TypedGraph typed = TENCH_TRY(Infer(graph, batch));
  if (!flags.json) {
    PrintText(typed, data, Fingerprint(graph));
    return 0;
  }
  Json layers = Json::array();
  for (size_t i = 0; i < typed.layers.size(); ++i) layers.push_back(LayerToJson(typed, i));
  const Json json = {{"network", graph.name}, {"data", data},
                     {"batch", batch},        {"fingerprint", Fingerprint(graph)},
                     {"layers", layers},      {"total", TotalToJson(typed)}};
  fmt::print("{}\n", json.dump(2));
  return 0;
}

}  // namespace

Command AddShowCommand(CLI::App& root) {
  CLI::App* app =
      root.add_subcommand("show", "Show the layers of a network: shapes, parameters, FLOPs, bytes");
  auto flags = std::make_shared<ShowFlags>();
  app->add_option("network", flags->network,
                  "a name (tench list networks), a JSON file or a Caffe prototxt")
      ->required()
      ->type_name("");
  app->add_option("--data", flags->data, "data set [the network's default]")->type_name("");
  AddShapeFlag(*app, flags->shape);
  app->add_option("--batch", flags->batch, "batch size [1]")->type_name("");
  app->add_option("--length", flags->length,
                  "sequence length of recurrent networks [the data set's]")
      ->type_name("");
  app->add_option("--layer", flags->layer,
                  "one layer as a network of its own, with generated inputs and a loss")
      ->type_name("");
  app->add_flag("--json", flags->json, "print JSON");
  app->add_flag("--graph", flags->graph,
                "print the network in tench's JSON format (docs/network.md)");
  app->add_flag("--prototxt", flags->prototxt,
                "print the network as a prototxt that Caffe can train");
  return {app, [flags] { return Show(*flags); }};
}

}  // namespace tench
