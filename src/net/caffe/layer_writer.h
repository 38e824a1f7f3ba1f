// SPDX-License-Identifier: Apache-2.0
#pragma once
// One op as Caffe's layer: type, parameters, fillers. Names, bottoms and tops are prototxt_writer's
// matter.

#include "base/error.h"
#include "net/caffe/schema.pb.h"
#include "net/graph.h"

namespace tench {

// Fills `to` for layer `index`, which is no input, no batch norm (that is two layers) and no slice
// (one layer for several). An error of kind kUnsupported, without the layer's name, if Caffe has no
// such layer.
Status WriteOp(const TypedGraph& graph, size_t index, caffe::LayerParameter& to);

// The two layers of a batch norm; `scale` is left alone where the norm only normalises.
void WriteBatchNorm(const Layer& layer, caffe::LayerParameter& norm, caffe::LayerParameter& scale);

// Fills that only inputs can have are an error.
Status WriteFiller(const Fill& fill, caffe::FillerParameter& to);

// Whether a pool of this input has as many windows when it rounds down as when it rounds up.
bool RoundingIsIdle(const Pooling& op, const Shape& input);

}  // namespace tench
