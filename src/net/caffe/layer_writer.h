// SPDX-License-Identifier: Apache-2.0
#pragma once
// Converts one op to a Caffe layer: type, parameters and fillers. Not aware of names, bottoms and
// tops, which prototxt_writer.cc sets.

#include "base/error.h"
#include "net/caffe/schema.pb.h"
#include "net/graph.h"

namespace tench {

// Fills `to` from layer `index`. Inputs, batch norms (two layers in Caffe) and slices (one layer
// for several) are written elsewhere. If Caffe has no such layer, the error is kUnsupported and
// does not name the layer.
Status WriteOp(const TypedGraph& graph, size_t index, caffe::LayerParameter& to);

// The two layers of a batch norm. `scale` is unchanged if the batch norm is not affine.
void WriteBatchNorm(const Layer& layer, caffe::LayerParameter& norm, caffe::LayerParameter& scale);

// Integer fills, which only inputs can have, are an error.
Status WriteFiller(const Fill& fill, caffe::FillerParameter& to);

// Whether floor and ceil mode give the same output size for this input.
bool RoundingIsIdle(const Pooling& op, const Shape& input);

}  // namespace tench
