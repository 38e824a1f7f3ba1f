// SPDX-License-Identifier: Apache-2.0
#pragma once
// Maps each parameter of a network to a layer and a blob index of a .caffemodel.
//
// Names and shapes agree except for batch norm, which is two layers in Caffe: BatchNorm (mean,
// variance, scale factor of both) and Scale (scale, shift). Caffe stores the running statistics as
// sums. With a scale factor of 1 / momentum, Caffe's moving average equals tench's.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "net/graph.h"

namespace tench {

// The names of layers in Caffe's files, where they differ from tench's.
struct CaffeNames {
  struct ScaleLayer {
    std::string name;  // "" = no Scale layer: scale 1, shift 0
    bool bias = true;  // false = the Scale layer has no shift
  };
  std::map<std::string, std::string> layers;  // tench's name -> Caffe's
  std::map<std::string, ScaleLayer> scales;   // batch norm -> its Scale layer

  const std::string& Of(const std::string& layer) const;
};

// The names that prototxt_writer.h writes: the Scale layer of "bn1" is "bn1_scale".
CaffeNames DefaultCaffeNames(const Graph& graph);

struct BlobPlace {
  std::string layer, type;  // in Caffe
  int index = 0;            // of the blob in the layer
  bool summed = false;      // a running statistic, stored times the scale factor in blob 2
};

// One place per parameter of the graph; nullopt if the file has no such blob. An op without a Caffe
// equivalent is an error that names the layer.
Result<std::vector<std::optional<BlobPlace>>> BlobPlaces(const TypedGraph& graph,
                                                         const CaffeNames& names);

// The scale factor that makes Caffe's moving average equal tench's.
double StatisticsFactor(const BatchNorm& op);

}  // namespace tench
