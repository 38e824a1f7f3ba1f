// SPDX-License-Identifier: Apache-2.0
#pragma once
// Converts layers of Caffe's V1 format (`layers { type: CONVOLUTION blobs_lr: 1 … }`) to the
// present one, as Caffe's upgrade_net_proto_text does. V0 is refused. Pure.

#include <google/protobuf/text_format.h>

#include <string>

#include "base/error.h"
#include "net/caffe/schema.pb.h"

namespace tench {

// The layers that net.layers() describes are appended to net.layer(), in the same order. An error
// has the line of its layer.
Status UpgradeLayers(caffe::NetParameter& net,
                     const google::protobuf::TextFormat::ParseInfoTree* tree,
                     const std::string& origin);

}  // namespace tench
