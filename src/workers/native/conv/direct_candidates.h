// SPDX-License-Identifier: Apache-2.0
#pragma once
// The direct kernels (kernels/conv_backward_weights.h, kernels/conv_backward_data.h) and the
// Winograd kernels (kernels/winograd/conv.h) as candidates. Each function appends a candidate if
// this CPU and the shape support it. Not aware of oneDNN implementations.

#include <vector>

#include "workers/native/conv/conv_candidate.h"

namespace tench::native {

void AddWinograd(const ConvShape& shape, ConvDirection direction,
                 std::vector<ConvCandidate>& candidates);
void AddDirectBackwardWeights(const ConvShape& shape, std::vector<ConvCandidate>& candidates);
void AddDirectBackwardData(const ConvShape& shape, std::vector<ConvCandidate>& candidates);

// Whether Winograd convolution is expected to be the fastest.
bool FavoursWinograd(const ConvShape& shape);

}  // namespace tench::native
