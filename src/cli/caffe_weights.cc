// SPDX-License-Identifier: Apache-2.0
#include "cli/caffe_weights.h"

#include "base/file.h"
#include "base/text.h"
#include "net/caffe/caffemodel.h"
#include "net/caffe/prototxt.h"

namespace tench {
namespace {

// At most five names, and the number of the rest.
std::string Some(std::vector<std::string> names) {
  constexpr size_t kShown = 5;
  const size_t more = names.size() > kShown ? names.size() - kShown : 0;
  names.resize(names.size() - more);
  return Join(names, ", ") + (more > 0 ? fmt::format(" and {} more", more) : "");
}

}  // namespace

Result<WeightFiles> UnpackWeights(const std::string& path, const Graph& graph,
                                  const CaffeNames& names, const std::filesystem::path& folder) {
  const Caffemodel model = TENCH_TRY(Caffemodel::Open(path));
  const TypedGraph typed = TENCH_TRY(Infer(graph, 1));
  WeightFiles files;
  const ParameterSink sink = [&](const Parameter& parameter, std::span<const float> values) {
    const std::filesystem::path file = folder / fmt::format("weights{}.bin", files.load.size());
    files.load[parameter.name] = file.string();
    return WriteRaw(file, values);
  };
  const LoadedWeights loaded = TENCH_TRY(LoadWeights(model, typed, names, sink).In(path));
  if (loaded.loaded.empty()) {
    std::vector<std::string> known;
    for (const CaffeLayer& layer : model.layers()) known.push_back(layer.name);
    return Failed("{}: no layer of the file is in the network '{}'; the file has {}", path,
                  graph.name, Some(known));
  }
  if (!loaded.missing.empty())
    files.notes.push_back(fmt::format("{} has no values for {}; their fillers initialize them",
                                      path, Some(loaded.missing)));
  if (!loaded.unused.empty())
    files.notes.push_back(
        fmt::format("{}: the network has no layer {}", path, Some(loaded.unused)));
  return files;
}

Result<CaffeNames> CaffeNamesOf(const std::string& network, const Graph& graph) {
  if (!network.ends_with(".prototxt")) return DefaultCaffeNames(graph);
  CaffeNetwork read = TENCH_TRY(ReadPrototxtFile(network));
  return std::move(read.names);
}

}  // namespace tench
