// SPDX-License-Identifier: Apache-2.0
#pragma once
// One layer of a prototxt as tench's op: sizes, rates and fillers. Knows the layer and the shapes
// that it reads; which blob is which layer's output is prototxt.cc's matter. Errors do not name the
// layer.

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "net/caffe/schema.pb.h"
#include "net/graph.h"

namespace tench {

struct ReadOp {
  Op op;
  ParameterRule weight = {}, bias = {};
  bool flatten = false;  // its input has to be made (N, F) first
};

// Layers with one output that is no loss, no data and no slice. nullopt: tench does not know the
// type.
Result<std::optional<ReadOp>> ReadLayer(const caffe::LayerParameter& layer,
                                        const std::vector<Shape>& inputs);

// The pieces of a Slice layer, one per top.
Result<std::vector<Slice>> ReadSlices(const caffe::LayerParameter& layer, const Shape& input);

// The loss types that tench knows.
bool IsLossType(const std::string& type);
// A loss; nullopt if its weight is 0. `auxiliary` is the caller's to set.
Result<std::optional<Op>> ReadLoss(const caffe::LayerParameter& layer,
                                   const std::vector<Shape>& inputs);

// "Convolution, Pooling, …": the types that ReadLayer knows.
std::string KnownTypes();
// Those, and the data layers and losses.
bool IsKnownType(const std::string& type);

}  // namespace tench
