// SPDX-License-Identifier: Apache-2.0
#include "workers/caffe/weights.h"

#include <algorithm>

#include "net/caffe/caffemodel.h"

namespace tench::caffe_worker {
namespace {

Status CopyBlob(const Caffemodel& model, const std::optional<BlobPlace>& place,
                std::span<float> out) {
  Check(place.has_value(), "a trained parameter has no place in the written file");
  const auto layer =
      std::find_if(model.layers().begin(), model.layers().end(),
                   [&](const CaffeLayer& each) { return each.name == place->layer; });
  const auto index = static_cast<size_t>(place->index);
  if (layer == model.layers().end() || index >= layer->blobs.size() ||
      layer->blobs[index].count() != static_cast<int64_t>(out.size()))
    return Failed("the file has no matching blob {} of layer '{}'", place->index, place->layer);
  layer->blobs[index].CopyTo(out);
  return Ok();
}

}  // namespace

CaffeNames NamesOf(const TypedGraph& graph) {
  Graph plain;
  for (const TypedLayer& layer : graph.layers) plain.layers.push_back(layer.layer);
  return DefaultCaffeNames(plain);
}

Status WriteWeights(const std::filesystem::path& path, const TypedGraph& graph,
                    const TensorSource& trained, const TensorSource& statistics) {
  return WriteCaffemodel(path, graph, NamesOf(graph),
                         [&](const Parameter& parameter, std::span<float> out) {
                           return (parameter.trained ? trained : statistics)(parameter.name, out);
                         });
}

Status ReplaceStatistics(const std::filesystem::path& path, const std::filesystem::path& trained,
                         const TypedGraph& graph, const TensorSource& source) {
  const Caffemodel model = TENCH_TRY(Caffemodel::Open(trained));
  const CaffeNames names = NamesOf(graph);
  const auto places = TENCH_TRY(BlobPlaces(graph, names));
  // The file is replaced by a rename, so that the mapping of the old file stays valid.
  return WriteCaffemodel(path, graph, names, [&](const Parameter& parameter, std::span<float> out) {
    const auto index = static_cast<size_t>(&parameter - graph.parameters.data());
    return parameter.trained ? CopyBlob(model, places[index], out) : source(parameter.name, out);
  });
}

Status ReadWeights(const std::filesystem::path& path, const TypedGraph& graph, bool trained,
                   const TensorSink& sink) {
  const Caffemodel model = TENCH_TRY(Caffemodel::Open(path));
  TENCH_TRY(LoadWeights(model, graph, NamesOf(graph),
                        [&](const Parameter& parameter, std::span<const float> values) {
                          return parameter.trained == trained ? sink(parameter.name, values) : Ok();
                        }));
  return Ok();
}

}  // namespace tench::caffe_worker
