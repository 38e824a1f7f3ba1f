// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where a prototxt's data comes in: each top of a data layer as an input of tench's. tench makes
// its data itself, so that of a data layer only shapes, batch size and, for DummyData, fillers
// count. Shapes that only the data's files know come from a crop size, or from a comment in the
// prototxt, which Caffe does not see: `# tench: data is 3x227x227`.

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

// What a prototxt says to tench in its comments.
struct PrototxtRemarks {
  std::map<std::string, Shape> shapes;  // "# tench: data is 3x227x227"
  std::set<std::string>
      rounded_down;  // "# tench: pool1 rounds down": only where that makes no difference
};
Result<PrototxtRemarks> ReadRemarks(std::string_view text, std::string_view origin);

struct CaffeInput {
  std::string top;
  Input input;
  int64_t batch = 0;  // 0 = the file does not say
  bool classes_open =
      false;         // a label whose classes are those of the scores that it is held against
  std::string note;  // what had to be assumed
};

bool IsDataLayer(const std::string& type);

// `labels` are the tops that a loss takes class numbers from. `unit` = values are probabilities,
// from 0 to 1.
Result<std::vector<CaffeInput>> ReadDataLayer(const caffe::LayerParameter& layer,
                                              const PrototxtRemarks& remarks,
                                              const std::set<std::string>& labels, bool unit);
// The inputs that stand at the top of an older file: input, input_dim, input_shape.
Result<std::vector<CaffeInput>> ReadNetInputs(const caffe::NetParameter& net,
                                              const PrototxtRemarks& remarks,
                                              const std::set<std::string>& labels, bool unit);

}  // namespace tench
