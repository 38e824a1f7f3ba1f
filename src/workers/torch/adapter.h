// SPDX-License-Identifier: Apache-2.0
#pragma once
// The PyTorch worker's side of the contract: builds the network of libtorch's operators, lets
// autograd find the gradients and PyTorch's fused SGD make the update. docs/workers/torch.md says
// which operator stands for which op. The namespace is `pytorch`, since a `tench::torch` would hide
// the library's own.

#include <memory>

#include "worker/adapter.h"

namespace tench::pytorch {

std::unique_ptr<Adapter> MakeTorchAdapter();

}  // namespace tench::pytorch
