// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "net/caffe/caffemodel.h"

namespace tench {
namespace {

// Legacy files have 1x1x10x20 where newer ones have 10x20.
Shape WithoutLeadingOnes(const Shape& shape) {
  const auto first =
      std::find_if(shape.begin(), shape.end(), [](int64_t size) { return size != 1; });
  return {first, shape.end()};
}

class Loading {
 public:
  Loading(const Caffemodel& model, const TypedGraph& graph, const ParameterSink& sink)
      : graph_(graph), sink_(sink) {
    for (const CaffeLayer& layer : model.layers()) layers_.emplace(layer.name, &layer);
  }

  Status Take(const Parameter& parameter, const std::optional<BlobPlace>& place) {
    const CaffeLayer* layer = place ? Find(place->layer) : nullptr;
    if (layer == nullptr) {
      result_.missing.push_back(parameter.name);
      return Ok();
    }
    const auto index = static_cast<size_t>(place->index);
    if (index >= layer->blobs.size())
      return Failed("layer '{}' has {} blobs there, but {} is its blob {}", layer->name,
                    layer->blobs.size(), parameter.name, index);
    const CaffeBlob& blob = layer->blobs[index];
    if (WithoutLeadingOnes(blob.shape) != WithoutLeadingOnes(parameter.shape)) {
      return Failed("layer '{}': blob {} is {} there, but {} is {} in '{}'", layer->name, index,
                    ToString(blob.shape), parameter.name, ToString(parameter.shape), graph_.name);
    }
    values_.resize(static_cast<size_t>(blob.count()));
    blob.CopyTo(values_);
    if (place->summed) TENCH_TRY(DivideByFactor(*layer));
    result_.loaded.push_back(parameter.name);
    return sink_(parameter, values_);
  }

  LoadedWeights Finish() {
    for (const auto& [name, layer] : layers_) {
      if (!used_.contains(name)) result_.unused.push_back(name);
    }
    return std::move(result_);
  }

 private:
  const CaffeLayer* Find(const std::string& name) {
    const auto found = layers_.find(name);
    if (found == layers_.end()) return nullptr;
    used_.insert(name);
    return found->second;
  }

  // An untrained network has the factor 0. Caffe then reads its statistics as zeros.
  Status DivideByFactor(const CaffeLayer& layer) {
    float factor = 0;
    if (layer.blobs.size() < 3 || layer.blobs[2].count() != 1)
      return Failed("layer '{}': a BatchNorm has three blobs, the last of them one number",
                    layer.name);
    layer.blobs[2].CopyTo({&factor, 1});
    const float scale = factor == 0 ? 0 : 1 / factor;
    for (float& value : values_) value *= scale;
    return Ok();
  }

  const TypedGraph& graph_;
  const ParameterSink& sink_;
  std::map<std::string, const CaffeLayer*> layers_;
  std::set<std::string> used_;
  std::vector<float> values_;
  LoadedWeights result_;
};

}  // namespace

Result<LoadedWeights> LoadWeights(const Caffemodel& model, const TypedGraph& graph,
                                  const CaffeNames& names, const ParameterSink& sink) {
  const auto places = TENCH_TRY(BlobPlaces(graph, names));
  Loading loading(model, graph, sink);
  for (size_t i = 0; i < places.size(); ++i)
    TENCH_TRY(loading.Take(graph.parameters[i], places[i]));
  return loading.Finish();
}

}  // namespace tench
