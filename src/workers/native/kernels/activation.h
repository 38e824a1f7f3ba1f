// SPDX-License-Identifier: Apache-2.0
#pragma once
// Activation functions that kernels apply to a result before it is stored, or whose derivative they
// multiply into a gradient. Each derivative is a function of the activation's output y alone, so
// the input need not be kept: ReLU [y > 0], sigmoid y·(1 − y), tanh 1 − y².

namespace tench::native {

enum class Activation { kNone, kRelu, kSigmoid, kTanh };

}  // namespace tench::native
