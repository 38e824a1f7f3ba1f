// SPDX-License-Identifier: Apache-2.0
#pragma once
// The worker's options. Apply changes settings of the whole process; call from one thread.

#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "worker/adapter.h"

namespace tench::pytorch {

struct Knobs {
  bool channels_last = false;  // images and weights in NHWC
  bool onednn = true;          // false: PyTorch's own kernels over MKL
  bool keep_memory = false;    // malloc keeps freed memory instead of returning it to the kernel
  bool frozen = false;         // phase forward: a frozen TorchScript graph (frozen_module.h)

  auto operator<=>(const Knobs&) const = default;
};

std::vector<WorkerOption> KnobOptions();
// The candidates of the tuned track, the most promising first.
std::vector<TuningCandidate> KnobCandidates();
Result<Knobs> KnobsOf(const std::map<std::string, std::string>& options);
std::map<std::string, std::string> Names(const Knobs& knobs);  // option -> value

// Sets the settings of the process: all but the layout.
void Apply(const Knobs& knobs);

}  // namespace tench::pytorch
