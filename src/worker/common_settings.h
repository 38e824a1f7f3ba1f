// SPDX-License-Identifier: Apache-2.0
#pragma once
// Settings that shared code offers for every framework, with the same default and the same
// candidates of the tuned track: denormals, transparent huge pages, spinning OpenMP threads.
//
// Thread safety: none. Threads inherit flush-to-zero from the thread that creates them, so it is
// set before the framework is loaded.

#include "protocol/message.h"

namespace tench {

inline constexpr const char* kFlushToZeroOption = "flush_to_zero";

// Adds the option flush_to_zero and the candidates of all frameworks: flush-to-zero, and huge pages
// by glibc's malloc.
void AddCommonSettings(Description& description);

// For a framework in a process of its own, whose threads shared code cannot reach.
void AddHugePagesCandidate(Description& description);

// For a framework that computes with libgomp: a thread at a barrier spins for some hundred
// microseconds and then sleeps. libgomp's default depends on the number of threads.
void AddSpinCandidate(Description& description);

// Applies the job's common options to the calling thread.
void ApplyCommonSettings(const Job& job);

}  // namespace tench
