// SPDX-License-Identifier: Apache-2.0
#pragma once
// Converts the data layers of a prototxt: each top becomes an Input op. tench generates its data,
// so only shapes, the batch size and the fillers of DummyData are read. A shape that only the data
// files know comes from the crop size or from a comment in the prototxt, which Caffe ignores:
// `# tench: data is 3x227x227`. Does not read data.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "net/caffe/schema.pb.h"
#include "net/op.h"

namespace tench {

// The comments of a prototxt that address tench.
struct PrototxtRemarks {
  std::map<std::string, Shape> shapes;  // "# tench: data is 3x227x227"
  // "# tench: pool1 rounds down". Honoured only where rounding up gives the same size.
  std::set<std::string> rounded_down;
};
Result<PrototxtRemarks> ReadRemarks(std::string_view text, std::string_view origin);

struct CaffeInput {
  std::string top;
  Input input;
  int64_t batch = 0;  // 0 = the file does not say
  // A label without a filler: its range of classes comes from the loss that reads it.
  bool classes_open = false;
  std::string note;  // an assumption that the user should know; "" = none
};

bool IsDataLayer(const std::string& type);

// What the data layers need to know about the rest of the network. Refers to its owner's values.
struct DataFacts {
  const PrototxtRemarks& remarks;
  const std::set<std::string>& labels;  // tops that a loss reads class indices from
  bool unit = false;                    // generate data in [0, 1)
  // The shape of one sample as the user gave it, for tops whose shape the file lacks; {} = not
  // given. A shape that the file has must equal it.
  const Shape& sample;
  const std::string& network;  // its name, for the hint in an error
};

Result<std::vector<CaffeInput>> ReadDataLayer(const caffe::LayerParameter& layer,
                                              const DataFacts& facts);
// The net-level inputs of older files: input with input_dim or input_shape.
Result<std::vector<CaffeInput>> ReadNetInputs(const caffe::NetParameter& net,
                                              const DataFacts& facts);

}  // namespace tench
