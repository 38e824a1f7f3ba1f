// SPDX-License-Identifier: Apache-2.0
#pragma once
// MXNet's side of the contract. A library that cannot be opened still describes itself, and refuses
// to build with the reason.

#include <filesystem>
#include <memory>

#include "worker/adapter.h"

namespace tench::mxnet {

std::unique_ptr<Adapter> MakeMxnetAdapter(const std::filesystem::path& library);

}  // namespace tench::mxnet
