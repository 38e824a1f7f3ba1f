// SPDX-License-Identifier: Apache-2.0
#include "workers/mxnet/engine.h"

#include <cstdlib>

#include "base/text.h"

namespace tench::mxnet {
namespace {

constexpr int64_t kMaxBulk = 10'000;
constexpr int64_t kMaxAggregate = 60;  // MXNet's limit

Status ReadNumber(const std::map<std::string, std::string>& options, const std::string& name,
                  int64_t highest, int64_t& into) {
  const auto found = options.find(name);
  if (found == options.end()) return Ok();
  const Result<int64_t> number = ParseInteger(found->second);
  if (!number.ok() || *number < 0 || *number > highest) {
    return Unsupported("option {} is '{}'; it must be a number from 0 to {}", name,
                       Printable(found->second), highest);
  }
  into = *number;
  return Ok();
}

void Set(const char* name, const std::string& value) { setenv(name, value.c_str(), 1); }

struct ThreadCount {
  void (*set)(int);
  int count;
};

void SetInThisThread(void* /*run_context*/, void* parameter) {
  const auto* threads = static_cast<const ThreadCount*>(parameter);
  threads->set(threads->count);
}

}  // namespace

Result<EngineSettings> SettingsOf(const std::map<std::string, std::string>& options) {
  EngineSettings settings;
  if (const auto found = options.find("subgraph"); found != options.end())
    settings.subgraph = found->second;
  if (const auto found = options.find("engine"); found != options.end())
    settings.engine = found->second;
  TENCH_TRY(ReadNumber(options, "bulk", kMaxBulk, settings.bulk));
  TENCH_TRY(ReadNumber(options, "aggregate", kMaxAggregate, settings.aggregate));
  return settings;
}

void ApplySettings(const EngineSettings& settings) {
  // The default stays unset: MXNet logs a line about a set variable.
  if (settings.engine == EngineSettings().engine) {
    unsetenv("MXNET_ENGINE_TYPE");
  } else {
    Set("MXNET_ENGINE_TYPE", settings.engine);
  }
  // One queue for one stream of work; the threads are OpenMP's.
  Set("MXNET_CPU_WORKER_NTHREADS", "1");
  Set("MXNET_CPU_PRIORITY_NTHREADS", "1");
  Set("MXNET_SUBGRAPH_BACKEND", settings.subgraph);
  Set("MXNET_SUBGRAPH_VERBOSE", "0");
  const std::string bulk = std::to_string(settings.bulk), on = settings.bulk > 0 ? "1" : "0";
  Set("MXNET_EXEC_BULK_EXEC_TRAIN", on);
  Set("MXNET_EXEC_BULK_EXEC_INFERENCE", on);
  Set("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN", bulk);
  Set("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD", bulk);
  Set("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD", bulk);
}

// libgomp has a thread count per thread, initialised from the environment in threads that it did
// not start. Each engine thread therefore sets its own. A second OpenMP team, in the calling thread
// for its copies, would compete with the engine's team for the CPUs (see OpenInItsOwnThread).
Status SetThreads(const Library& library, const EngineSettings& settings, int64_t threads) {
  ThreadCount count{library->omp_set_num_threads, static_cast<int>(threads)};
  library->omp_set_num_threads(1);
  if (settings.engine == kSynchronousEngine) SetInThisThread(nullptr, &count);
  const Device cpu;                         // same layout as MXNet's Context
  const int kNormal = 0, kPrioritized = 3;  // values of MXNet's FnProperty
  for (const int* property : {&kNormal, &kPrioritized}) {
    TENCH_TRY(library.Ask(library->MXEnginePushSync(SetInThisThread, &count, nullptr, &cpu, nullptr,
                                                    0, nullptr, 0, property, 0, "threads"),
                          "thread count"));
    // Also keeps `count` alive until it is read.
    TENCH_TRY(Wait(library));
  }
  return Ok();
}

Status Wait(const Library& library) { return library.Ask(library->MXNDArrayWaitAll(), "step"); }

}  // namespace tench::mxnet
