// SPDX-License-Identifier: Apache-2.0
#pragma once
// Caffe's prototxt as a network. The network of the phase TRAIN is read; a loss that the phase TEST
// leaves out is auxiliary. Blobs become layers: what works in place is a layer like any other,
// Split is none, BatchNorm with the Scale behind it is one batch norm. Accuracy and what leads to
// no loss is left out, with a note. An inner product gets the flatten that it needs. Errors are one
// line: file:line, the layer's name, the fault.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "net/caffe/blob_place.h"
#include "net/graph.h"

namespace tench {

struct CaffeNetwork {
  Graph graph;
  CaffeNames names;                // for its .caffemodel
  int64_t batch = 0;               // of its data layers; 0 = they do not say
  std::vector<std::string> notes;  // what was left out or assumed, a line each
};

// Beyond the phase: what a solver's train_state adds.
struct CaffeState {
  int level = 0;
  std::vector<std::string> stages;
};

// `origin` is the file's name, for messages and for a network without a name.
Result<CaffeNetwork> ReadPrototxt(std::string_view text, const std::string& origin,
                                  const CaffeState& state = {});
Result<CaffeNetwork> ReadPrototxtFile(const std::string& path, const CaffeState& state = {});

}  // namespace tench
