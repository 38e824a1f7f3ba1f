// SPDX-License-Identifier: Apache-2.0
#pragma once
// Converts a parsed NetParameter to a network. prototxt.h is the interface for text; this one also
// serves solver files, which may contain their network. NetSource refers to the caller's message.

#include <google/protobuf/text_format.h>

#include <string>
#include <vector>

#include "net/caffe/input_reader.h"
#include "net/caffe/prototxt.h"
#include "net/caffe/schema.pb.h"
#include "net/caffe/text_message.h"

namespace tench {

struct NetSource {
  const caffe::NetParameter& net;
  const google::protobuf::TextFormat::ParseInfoTree* tree = nullptr;  // locations in the text
  const std::vector<UnknownField>& unknown;
  std::string origin;
  PrototxtRemarks remarks;
  Shape sample = {};  // of the data layers whose shape the file lacks; {} = none is known
};

Result<CaffeNetwork> ReadNet(const NetSource& source, const CaffeState& state);

}  // namespace tench
