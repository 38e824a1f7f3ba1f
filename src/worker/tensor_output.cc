// SPDX-License-Identifier: Apache-2.0
#include "worker/tensor_output.h"

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "protocol/tensor_path.h"

namespace tench {
namespace {

Result<TensorSink> SinkInto(const std::filesystem::path& folder, std::string_view kind) {
  std::error_code error;
  std::filesystem::create_directories(folder / kind, error);
  if (error)
    return Failed("{}: cannot create the folder: {}", (folder / kind).string(), error.message());
  return TensorSink([folder, kind](const std::string& name, std::span<const float> values) {
    return WriteRaw(TensorPath(folder, kind, name), values);
  });
}

}  // namespace

Result<std::vector<std::string>> ResolveOutputs(const TypedGraph& graph,
                                                const std::vector<std::string>& outputs) {
  std::vector<std::string> computed, known, result;
  for (const TypedLayer& layer : graph.layers) {
    if (layer.output.dtype == DType::kF32) known.push_back(layer.layer.name);
    if (!std::holds_alternative<Input>(layer.layer.op)) computed.push_back(layer.layer.name);
  }
  for (const std::string& name : outputs) {
    if (name == "*") return computed;
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return Failed("job.tensors.outputs: the network has no layer of numbers '{}'{}",
                    Printable(name), Hint(name, known));
    }
    result.push_back(name);
  }
  return result;
}

Status WriteTensors(Adapter& adapter, const TypedGraph& graph, const TensorFiles& wanted) {
  if (!wanted.any()) return Ok();
  if (!wanted.outputs.empty() && !wanted.every_step) {
    const std::vector<std::string> layers = TENCH_TRY(ResolveOutputs(graph, wanted.outputs));
    const TensorSink sink = TENCH_TRY(SinkInto(wanted.folder, "outputs"));
    TENCH_TRY(adapter.Outputs(layers, sink));
  }
  if (wanted.parameters) {
    const TensorSink sink = TENCH_TRY(SinkInto(wanted.folder, "parameters"));
    TENCH_TRY(adapter.Parameters(sink));
  }
  if (wanted.state) {
    const TensorSink sink = TENCH_TRY(SinkInto(wanted.folder, "state"));
    TENCH_TRY(adapter.State(sink));
  }
  // Last: an adapter may repeat a step to read gradients, which moves running statistics.
  if (wanted.gradients) {
    const TensorSink sink = TENCH_TRY(SinkInto(wanted.folder, "gradients"));
    TENCH_TRY(adapter.Gradients(sink));
  }
  return Ok();
}

Status WriteStepOutputs(Adapter& adapter, const TypedGraph& graph, const TensorFiles& wanted,
                        int64_t steps) {
  TensorFiles outputs;
  outputs.folder = (std::filesystem::path(wanted.folder) / std::to_string(steps)).string();
  outputs.outputs = wanted.outputs;
  return WriteTensors(adapter, graph, outputs);
}

Status WriteSnapshot(Adapter& adapter, const TypedGraph& graph, const std::filesystem::path& folder,
                     int64_t steps) {
  const std::filesystem::path whole = folder / std::to_string(steps),
                              part = whole.string() + ".part";
  TensorFiles wanted;
  wanted.folder = part.string();
  wanted.parameters = wanted.state = true;
  TENCH_TRY(WriteTensors(adapter, graph, wanted));
  std::error_code error;
  std::filesystem::rename(part, whole, error);
  if (error) return Failed("{}: {}", whole.string(), error.message());
  return Ok();
}

}  // namespace tench
