// SPDX-License-Identifier: Apache-2.0
#pragma once
// Inference by a frozen TorchScript graph: the network's forward pass is traced, its weights become
// constants, batch norm is folded into convolutions, and convolutions and linear layers run in
// oneDNN with weights that are reordered once. C++ has no torch.compile; this is what it offers.
// The graph holds the weights that the network had when it was made. It reads the network's input
// tensors, which keep their identity, so a new batch needs nothing. Used by one thread.

#include <memory>

#include "base/error.h"
#include "workers/torch/network.h"

namespace tench::pytorch {

class FrozenModule {
 public:
  // `network` must outlive the module, must be built for inference, and needs its inputs.
  static Result<std::unique_ptr<FrozenModule>> Make(Network& network);
  virtual ~FrozenModule() = default;

  // The sum of the losses, as Network::Forward.
  virtual at::Tensor Forward() = 0;
};

}  // namespace tench::pytorch
