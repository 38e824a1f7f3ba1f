// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads a Caffe prototxt as a network of the phase TRAIN or TEST.
//   - In-place layers become ordinary layers; Split disappears.
//   - BatchNorm followed by Scale becomes one batch norm.
//   - A loss that the phase TEST does not have is auxiliary.
//   - A network without a loss (a deploy file) gets one per output (output_loss.h).
//   - Accuracy, and layers that no loss depends on, are dropped with a note. The network lists its
//     Accuracy layers.
//   - Layers of the V1 format are converted.
//   - An InnerProduct with an image as input gets a flatten before it.
// An error is one line: file:line, the layer and the reason. Thread safety: pure functions.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "net/caffe/blob_place.h"
#include "net/graph.h"

namespace tench {

// An Accuracy layer: the share of samples whose label is among the top_k largest scores.
struct CaffeAccuracy {
  std::string name;    // of its output
  std::string scores;  // the layer of the graph that computes the scores
  int64_t top_k = 1;
  std::optional<int64_t> ignore_label;
};

struct CaffeNetwork {
  Graph graph;
  CaffeNames names;   // names in the .caffemodel
  int64_t batch = 0;  // of the data layers; 0 = not in the file
  std::vector<CaffeAccuracy> accuracies;
  std::vector<std::string> notes;  // omissions and assumptions, one line each
};

// The phase, and the level and stages of a solver's train_state or test_state.
struct CaffeState {
  int level = 0;
  std::vector<std::string> stages;
  bool test = false;  // the phase TEST
  bool operator==(const CaffeState&) const = default;
};

// `origin` is the file name, for errors and as the name of an unnamed network. `sample` is the
// shape of one sample for data layers whose shape is not in the file; a shape in the file must
// equal it.
Result<CaffeNetwork> ReadPrototxt(std::string_view text, const std::string& origin,
                                  const CaffeState& state = {}, const Shape& sample = {});
Result<CaffeNetwork> ReadPrototxtFile(const std::string& path, const CaffeState& state = {},
                                      const Shape& sample = {});

}  // namespace tench
