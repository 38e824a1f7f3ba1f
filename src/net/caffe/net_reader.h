// SPDX-License-Identifier: Apache-2.0
#pragma once
// The walk over a network's message; prototxt.h for whoever has the message already (a solver may
// hold its network inside).

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
  const google::protobuf::TextFormat::ParseInfoTree* tree = nullptr;  // of the message's own text
  const std::vector<UnknownField>& unknown;
  std::string origin;
  PrototxtRemarks remarks;
};

Result<CaffeNetwork> ReadNet(const NetSource& source, const CaffeState& state);

}  // namespace tench
