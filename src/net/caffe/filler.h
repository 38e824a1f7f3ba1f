// SPDX-License-Identifier: Apache-2.0
#pragma once
// Converts Caffe's fillers to tench's fills. A filler that depends on the fan keeps its name if
// tench has the same filler; otherwise its bound or standard deviation is computed. An unsupported
// filler is an error that names its type.

#include "base/error.h"
#include "net/caffe/schema.pb.h"
#include "net/op.h"
#include "net/tensor.h"

namespace tench {

// `shape` is the shape of the parameter; empty for parameters without a fan, such as a bias.
Result<Fill> ReadFiller(const caffe::FillerParameter& filler, const Shape& shape);

}  // namespace tench
