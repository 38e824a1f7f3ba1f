// SPDX-License-Identifier: Apache-2.0
#pragma once
// MXNet's engine settings. They are environment variables that MXNet reads when the engine starts
// or when an executor is bound. The engine is asynchronous: a call returns when work is queued, and
// Wait returns when it is complete. Thread safety: none; the settings belong to the process.

#include <map>
#include <string>

#include "workers/mxnet/array.h"

namespace tench::mxnet {

inline constexpr const char* kSynchronousEngine = "NaiveEngine";  // computes in the caller's thread

struct EngineSettings {
  std::string subgraph = "MKLDNN";  // the backend that fuses ops: MKLDNN or NONE
  int64_t bulk = 15;                // ops that the engine executes as one unit; 0 = each alone
  int64_t aggregate = 0;            // parameters per update op; 0 = one op each
  std::string engine = "ThreadedEnginePerDevice";
};

// Errors name the option.
Result<EngineSettings> SettingsOf(const std::map<std::string, std::string>& options);

// The engine type takes effect before the first array of the process only, the other settings for
// executors that are bound later.
void ApplySettings(const EngineSettings& settings);

// Sets OpenMP's thread count in the engine's threads, where MXNet's loops run. The calling thread
// gets 1, unless the engine is synchronous.
Status SetThreads(const Library& library, const EngineSettings& settings, int64_t threads);

// Blocks until all queued work is complete.
Status Wait(const Library& library);

}  // namespace tench::mxnet
