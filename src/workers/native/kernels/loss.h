// SPDX-License-Identifier: Apache-2.0
#pragma once
// Loss functions with their gradients in one pass. Each returns the weighted loss, accumulated in
// double, and writes the gradient of that weighted loss, or none if `gradient` is null (inference).
// Arrays are dense and row-major. A NaN in the input makes the loss NaN.
//
// Thread safety: a call uses the calling thread's OpenMP team. The order of summation depends on
// the number of threads, never on timing.

#include <cstdint>
#include <optional>

namespace tench::native {

// Softmax cross-entropy of scores (batch, classes), mean over the samples whose label is not
// `ignored`; their gradient is 0. Invariant: the loss is never negative.
double SoftmaxLoss(const float* scores, const int32_t* labels, float* gradient, int64_t batch,
                   int64_t classes, double weight, std::optional<int64_t> ignored = {});

// Sigmoid cross-entropy: the sum over all `count` elements, divided by the batch.
double SigmoidLoss(const float* scores, const float* targets, float* gradient, int64_t batch,
                   int64_t count, double weight);

// Mean squared error: the mean of (values − targets)² over all `count` elements.
double SquaredLoss(const float* values, const float* targets, float* gradient, int64_t count,
                   double weight);

}  // namespace tench::native
