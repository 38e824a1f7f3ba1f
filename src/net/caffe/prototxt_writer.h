// SPDX-License-Identifier: Apache-2.0
#pragma once
// A network as a prototxt that Caffe trains. Layers keep their names; a top has the name of its
// layer but where Caffe's own users would work in place (ReLU, dropout, batch norm). What only
// auxiliary losses need is marked for the phase TRAIN. An op that Caffe has no layer for is an
// error with the layer's name. ReadPrototxt gives the same network back, fingerprint and all.

#include <cstdint>
#include <string>

#include "base/error.h"
#include "net/graph.h"

namespace tench {

// How the data comes into the network: as one layer whose tops are the network's inputs, in their
// order.
struct CaffeData {
  enum class Kind {
    kDummy,  // DummyData: made by Caffe's own fillers, in the spirit of each input's fill
    kHdf5,   // HDF5Data: `source` is a text file that lists .h5 files, with one data set per input,
             // of its name
    kLmdb,   // Data: `source` is a folder; one input of data, one of labels
    kInput,  // Input: shapes only, for whoever fills the blobs from outside
  };
  Kind kind = Kind::kDummy;
  std::string source;
  int64_t batch = 1;
};

// `graph` must pass Infer at the data's batch.
Result<std::string> WriteTrainPrototxt(const Graph& graph, const CaffeData& data);

}  // namespace tench
