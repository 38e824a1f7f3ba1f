// SPDX-License-Identifier: Apache-2.0
#pragma once
// Paths of networks, data and workers in a suite. A relative path counts from the current folder;
// where there is no such file, from the suite's folder, so that a suite and its files can be moved
// together.
// Thread safety: no shared state; ResolvePaths looks for files.

#include <filesystem>
#include <string_view>

#include "plan/suite.h"

namespace tench {

// Whether the value of the axis `network` is a path rather than the name of a built-in network.
bool IsNetworkPath(std::string_view network);

// Replaces the paths of files that exist only relative to `folder`. Paths of workers become
// absolute, because a worker runs in a folder of its own.
void ResolvePaths(const std::filesystem::path& folder, Suite& suite);

}  // namespace tench
