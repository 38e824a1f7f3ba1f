// SPDX-License-Identifier: Apache-2.0
#pragma once
// The PyTorch adapter: ATen operators for the layers, autograd for the gradients, PyTorch's fused
// optimizers for the update. docs/workers/torch.md lists the operator of each op. The namespace is
// `pytorch`, because a `tench::torch` would hide the library's own.

#include <memory>

#include "worker/adapter.h"

namespace tench::pytorch {

std::unique_ptr<Adapter> MakeTorchAdapter();

}  // namespace tench::pytorch
