// SPDX-License-Identifier: Apache-2.0
#pragma once
// Converts one layer of a prototxt to an op: sizes, learning rates and fillers. Takes the layer and
// the shapes of its bottoms. Not aware of the other layers: net_reader.cc resolves blob names.
// Errors do not name the layer.

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
  bool flatten = false;  // the input must be flattened to (N, F) first
};

// Any layer with one output except losses, data layers and Slice. nullopt: the type is unknown to
// tench.
Result<std::optional<ReadOp>> ReadLayer(const caffe::LayerParameter& layer,
                                        const std::vector<Shape>& inputs);

// The ranges of a Slice layer, one per top.
Result<std::vector<Slice>> ReadSlices(const caffe::LayerParameter& layer, const Shape& input);

// Whether tench supports the type as a loss.
bool IsLossType(const std::string& type);
// nullopt if the loss weight is 0. The caller sets `auxiliary`.
Result<std::optional<Op>> ReadLoss(const caffe::LayerParameter& layer,
                                   const std::vector<Shape>& inputs);

// The types that ReadLayer supports: "BatchNorm, Concat, …".
std::string KnownTypes();
// Whether tench supports the type as a layer, a data layer, a loss or a Slice.
bool IsKnownType(const std::string& type);

}  // namespace tench
