// SPDX-License-Identifier: Apache-2.0
#pragma once
// The data sets, by name, and where batches come from. A data set gives a network its InputSpec; a
// BatchSource delivers samples in order. Today every source is synthetic: samples in the shape of
// the named set, made by net/fill from the seed, sample by sample, so that sample i is the same
// bits at every batch size and in every worker. Labels are fixed per sample, so that a loss can
// fall.

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "net/graph.h"
#include "net/zoo/zoo.h"

namespace tench {

struct DataSet {
  std::string name;
  std::string help;
  InputSpec spec;
  int64_t images = 0;  // samples in the published training set
};

std::span<const DataSet> DataSets();
Result<const DataSet*> FindDataSet(std::string_view name);

// Reads the network in a file of another form than tench's JSON. By the ending of the file's name
// (".prototxt"): whoever links a reader hands it in, so that nobody else has to link it.
using NetworkReaders = std::map<std::string, std::function<Result<Graph>(const std::string& path)>>;

// The network `name` for a data set ("" = its own default) and a sequence length (0 = the data
// set's own), or the network in the file if `name` is a path (contains '/' or ends in ".json" or
// ".prototxt").
Result<Graph> LoadNetwork(std::string_view name, std::string_view data, int64_t length,
                          const NetworkReaders& readers = {});
// The data set that LoadNetwork uses: `data`, or the network's own; "" for a network from a file.
Result<std::string> ResolveData(std::string_view network, std::string_view data);

struct BatchPlan {
  uint64_t seed = 1;
  int64_t images = 0;  // samples in the set; sample numbers wrap around there
  int64_t labels = 0;  // > 0: labels are taken modulo this, so that only so many classes occur
};

// Fills the network's inputs for one batch: samples first, first + 1, … modulo plan.images.
// `tensors` is one HostTensor per Input layer, in layer order; the call sizes and fills them.
void MakeBatch(const TypedGraph& graph, const BatchPlan& plan, int64_t first,
               std::vector<HostTensor>& tensors, int threads = 1);

}  // namespace tench
