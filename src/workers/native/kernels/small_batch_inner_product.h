// SPDX-License-Identifier: Apache-2.0
#pragma once
// A fully connected layer with many weights and a small batch, forward and backward-data. The
// weights exceed every cache; they are streamed once, in place, and only the samples are packed. A
// library's GEMM packs the weights as well, which takes longer than the product. Layouts are those
// of dense_shape.h. Scratch memory is the caller's; nothing is allocated.
//
// Thread safety: a call uses the calling thread's OpenMP team; concurrent calls need their own
// scratch.

#include <cstdint>

#include "workers/native/kernels/dense_shape.h"

namespace tench::native {

// Whether this kernel is expected to be faster than a library's GEMM on this CPU: at least 2^20
// weights and 8 to 32 samples, where AVX2 is the widest instruction set. It is correct for all.
bool FavoursSmallBatchInnerProduct(const DenseShape& shape);

// Floats of scratch, for either direction.
int64_t SmallBatchInnerProductScratch(const DenseShape& shape);

// y = x · wᵀ + bias, then ReLU if `relu`. `bias` may be null.
void SmallBatchInnerProductForward(const DenseShape& shape, const float* x, const float* weights,
                                   const float* bias, bool relu, float* y, float* scratch);
// dx = dy · w
void SmallBatchInnerProductBackwardData(const DenseShape& shape, const float* dy,
                                        const float* weights, float* dx, float* scratch);

}  // namespace tench::native
