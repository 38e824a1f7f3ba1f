// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which layers of a file belong to the network of a phase: Caffe's rules of include and exclude.

#include "base/error.h"
#include "net/caffe/schema.pb.h"

namespace tench {

// An error where a layer has rules of both kinds, which Caffe refuses.
Result<bool> BelongsTo(const caffe::LayerParameter& layer, const caffe::NetState& state);

}  // namespace tench
