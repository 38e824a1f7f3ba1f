// SPDX-License-Identifier: Apache-2.0
#pragma once
// Backward-weights of a fully connected layer: the weight gradient G (out, in) = dyᵀ · x of x
// (batch, in) and dy (batch, out), either stored or consumed by SGD tile by tile, in registers, so
// that it never exists in memory; and the bias gradient (out). Matrices are dense and row-major.
// Scratch memory is the caller's; nothing is allocated.
//
// Thread safety: a call uses the calling thread's OpenMP team; concurrent calls need their own
// scratch. The scratch sizes hold for OpenMP's number of threads at the time of the query. The CPU
// must have `isa`.

#include <cstdint>

#include "workers/native/kernels/cpu_features.h"
#include "workers/native/kernels/dense_shape.h"
#include "workers/native/kernels/sgd.h"

namespace tench::native {

// Floats of scratch for DenseBackwardWeights.
int64_t DenseBackwardWeightsScratch(const DenseShape& shape);
// gradients = G
void DenseBackwardWeights(const DenseShape& shape, const float* x, const float* dy, float* scratch,
                          float* gradients, Isa isa = WidestIsa());

// Floats of scratch for DenseBackwardWeightsSgd.
int64_t DenseBackwardWeightsSgdScratch(const DenseShape& shape);
// SgdUpdate of the weights with G, without storing G.
void DenseBackwardWeightsSgd(const DenseShape& shape, const float* x, const float* dy,
                             float* scratch, float* weights, float* momenta, const UpdateRule& rule,
                             double lr, Isa isa = WidestIsa());

// gradients (out) = the sum of dy over the batch.
void DenseBackwardBias(const DenseShape& shape, const float* dy, float* gradients);

}  // namespace tench::native
