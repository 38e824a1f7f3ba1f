// SPDX-License-Identifier: Apache-2.0
#pragma once
// Graph passes after reading a prototxt: fuse BatchNorm with Scale, and remove dead layers. Both
// modify the network in place and keep the order of its layers.

#include "net/caffe/prototxt.h"

namespace tench {

// Fuses a Scale into the batch norm before it if nothing else reads the batch norm. The result
// keeps the name of the batch norm; names.scales records the name of the Scale.
void FuseBatchNorms(CaffeNetwork& network);

// Removes layers that no loss depends on. A note names them, except inputs.
void DropUnused(CaffeNetwork& network);

}  // namespace tench
