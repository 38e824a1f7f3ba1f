// SPDX-License-Identifier: Apache-2.0
#pragma once
// One step of a phase over a network, as a PyTorch program writes it: gradients dropped, forward,
// backward, update. Returns the loss when everything is complete. The adapter's measured steps and
// the tuned track's trial are this same function.

#include "record/phase.h"
#include "workers/torch/network.h"
#include "workers/torch/update.h"

namespace tench::pytorch {

// `update` is used in phase train only; `profile` may be null.
double RunStep(Network& network, Update* update, Phase phase, c10::Device device, Profile* profile);

}  // namespace tench::pytorch
