// SPDX-License-Identifier: Apache-2.0
#pragma once
// What adapters need to report a trace: the names of tracks, and the monotonic time of events that
// a framework stamps with the time of day.
//
// Thread safety: pure, apart from the clocks.

#include <cstdint>
#include <string>

namespace tench {

std::string ThreadTrack(int64_t thread);  // "thread 4711"
std::string ThisThreadTrack();
// The clocks are compared now, so the time of day must not have been set since the event.
int64_t MonotonicOfTimeOfDay(int64_t time_of_day_ns);

}  // namespace tench
