// SPDX-License-Identifier: Apache-2.0
#pragma once
// A trace in Chrome's Trace Event Format (JSON), which Perfetto and chrome://tracing open: one
// process with a track of steps and one track per thread. Times are in microseconds from the first
// event.
//
// Thread safety: a pure function.

#include <span>
#include <string>

#include "record/trace_event.h"

namespace tench {

// `process` is the title of the tracks. No events give a valid, empty trace.
std::string ChromeTrace(std::span<const TraceEvent> events, const std::string& process);

}  // namespace tench
