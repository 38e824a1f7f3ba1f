// SPDX-License-Identifier: Apache-2.0
#pragma once
// A fully connected layer of many weights for few samples: the weights, which no cache holds, are
// read where they lie, once, and only the samples are packed. A library's matrix product packs the
// weights too, which takes longer than the product.

#include <cstdint>

#include "workers/native/kernels/dense_shape.h"

namespace tench::native {

// Whether these are faster than a library: many weights, and samples that fill a panel at least by
// half but not too many of them.
bool FavoursSmallBatchInnerProduct(const DenseShape& shape);
// Floats of working memory for either direction.
int64_t SmallBatchInnerProductScratch(const DenseShape& shape);

// y (batch, out) = x (batch, in) · wᵀ + b with w (out, in), then max(0, ·) if `relu`. `bias` may be
// null.
void SmallBatchInnerProductForward(const DenseShape& shape, const float* x, const float* weights,
                                   const float* bias, bool relu, float* y, float* scratch);
// dx (batch, in) = dy (batch, out) · w
void SmallBatchInnerProductBackwardData(const DenseShape& shape, const float* dy,
                                        const float* weights, float* dx, float* scratch);

}  // namespace tench::native
