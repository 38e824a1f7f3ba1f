// SPDX-License-Identifier: Apache-2.0
#pragma once
// The worker's options, and the tuned track: a trial of every combination of the options that the
// user has not set, on the network itself with generated weights and data. The fastest candidate
// wins (worker/option_trial). Apply changes settings of the whole process; call from one thread.

#include <c10/core/Device.h>

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

  auto operator<=>(const Knobs&) const = default;
};

std::vector<WorkerOption> KnobOptions();
Result<Knobs> KnobsOf(const std::map<std::string, std::string>& options);
std::map<std::string, std::string> Names(const Knobs& knobs);  // option -> value

// Sets the settings of the process: all but the layout.
void Apply(const Knobs& knobs);

// The combinations of the options that are not set: the layout only with images, the kernels only
// with convolutions or LSTMs. `base` comes first.
std::vector<Knobs> Candidates(const TypedGraph& graph, const BuildOptions& options,
                              const Knobs& base);

struct TrialResult {
  Knobs best;
  std::map<std::string, std::string> choices;  // the winner's options, and each candidate's time
};
Result<TrialResult> RunTrial(const TypedGraph& graph, const BuildOptions& options,
                             const Knobs& base, c10::Device device);

}  // namespace tench::pytorch
