// SPDX-License-Identifier: Apache-2.0
#pragma once
// Checks a job against a worker's description. An unsupported layer, update, device, precision or
// option is an error of kind kUnsupported that names it, so that Build sees described features
// only. Not aware of frameworks. Stateless.

#include "protocol/message.h"

namespace tench {

// `graph` is the graph to build: already reduced for the forward phase.
Status CheckJob(const Job& job, const TypedGraph& graph, const Description& worker);

// The budget with its epochs converted to steps: floor(images / batch) · epochs.
Result<Budget> ResolveBudget(const Job& job);

}  // namespace tench
