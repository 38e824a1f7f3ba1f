// SPDX-License-Identifier: Apache-2.0
#pragma once
// What makes a network of a prototxt's layers one of tench's: BatchNorm and Scale become one, and
// nothing is left that no loss needs.

#include "net/caffe/prototxt.h"

namespace tench {

// A Scale that is all that reads a batch norm is put into it. The result has the norm's name;
// names.scales keeps the Scale's.
void FuseBatchNorms(CaffeNetwork& network);

// Layers that lead to no loss go; a note names those that are no inputs.
void DropUnused(CaffeNetwork& network);

}  // namespace tench
