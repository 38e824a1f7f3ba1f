// SPDX-License-Identifier: Apache-2.0
#pragma once
// The file in which a worker leaves its trace (Job::trace): a JSON object per line. Not aware of
// how a trace is recorded or shown.

#include <filesystem>
#include <span>
#include <vector>

#include "base/error.h"
#include "record/trace_event.h"

namespace tench {

Status WriteTraceFile(const std::filesystem::path& path, std::span<const TraceEvent> events);
// Errors name the line.
Result<std::vector<TraceEvent>> ReadTraceFile(const std::filesystem::path& path);

}  // namespace tench
