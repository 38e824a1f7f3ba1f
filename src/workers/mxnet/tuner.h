// SPDX-License-Identifier: Apache-2.0
#pragma once
// The tuned track: a coordinate search over MXNet's settings. Options are tried one after another,
// each at the best value of those before, and only options that affect the phase. Options that the
// user has set are kept. Not aware of the adapter; worker/option_trial times the candidates.

#include "workers/mxnet/network.h"

namespace tench::mxnet {

struct Tuning {
  EngineSettings settings;
  std::map<std::string, std::string> choices;  // the winner's settings, and each candidate's time
};

Result<Tuning> Tune(const Library& library, const TypedGraph& graph, const BuildOptions& options,
                    const EngineSettings& start);

}  // namespace tench::mxnet
