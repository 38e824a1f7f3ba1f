// SPDX-License-Identifier: Apache-2.0
#pragma once
// Writes a network as a prototxt that Caffe can train.
//
// Layers keep their names. ReLU, dropout and batch norm run in place where Caffe's backward pass
// permits it; any other top has the name of its layer. Layers that only auxiliary losses need are
// limited to the phase TRAIN. An op without a Caffe equivalent is an error that names the layer.
// Invariants: ReadPrototxt returns the same network with the same fingerprint.

#include <cstdint>
#include <string>

#include "base/error.h"
#include "net/graph.h"

namespace tench {

// The data layer. Its tops are the network's inputs, in order.
struct CaffeData {
  enum class Kind {
    kDummy,  // DummyData: Caffe's fillers with the distribution of each input's fill
    kHdf5,   // HDF5Data: `source` lists .h5 files with one data set per input, named as the input
    kLmdb,   // Data: `source` is an LMDB folder; one data input and one label input
    kInput,  // Input: shapes only; the caller fills the blobs
  };
  Kind kind = Kind::kDummy;
  std::string source;
  int64_t batch = 1;
};

// `graph` must pass Infer at the data's batch.
Result<std::string> WriteTrainPrototxt(const Graph& graph, const CaffeData& data);

}  // namespace tench
