// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where each of tench's parameters lies in Caffe: which layer, which of its blobs. The two agree in
// names and shapes but for batch norm, which is two layers there: BatchNorm (mean, variance, and
// the factor that both are multiplied by) and Scale (scale, shift). Caffe keeps the running
// statistics as sums; with the factor 1 / momentum its rule for moving them becomes exactly
// tench's.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "net/graph.h"

namespace tench {

// How a tench layer is called in Caffe's files, where that is not its own name.
struct CaffeNames {
  struct ScaleLayer {
    std::string name;  // "" = the file has none: scale 1, shift 0
    bool bias = true;  // false: the file has no shift
  };
  std::map<std::string, std::string> layers;  // tench's name -> Caffe's, where they differ
  std::map<std::string, ScaleLayer> scales;   // batch norm (tench's name) -> its Scale layer

  const std::string& Of(const std::string& layer) const;
};

// The names that our own prototxts use: the Scale layer of "bn1" is "bn1_scale".
CaffeNames DefaultCaffeNames(const Graph& graph);

struct BlobPlace {
  std::string layer, type;  // Caffe's names of the layer and of its type
  int index = 0;            // among the layer's blobs
  bool summed = false;      // a running statistic: times the layer's factor, its blob 2
};

// One per parameter of the graph; nullopt where Caffe's file has no such blob. Ops that Caffe lacks
// are an error with the layer's name.
Result<std::vector<std::optional<BlobPlace>>> BlobPlaces(const TypedGraph& graph,
                                                         const CaffeNames& names);

// What the factor of a batch norm's sums has to be for Caffe to move them as tench does.
double StatisticsFactor(const BatchNorm& op);

}  // namespace tench
