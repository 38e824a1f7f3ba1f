// SPDX-License-Identifier: Apache-2.0
#pragma once
// How MXNet is set before a network is bound: its knobs are environment variables that it reads
// when the engine starts or when an executor is made. The engine is asynchronous: a call returns
// when work is queued, and only Wait says that it is done.

#include <map>
#include <string>

#include "workers/mxnet/array.h"

namespace tench::mxnet {

inline constexpr const char* kSynchronousEngine = "NaiveEngine";  // computes in the caller's thread

struct EngineSettings {
  std::string subgraph = "MKLDNN";  // the backend that fuses ops: MKLDNN or NONE
  int64_t bulk = 15;      // ops that the engine takes as one piece of work; 0 = each alone
  int64_t aggregate = 0;  // parameters that one update op serves; 0 = each by itself
  std::string engine = "ThreadedEnginePerDevice";
};

// Errors name the option.
Result<EngineSettings> SettingsOf(const std::map<std::string, std::string>& options);

// The engine's type counts only before the first array of the process, the others for the executors
// that are bound later.
void ApplySettings(const EngineSettings& settings);

// Sets OpenMP's thread count where MXNet's loops run: in the engine's own threads. The caller's
// gets one, unless it is itself the engine.
Status SetThreads(const Library& library, const EngineSettings& settings, int64_t threads);

// Until all work that was ever queued is complete.
Status Wait(const Library& library);

}  // namespace tench::mxnet
