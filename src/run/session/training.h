// SPDX-License-Identifier: Apache-2.0
#pragma once
// One long training job. Steps are delivered as they come, and each snapshot between the steps
// before and after it. Nothing is measured, limited or stored. A stop asks the worker to finish its
// step and to write a last snapshot.

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
  // `folder` holds parameters/ and state/ after so many steps; it is removed after the call.
  std::function<Status(int64_t steps, const std::filesystem::path& folder)> on_snapshot;
};

enum class TrainingEnd { kComplete, kStopped };

// `version` as a cell names it, or empty; `job.snapshots.folder` is set here. An event that fails
// ends the worker and is returned; so is what the worker says of its own failure.
Result<TrainingEnd> Train(const WorkerEntry& entry, const std::string& version, Job job,
                          const TrainingEvents& events, StopToken stop);

}  // namespace tench
