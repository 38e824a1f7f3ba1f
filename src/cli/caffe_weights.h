// SPDX-License-Identifier: Apache-2.0
#pragma once
// --weights: the parameters of a .caffemodel as raw files, one per parameter, which a job names.
// Any worker can load them; none needs protobuf. The files belong to the caller's folder.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "net/caffe/blob_place.h"
#include "net/graph.h"

namespace tench {

struct WeightFiles {
  std::map<std::string, std::string> load;  // for Job::tensors
  std::vector<std::string> notes;           // missing and unused parameters
};

// Writes the parameters of the .caffemodel into `folder`. A file that has none of the network's
// parameters is an error.
Result<WeightFiles> UnpackWeights(const std::string& path, const Graph& graph,
                                  const CaffeNames& names, const std::filesystem::path& folder);

// Layer names in Caffe's files of the network that --network names: from its prototxt, or the
// defaults of tench.
Result<CaffeNames> CaffeNamesOf(const std::string& network, const Graph& graph);

}  // namespace tench
