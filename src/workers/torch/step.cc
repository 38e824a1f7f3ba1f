// SPDX-License-Identifier: Apache-2.0
#include "workers/torch/step.h"

#include <ATen/core/grad_mode.h>
#include <c10/core/InferenceMode.h>

#include "workers/torch/device.h"

namespace tench::pytorch {
namespace {

double LossOf(const at::Tensor& loss) { return loss.defined() ? loss.item<double>() : 0; }

}  // namespace

double RunStep(Network& network, Update* update, Phase phase, c10::Device device,
               Profile* profile) {
  if (phase == Phase::kForward) {
    const c10::InferenceMode inference;
    const double loss = LossOf(network.Forward(profile));
    Synchronize(device);
    return loss;
  }
  if (update == nullptr || update->StartsStep()) network.ClearGradients();
  const at::Tensor loss = network.Forward(profile);
  if (loss.defined() && loss.requires_grad()) loss.backward();
  if (phase == Phase::kTrain) {
    if (profile != nullptr) profile->BeginUpdate();
    update->Apply();
    if (profile != nullptr) profile->EndUpdate();
  }
  const double value = LossOf(loss);
  Synchronize(device);
  return value;
}

// No inference mode: TorchScript's own operators may save views of the constants.
double RunFrozenStep(FrozenModule& module, c10::Device device) {
  const at::NoGradGuard no_grad;
  const double loss = LossOf(module.Forward());
  Synchronize(device);
  return loss;
}

}  // namespace tench::pytorch
