// SPDX-License-Identifier: Apache-2.0
#pragma once
// Writes the tensors that a job asks for, after its last step: raw little-endian f32 files, at
// protocol/tensor_path.h.

#include <string>
#include <vector>

#include "protocol/message.h"
#include "worker/adapter.h"

namespace tench {

// The layers that `outputs` means: "*" is every layer that computes something. Unknown layers are
// errors with the nearest name.
Result<std::vector<std::string>> ResolveOutputs(const TypedGraph& graph,
                                                const std::vector<std::string>& outputs);

Status WriteTensors(Adapter& adapter, const TypedGraph& graph, const TensorFiles& wanted);

// FOLDER/STEPS with parameters and state; it appears when it is whole.
Status WriteSnapshot(Adapter& adapter, const TypedGraph& graph, const std::filesystem::path& folder,
                     int64_t steps);

}  // namespace tench
