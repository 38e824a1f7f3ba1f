// SPDX-License-Identifier: Apache-2.0
#pragma once
// Selects the layers of a phase, level and stage by Caffe's include and exclude rules. Pure.

#include "base/error.h"
#include "net/caffe/schema.pb.h"

namespace tench {

// An error if the layer has both kinds of rules, which Caffe rejects.
Result<bool> BelongsTo(const caffe::LayerParameter& layer, const caffe::NetState& state);

}  // namespace tench
