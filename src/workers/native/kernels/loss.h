// SPDX-License-Identifier: Apache-2.0
#pragma once
// Losses with their gradients in one pass. `gradient` may be null (inference). Each returns the
// loss times its weight, summed in double.

#include <cstdint>
#include <optional>

namespace tench::native {

// scores (batch, classes). Never negative: a class that has won exactly gives zero. Samples with
// the ignored label do not count.
double SoftmaxLoss(const float* scores, const int32_t* labels, float* gradient, int64_t batch,
                   int64_t classes, double weight, std::optional<int64_t> ignored = {});
// Sum over the elements, mean over the batch.
double SigmoidLoss(const float* scores, const float* targets, float* gradient, int64_t batch,
                   int64_t count, double weight);
// Mean over all elements of the squared difference.
double SquaredLoss(const float* values, const float* targets, float* gradient, int64_t count,
                   double weight);

}  // namespace tench::native
