// SPDX-License-Identifier: Apache-2.0
#pragma once
// --weights: a .caffemodel for the job of any worker. Its numbers go from the mapped file to raw
// files that the job names.

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
  std::vector<std::string> notes;           // what was missing or not used
};

// Writes the parameters that the .caffemodel has into `folder`. A file that has none of them is an
// error.
Result<WeightFiles> UnpackWeights(const std::string& path, const Graph& graph,
                                  const CaffeNames& names, const std::filesystem::path& folder);

// The names in Caffe's files of a network as --network gives it: those of its prototxt, or our own.
Result<CaffeNames> CaffeNamesOf(const std::string& network, const Graph& graph);

}  // namespace tench
