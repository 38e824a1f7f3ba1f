// SPDX-License-Identifier: Apache-2.0
#pragma once
// The worker's knobs, and the tuned track: a short trial of every combination of those that the
// user left open, on the network itself with made-up weights and data, and the fastest wins.
// Settings that act on the whole process are made by Apply.

#include <c10/core/Device.h>

#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "worker/adapter.h"

namespace tench::pytorch {

struct Knobs {
  bool channels_last = false;  // images and filters in NHWC
  bool onednn = true;          // false: PyTorch's own kernels over MKL where there are both
  bool keep_memory =
      false;  // what is freed stays in the process instead of going back to the kernel

  auto operator<=>(const Knobs&) const = default;
};

std::vector<WorkerOption> KnobOptions();
Result<Knobs> KnobsOf(const std::map<std::string, std::string>& options);
std::map<std::string, std::string> Names(const Knobs& knobs);  // option -> value

void Apply(const Knobs& knobs);  // what is a matter of the process: all but the layout

// The combinations worth a trial: those options that are not set, the layout only if the network
// has images.
std::vector<Knobs> Candidates(const TypedGraph& graph, const BuildOptions& options,
                              const Knobs& base);

struct TrialResult {
  Knobs best;
  std::map<std::string, std::string> choices;  // the winner's options, and each candidate's time
};
Result<TrialResult> RunTrial(const TypedGraph& graph, const BuildOptions& options,
                             const Knobs& base, c10::Device device);

}  // namespace tench::pytorch
