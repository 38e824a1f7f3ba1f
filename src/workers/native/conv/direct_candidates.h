// SPDX-License-Identifier: Apache-2.0
#pragma once
// Our own kernels (winograd_kernel.h, conv_gradient_kernel.h, conv_data_kernel.h) as candidates for
// a convolution. Each function adds what this CPU and the shape can have, perhaps nothing.

#include <vector>

#include "workers/native/conv/conv_candidate.h"

namespace tench::native {

void AddWinograd(const ConvShape& shape, ConvDirection direction,
                 std::vector<ConvCandidate>& kernels);
void AddOwnGradient(const ConvShape& shape, std::vector<ConvCandidate>& kernels);
void AddOwnData(const ConvShape& shape, std::vector<ConvCandidate>& kernels);

// Whether Winograd's form can be expected to lead.
bool FavoursWinograd(const ConvShape& shape);

}  // namespace tench::native
