// SPDX-License-Identifier: Apache-2.0
#pragma once
// Caffe's fillers as tench's fills. Those that depend on the fan are kept by name where tench has
// the name, and put into numbers where it does not; those that tench has no form for are an error
// that names the type.

#include "base/error.h"
#include "net/caffe/schema.pb.h"
#include "net/op.h"
#include "net/tensor.h"

namespace tench {

// `shape` is that of the parameter (empty where it has no fan, as a bias).
Result<Fill> ReadFiller(const caffe::FillerParameter& filler, const Shape& shape);

}  // namespace tench
