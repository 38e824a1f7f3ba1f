// SPDX-License-Identifier: Apache-2.0
#pragma once
// Writes the tensors that a job requests, after its last step: raw little-endian f32 files at the
// paths of protocol/tensor_path.h. Stateless.

#include <string>
#include <vector>

#include "protocol/message.h"
#include "worker/adapter.h"

namespace tench {

// Resolves the layer names in `outputs`; "*" is every layer with an output that is computed. An
// unknown layer is an error with the nearest name.
Result<std::vector<std::string>> ResolveOutputs(const TypedGraph& graph,
                                                const std::vector<std::string>& outputs);

Status WriteTensors(Adapter& adapter, const TypedGraph& graph, const TensorFiles& wanted);

// The requested outputs of the step just done, in the folder STEPS of wanted.folder.
Status WriteStepOutputs(Adapter& adapter, const TypedGraph& graph, const TensorFiles& wanted,
                        int64_t steps);

// Writes FOLDER/STEPS with parameters and state. The folder appears only when it is complete.
Status WriteSnapshot(Adapter& adapter, const TypedGraph& graph, const std::filesystem::path& folder,
                     int64_t steps);

}  // namespace tench
