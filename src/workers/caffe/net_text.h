// SPDX-License-Identifier: Apache-2.0
#pragma once
// The network as the prototxt of one `caffe` process: what net/caffe writes, with the changes that
// this process needs. Pure.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "net/graph.h"

namespace tench::caffe_worker {

struct NetForm {
  bool dropout = true;  // false: dropout layers are left out
  // Nothing in place, so that every layer's output can be seen; losses are written to files, to
  // the last bit.
  bool apart = false;
  bool as_training =
      false;  // the phase TEST computes the training's loss: batch statistics, auxiliary heads
  bool equal_rates = false;  // every lr_mult and decay_mult is 1
  // Layers whose output is to be written to a file; needs `apart`.
  std::vector<std::string> outputs;
};

// One of the network's losses, as Caffe knows it.
struct LossBlob {
  std::string blob;   // its name in the log
  double weight = 1;  // what the blob's number is multiplied by in the network's loss
};

// A blob of a layer, in the order in which Caffe's solver numbers what it learns.
struct BlobSlot {
  // Index in TypedGraph::parameters; nullopt: a batch norm's factor.
  std::optional<size_t> parameter;
  Shape shape;
};

struct NetText {
  std::string text;
  std::vector<LossBlob> losses;
  std::vector<BlobSlot> slots;
  // Apart: layer -> HDF5 file of its output, in the data set "data"; losses too.
  std::map<std::string, std::string> files;
  // Of a loss layer: the file's number times this is its output.
  std::map<std::string, double> factors;
};

// `list` is the file that names the HDF5 files of data. kUnsupported, with the layer's name, for
// what Caffe does not have.
Result<NetText> WriteNet(const TypedGraph& graph, const std::string& list, const NetForm& form);

}  // namespace tench::caffe_worker
