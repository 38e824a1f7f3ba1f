// SPDX-License-Identifier: Apache-2.0
#pragma once
// The JSON form of a network, in jobs and in network files. Fields at their defaults are omitted
// when writing and optional when reading; unknown keys are errors. docs/network.md describes it.

#include "base/json.h"
#include "net/graph.h"

namespace tench {

Json GraphToJson(const Graph& graph);
Result<Graph> GraphFromJson(const Json& json);
// Parses the text of a file. Errors have origin:line:column for invalid JSON, and the layer's name
// otherwise.
Result<Graph> ParseGraph(std::string_view text, std::string_view origin);

// For the job: name, shape, fill, lr_mult, decay_mult, trained.
Json ParametersToJson(const TypedGraph& graph);

}  // namespace tench
