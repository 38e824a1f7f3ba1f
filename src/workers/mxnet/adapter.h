// SPDX-License-Identifier: Apache-2.0
#pragma once
// The MXNet adapter. If the library cannot be opened, Describe still answers, and Build returns the
// reason as an error.

#include <filesystem>
#include <memory>

#include "worker/adapter.h"

namespace tench::mxnet {

std::unique_ptr<Adapter> MakeMxnetAdapter(const std::filesystem::path& library);

}  // namespace tench::mxnet
