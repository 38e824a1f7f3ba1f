// SPDX-License-Identifier: Apache-2.0
#pragma once
// Checks that a worker obeys the axis `isa`: one step of the job in a process of its own, in which
// the libraries log the implementations that they execute. Logging takes time, so the timed run
// does not do it. Nothing is timed or stored.

#include <string>

#include "axis/placement_name.h"
#include "base/stop_token.h"
#include "plan/suite.h"
#include "protocol/message.h"
#include "run/session/isa_evidence.h"
#include "run/session/worker_catalog.h"

namespace tench {

// Empty if the worker's libraries report nothing, or if the worker fails, which the timed run will
// state.
IsaEvidence CheckIsaLimit(const WorkerEntry& entry, const std::string& version, Job job,
                          const PlacementName& placement, const Limits& limits, StopToken stop);

}  // namespace tench
