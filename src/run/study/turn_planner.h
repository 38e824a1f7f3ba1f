// SPDX-License-Identifier: Apache-2.0
#pragma once
// Decides which compared groups of a study are measured in turns (run/session/turn_set.h), and in
// how many slices. A group whose workers cannot pause, do not fit into memory together or compute
// on a GPU is measured in rounds. Input: the pilots of the group's cells. Pure.

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "plan/matrix.h"
#include "store/record.h"

namespace tench {

// The slices of the group's slowest worker have about this duration, but at least two timed steps.
// The others have the same numbers of steps.
inline constexpr int64_t kSliceNs = 50'000'000;
inline constexpr int64_t kFewestSlices = 3, kMostSlices = 10;
inline constexpr int64_t kFewestSliceSteps = 2;

// Slices of a run of `steps` timed steps; at least 1.
int64_t SlicesOfRun(int64_t steps, double longest_step_ns);

// A cell of the group that takes part.
struct TurnCandidate {
  const PlannedCell* cell = nullptr;
  bool pauses = false;              // by the worker's description
  std::optional<RunSummary> pilot;  // nullopt: it failed, and its runs will be over early
};

// `memory_bytes` is available to all workers together; 0 = unknown.
GroupTurns PlanTurns(std::span<const TurnCandidate> group, int64_t steps, int64_t memory_bytes);

}  // namespace tench
