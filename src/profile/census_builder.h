// SPDX-License-Identifier: Apache-2.0
#pragma once
// Turns a worker's profile into the census: one schema for all workers. Kernels with the same
// layer, direction and implementation become one row.
// Thread safety: pure functions.

#include <span>
#include <string>

#include "net/graph.h"
#include "record/census.h"
#include "record/profile_row.h"

namespace tench {

// The number of steps that the rows were summed over: the number of calls that most of the time
// belongs to, because most kernels run once per step. At most `run_steps`.
int64_t ProfiledSteps(std::span<const ProfileRow> rows, int64_t run_steps);

// `graph` is the network that the worker executed; `run_steps` are all steps of the run, including
// warm-up.
Census MakeCensus(std::span<const ProfileRow> rows, const TypedGraph& graph,
                  const std::string& worker, int64_t run_steps);

// The sum of the censuses of several runs of one cell.
Census Merged(std::span<const Census> censuses);

}  // namespace tench
