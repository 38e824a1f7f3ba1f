// SPDX-License-Identifier: Apache-2.0
#pragma once
// One step of a phase over a network, as a PyTorch program writes it: gradients dropped, forward,
// backward, update. Returns the loss when everything is complete.

#include "record/phase.h"
#include "workers/torch/frozen_module.h"
#include "workers/torch/network.h"
#include "workers/torch/update.h"

namespace tench::pytorch {

// `update` is used in phase train only; `profile` may be null.
double RunStep(Network& network, Update* update, Phase phase, c10::Device device, Profile* profile);

// One step of phase forward.
double RunFrozenStep(FrozenModule& module, c10::Device device);

}  // namespace tench::pytorch
