// SPDX-License-Identifier: Apache-2.0
#pragma once
// A network as JSON: the form in which a job carries it to a worker and in which a user may keep it
// in a file. Fields at their defaults are left out when writing and may be left out when reading;
// unknown keys are errors. docs/network.md describes it.

#include "base/json.h"
#include "net/graph.h"

namespace tench {

Json GraphToJson(const Graph& graph);
Result<Graph> GraphFromJson(const Json& json);
// From a file's text: errors carry origin:line:column where JSON itself is broken, and the layer's
// name otherwise.
Result<Graph> ParseGraph(std::string_view text, std::string_view origin);

Json ParametersToJson(
    const TypedGraph& graph);  // for the job: name, shape, fill, lr_mult, decay_mult, trained

}  // namespace tench
