// SPDX-License-Identifier: Apache-2.0
#pragma once
// Writes the prototxt for one `caffe` process: the text of net/caffe with the changes that the
// process needs. Pure.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "net/graph.h"

namespace tench::caffe_worker {

struct NetForm {
  bool dropout = true;  // false: dropout layers are left out
  // No in-place layers, so that every layer's output is observable; losses are written to files,
  // bit for bit.
  bool apart = false;
  // The phase TEST computes the training loss: batch statistics, auxiliary heads.
  bool as_training = false;
  bool equal_rates = false;  // every lr_mult and decay_mult is 1
  // Layers whose output is written to a file; needs `apart`.
  std::vector<std::string> outputs;
};

// One of the network's losses in Caffe's log.
struct LossBlob {
  std::string blob;   // name in the log
  double weight = 1;  // factor of the blob's value in the network's loss
};

// A blob of a layer, in the order of the solver's learnable parameters.
struct BlobSlot {
  // Index into TypedGraph::parameters; nullopt for a batch norm's scale factor.
  std::optional<size_t> parameter;
  Shape shape;
};

struct NetText {
  std::string text;
  std::vector<LossBlob> losses;
  std::vector<BlobSlot> slots;
  // With `apart`: layer -> HDF5 file of its output (data set "data"), losses included.
  std::map<std::string, std::string> files;
  // By loss layer: the factor from the file's value to the layer's output.
  std::map<std::string, double> factors;
};

// `list` is the file that lists the HDF5 data files. An op that Caffe lacks is a kUnsupported error
// with the layer's name.
Result<NetText> WriteNet(const TypedGraph& graph, const std::string& list, const NetForm& form);

}  // namespace tench::caffe_worker
