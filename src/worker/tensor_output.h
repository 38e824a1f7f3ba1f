// SPDX-License-Identifier: Apache-2.0
#pragma once
// Writes the tensors that a job asks for, after its last step: raw little-endian f32 files, FOLDER/KIND/NAME.bin, where
// KIND is outputs, gradients, parameters or state.

#include <filesystem>
#include <string>
#include <string_view>

#include "protocol/message.h"
#include "worker/adapter.h"

namespace tench {

std::filesystem::path TensorPath(const std::filesystem::path& folder, std::string_view kind, std::string_view name);

// The layers that `outputs` means: "*" is every layer that computes something. Unknown layers are errors with the
// nearest name.
Result<std::vector<std::string>> ResolveOutputs(const TypedGraph& graph, const std::vector<std::string>& outputs);

Status WriteTensors(Adapter& adapter, const TypedGraph& graph, const TensorFiles& wanted);

// FOLDER/STEPS with parameters and state; it appears when it is whole.
Status WriteSnapshot(Adapter& adapter, const TypedGraph& graph, const std::filesystem::path& folder, int64_t steps);

}  // namespace tench
