// SPDX-License-Identifier: Apache-2.0
#pragma once
// One long training job. Delivers steps as they arrive, and each snapshot between the steps before
// and after it. Nothing is measured, limited or stored. A stop request lets the worker finish its
// step and write a last snapshot.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/stop_token.h"
#include "protocol/message.h"
#include "run/session/worker_catalog.h"

namespace tench {

struct TrainingEvents {
  std::function<Status(const Hello&)> on_hello;
  std::function<Status(const Steps&)> on_steps;
  // `folder` contains parameters/ and state/ after `steps` steps; it is removed after the call.
  std::function<Status(int64_t steps, const std::filesystem::path& folder)> on_snapshot;
};

enum class TrainingEnd { kComplete, kStopped };

// `version` as in a cell, or empty. Sets `job.snapshots.folder`. A failing event ends the worker;
// its error, or the worker's own, is returned.
Result<TrainingEnd> Train(const WorkerEntry& entry, const std::string& version, Job job,
                          const TrainingEvents& events, StopToken stop);

}  // namespace tench
