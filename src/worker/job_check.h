// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether a worker can do a job at all, by its own description. What it cannot do is an error of
// kind kUnsupported that names the layer, the update, the device, the precision or the option; a
// worker's Build therefore only meets what it said it knows.

#include "protocol/message.h"

namespace tench {

// `graph` is the one that will be built: already cut for the forward phase.
Status CheckJob(const Job& job, const TypedGraph& graph, const Description& worker);

// The budget with its epochs turned into steps: floor(images / batch) · epochs.
Result<Budget> ResolveBudget(const Job& job);

}  // namespace tench
