// SPDX-License-Identifier: Apache-2.0
#pragma once
// The tuned track: which of MXNet's own settings make this network's step fastest here, by a short
// trial of each. Settings are tried one knob after another, each at the best of those before, and
// only those that the phase can feel. What the user has named stays as named.

#include "workers/mxnet/network.h"

namespace tench::mxnet {

struct Tuning {
  EngineSettings settings;
  std::map<std::string, std::string> choices;  // what was chosen, and each candidate's time
};

Result<Tuning> Tune(const Library& library, const TypedGraph& graph, const BuildOptions& options,
                    const EngineSettings& start);

}  // namespace tench::mxnet
